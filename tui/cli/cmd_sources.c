/* sources: where prices come from and how old they are, one row a source and part. */
#include "gputier/csvw.h"
#include "gputier/fetch.h"
#include "gputier/jsonw.h"
#include "gputier/units.h"
#include "table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX (64 << 20)

struct row {
    char *source, *scope, *why, *url;
    const char *state;
    uint64_t rows, bytes;
    int64_t as_of, fetched_at;
    enum origin origin;
    const struct source_def *def; /* NULL: a source of the snapshot only */
    bool in_database;
};
struct rows {
    struct row *row;
    size_t n, cap;
};

static struct row *add(struct rows *r)
{
    if (r->n == r->cap) {
        size_t cap = r->cap ? r->cap * 2 : 64;
        struct row *grown = realloc(r->row, cap * sizeof *grown);
        if (!grown) {
            return NULL;
        }
        r->row = grown;
        r->cap = cap;
    }
    r->row[r->n] = (struct row){.as_of = GT_TIME_NONE, .fetched_at = GT_TIME_NONE};
    return &r->row[r->n++];
}

static char *copy(const char *s)
{
    return strdup(s ? s : "");
}

/* The store's word as a literal: its own is borrowed. */
static const char *state_of(const struct source_state *st)
{
    static const char *const states[] = {"bundled", "fresh", "stale", "failed", "quarantined"};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        if (strcmp(st->state, states[i]) == 0) {
            return states[i];
        }
    }
    return "unknown";
}

static int from_store(void *ctx, const struct source_state *st)
{
    struct rows *r = ctx;
    struct row *row = add(r);
    if (!row) {
        return GT_ENOMEM;
    }
    row->source = copy(st->source_id);
    row->scope = copy(st->scope);
    row->why = copy(st->why);
    row->url = copy(st->url);
    row->state = state_of(st);
    row->rows = st->rows;
    row->bytes = st->bytes;
    row->as_of = st->as_of;
    row->fetched_at = st->fetched_at;
    row->origin = st->origin;
    row->def = source_find(st->source_id);
    row->in_database = true;
    return row->source && row->scope && row->why && row->url ? 0 : GT_ENOMEM;
}

/* Sources that were never fetched have a row too: people look here for what they could have. */
static int add_never_fetched(struct rows *r)
{
    const struct source_def *d;
    size_t known = r->n;
    for (size_t i = 0; (d = source_at(i)) != NULL; i++) {
        bool found = false;
        for (size_t k = 0; k < known && !found; k++) {
            found = r->row[k].def == d;
        }
        if (!found) {
            struct row *row = add(r);
            if (!row) {
                return GT_ENOMEM;
            }
            row->source = copy(d->id);
            row->scope = copy("");
            row->why = copy("");
            row->url = copy(d->default_url);
            row->state = "not fetched";
            row->def = d;
            if (!row->source || !row->scope || !row->why || !row->url) {
                return GT_ENOMEM;
            }
        }
    }
    return 0;
}

/* What was fetched or imported comes first, then what could be, then the snapshot's sources. */
static int group(const struct row *r)
{
    return !r->in_database ? 1 : r->origin == ORIGIN_BUNDLED ? 2 : 0;
}

static int by_name(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int c = group(x) - group(y);
    c = c ? c : strcmp(x->source, y->source);
    return c ? c : strcmp(x->scope, y->scope);
}

static void release(struct rows *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->row[i].source);
        free(r->row[i].scope);
        free(r->row[i].why);
        free(r->row[i].url);
    }
    free(r->row);
}

static const char *key_text(struct app *app, const struct row *r, char variable[64])
{
    if (!r->def || !r->def->needs_key) {
        return "no";
    }
    const char *key = app_source_key(app, r->def->id);
    return key ? "set" : fetch_key_variable(r->def->id, variable);
}

static const char *row_origin(const struct row *r)
{
    return r->in_database ? origin_name(r->origin) : NULL;
}

static int write_table(struct app *app, const struct rows *r, struct buf *b)
{
    static const char *const titles[] = {"source", "part",  ">rows", "prices as of", "fetched",
                                         ">size",  "state", "key",   "why",          NULL};
    struct text_table t;
    table_init(&t, titles);
    for (size_t i = 0; i < r->n; i++) {
        const struct row *w = &r->row[i];
        char rows[24] = "", as_of[16] = "", fetched[32] = "", size[32] = "", variable[64];
        if (w->in_database) {
            snprintf(rows, sizeof rows, "%llu", (unsigned long long)w->rows);
        }
        if (w->as_of != GT_TIME_NONE) {
            date_format(w->as_of, as_of);
        }
        if (w->fetched_at != GT_TIME_NONE && w->origin != ORIGIN_BUNDLED) {
            time_format(w->fetched_at, fetched);
        }
        if (w->bytes > 0) {
            size_format(w->bytes, size);
        }
        table_row(&t, (const char *const[]){w->source, w->scope, rows, as_of, fetched, size,
                                            w->state, key_text(app, w, variable), w->why});
    }
    return table_write(&t, b, app->plain);
}

static int write_json(struct app *app, const struct rows *r, struct buf *b)
{
    struct jsonw w;
    char variable[64];
    jsonw_init(&w, b, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/sources/1");
    jsonw_key(&w, "sources");
    jsonw_array(&w);
    for (size_t i = 0; i < r->n; i++) {
        const struct row *x = &r->row[i];
        bool needs = x->def && x->def->needs_key;
        jsonw_object(&w);
        jsonw_kstring(&w, "source_id", x->source);
        jsonw_kstring(&w, "scope", x->scope);
        jsonw_key(&w, "vendor");
        jsonw_string_or_null(&w, x->def ? x->def->vendor : NULL);
        jsonw_kstring(&w, "state", x->state);
        jsonw_key(&w, "why");
        jsonw_string_or_null(&w, x->why);
        jsonw_kint(&w, "rows", (int64_t)x->rows);
        jsonw_key(&w, "bytes");
        if (x->bytes > 0) {
            jsonw_uint(&w, x->bytes);
        } else {
            jsonw_null(&w);
        }
        jsonw_ktime(&w, "as_of", x->as_of);
        jsonw_ktime(&w, "fetched_at", x->origin == ORIGIN_BUNDLED ? GT_TIME_NONE : x->fetched_at);
        jsonw_key(&w, "origin");
        jsonw_string_or_null(&w, row_origin(x));
        jsonw_key(&w, "url");
        jsonw_string_or_null(&w, x->url);
        jsonw_kbool(&w, "needs_key", needs);
        jsonw_key(&w, "key_variable");
        jsonw_string_or_null(&w, needs ? fetch_key_variable(x->def->id, variable) : NULL);
        jsonw_kbool(&w, "key_set", needs && app_source_key(app, x->def->id));
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}

static void csv_time(struct csvw *w, int64_t when)
{
    char buf[32];
    csvw_text(w, when == GT_TIME_NONE ? NULL : time_format(when, buf));
}

static int write_csv(const struct rows *r, struct buf *b)
{
    static const char *const titles[] = {"source_id", "scope", "state",     "why",
                                         "rows",      "bytes", "as_of",     "fetched_at",
                                         "origin",    "url",   "needs_key", NULL};
    struct csvw w;
    csvw_init(&w, b);
    for (size_t i = 0; titles[i]; i++) {
        csvw_text(&w, titles[i]);
    }
    csvw_end_row(&w);
    for (size_t i = 0; i < r->n; i++) {
        const struct row *x = &r->row[i];
        csvw_text(&w, x->source);
        csvw_text(&w, x->scope);
        csvw_text(&w, x->state);
        csvw_text(&w, x->why);
        csvw_int(&w, (int64_t)x->rows);
        csvw_int(&w, (int64_t)x->bytes);
        csv_time(&w, x->as_of);
        csv_time(&w, x->origin == ORIGIN_BUNDLED ? GT_TIME_NONE : x->fetched_at);
        csvw_text(&w, row_origin(x));
        csvw_text(&w, x->url);
        csvw_text(&w, x->def && x->def->needs_key ? "true" : "false");
        csvw_end_row(&w);
    }
    return csvw_finish(&w);
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct store *s = NULL;
    struct rows r = {.n = 0};
    struct buf b;
    if (args->n_positional > 0) {
        return gt_fail(err, GT_EUSAGE, "sources", "found '%.40s', expected no argument",
                       args->positional[0]);
    }
    int rc = app_store(app, &s, err);
    rc = rc ? rc : store_sources(s, from_store, &r, err);
    if (rc == 0 && add_never_fetched(&r) != 0) {
        rc = gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    buf_init(&b, DOCUMENT_MAX);
    if (r.n > 0) {
        qsort(r.row, r.n, sizeof *r.row, by_name);
    }
    if (rc == 0) {
        rc = app->format == OUT_JSON  ? write_json(app, &r, &b)
             : app->format == OUT_CSV ? write_csv(&r, &b)
                                      : write_table(app, &r, &b);
        rc = rc ? gt_fail(err, rc, "", "out of memory") : app_put(&b, err);
    }
    buf_release(&b);
    release(&r);
    return rc;
}

const struct command command_sources = {
    .name = "sources",
    .usage = "",
    .summary = "lists the price sources: rows, age, state, whether a key is needed",
    .example = "gputier sources --format json",
    .run = run,
};
