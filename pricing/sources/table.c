/* Header matching and the life of a table parser (table.h). */
#include "table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMEMBER_MAX ((size_t)64 * 1024 * 1024)

static const char *column_name(const struct table_shape *s, int c, bool *needed)
{
    const char *n = s->column[c];
    *needed = n && *n == '*';
    return *needed ? n + 1 : n;
}

/* Needed columns that the header lacks, at most the first; NULL if none. */
static const char *missing(const struct table_shape *s, const struct csv_row *header, int *hits)
{
    const char *first = NULL;
    *hits = 0;
    for (int c = 0; s->column[c]; c++) {
        bool needed;
        const char *name = column_name(s, c, &needed);
        if (csv_column(header, name) >= 0) {
            *hits += 1;
        } else if (needed && !first) {
            first = name;
        }
    }
    return first;
}

/* A column passed over may be what the price is for ("unit: per month"), and of two prices one is
 * wrong. Spreadsheets write columns without a name behind the last. */
static int refuse_others(struct parser *p, const struct csv_row *row, struct gt_error *err)
{
    char known[512] = "";
    for (int c = 0, n = 0; p->shape->column[c] && n < (int)sizeof known; c++) {
        bool needed;
        const char *name = column_name(p->shape, c, &needed);
        n += snprintf(known + n, sizeof known - (size_t)n, "%s%s", c ? ", " : "", name);
    }
    for (size_t i = 0; i < row->n; i++) {
        const char *name = csv_field(row, (int)i);
        int first = csv_column(row, name), c = 0;
        while (p->shape->column[c] && p->column[c] != first) {
            c++;
        }
        if (*name != '\0' && !p->shape->column[c]) {
            return csv_fail(err, GT_EPARSE, p->ctx->name, row,
                            "column '%.40s' is not known, rename or remove it; known: %s", name,
                            known);
        }
        if (*name != '\0' && first != (int)i) {
            return csv_fail(err, GT_EPARSE, p->ctx->name, row,
                            "column '%.40s' stands twice, fields %d and %zu", name, first + 1,
                            i + 1);
        }
    }
    return 0;
}

static int take_header(struct parser *p, const struct csv_row *row, struct gt_error *err)
{
    const struct table_shape *near = NULL;
    const char *lack = NULL;
    int best = -1, hits;
    for (size_t i = 0; p->shapes[i] && !p->shape; i++) {
        const char *m = missing(p->shapes[i], row, &hits);
        if (!m) {
            p->shape = p->shapes[i];
        } else if (hits > best) {
            best = hits;
            near = p->shapes[i];
            lack = m;
        }
    }
    if (!p->shape) {
        bool needed;
        return csv_fail(err, GT_EPARSE, p->ctx->name, row,
                        "the header has no column '%s' (it begins with '%.60s'; a table with '%s' "
                        "needs it)",
                        lack ? lack : "", csv_field(row, 0),
                        near ? column_name(near, 0, &needed) : "");
    }
    for (int c = 0; p->shape->column[c]; c++) {
        bool needed;
        p->column[c] = csv_column(row, column_name(p->shape, c, &needed));
    }
    p->header_fields = row->n;
    int rc = p->shape->only_these ? refuse_others(p, row, err) : 0;
    if (rc != 0) {
        return rc;
    }
    if (p->shape->met_elsewhere) {
        const char *slash = strrchr(p->ctx->name, '/');
        snprintf(p->ctx->scope, sizeof p->ctx->scope, SCOPE_TABLE "%s",
                 slash ? slash + 1 : p->ctx->name);
    } else {
        snprintf(p->ctx->scope, sizeof p->ctx->scope, "%s", p->shape->scope);
    }
    return 0;
}

static int on_row(void *ctx, const struct csv_row *row, struct gt_error *err)
{
    struct parser *p = ctx;
    if (!p->shape) {
        return row->n == 2 && strcmp(csv_field(row, 0), "sep=") == 0 ? 0 : take_header(p, row, err);
    }
    p->bad.seen++;
    if (row->n > p->header_fields && !p->shape->extra_fields_ok) {
        return csv_fail(err, GT_EPARSE, p->ctx->name, row,
                        "%zu fields under a header of %zu; quote a field that holds a comma",
                        row->n, p->header_fields);
    }
    return p->shape->row(p, row, err);
}

int table_open(struct parse_context *ctx, const struct table_shape *const *shapes, char separator,
               struct parser **out, struct gt_error *err)
{
    struct parser *p = calloc(1, sizeof *p);
    int rc = p ? csv_reader_new(ctx->name, separator, on_row, p, &p->csv, err)
               : gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    if (rc == 0 &&
        (!(p->arena = arena_new(REMEMBER_MAX)) || !(p->strings = intern_new(p->arena)))) {
        rc = gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    }
    if (rc != 0) {
        table_abort(p);
        return rc;
    }
    p->ctx = ctx;
    p->shapes = shapes;
    const char *v = ctx->vendor && *ctx->vendor ? ctx->vendor : src_vendor_of_path(ctx->name);
    snprintf(p->vendor, sizeof p->vendor, "%s", v ? v : "");
    *out = p;
    return 0;
}

void table_abort(struct parser *p)
{
    if (p) {
        csv_reader_free(p->csv);
        arena_free(p->arena);
    }
    free(p);
}

int table_feed(struct parser *p, const char *data, size_t len, struct gt_error *err)
{
    return csv_reader_feed(p->csv, data, len, err);
}

int table_close(struct parser *p, struct gt_error *err)
{
    int rc = csv_reader_end(p->csv, err);
    if (rc == 0 && !p->shape) {
        rc = gt_fail(err, GT_EPARSE, p->ctx->name, "an empty file, expected a header line");
    }
    if (rc == 0 && p->shape->end) {
        rc = p->shape->end(p, err);
    }
    if (rc == 0 && p->ctx->rows == 0) {
        rc = gt_fail(err, GT_EPARSE, p->ctx->name, "a price list without a price");
    }
    table_abort(p);
    return rc;
}

static int header_only(void *ctx, const struct csv_row *row, struct gt_error *err)
{
    (void)err;
    const struct table_shape *const *shapes = ((void **)ctx)[0];
    bool *found = ((void **)ctx)[1];
    int hits;
    for (size_t i = 0; shapes[i] && row->line <= 2; i++) {
        *found = *found || missing(shapes[i], row, &hits) == NULL;
    }
    return row->line >= 2 ? GT_ECANCELLED : 0; /* enough seen */
}

bool table_recognise(const struct table_shape *const *shapes, const char *head, size_t len)
{
    bool found = false;
    void *ctx[2] = {(void *)(size_t)shapes, &found};
    struct csv_reader *r;
    if (csv_reader_new("", ',', header_only, ctx, &r, NULL) != 0) {
        return false;
    }
    if (csv_reader_feed(r, head, len < 16384 ? len : 16384, NULL) == 0) {
        (void)!csv_reader_end(r, NULL);
    }
    csv_reader_free(r);
    return found;
}

int table_refuse(struct parser *p, const struct csv_row *row, int c, const char *allowed,
                 struct gt_error *err)
{
    bool needed;
    return csv_fail(err, GT_EPARSE, p->ctx->name, row, "%s '%.60s': %s",
                    column_name(p->shape, c, &needed), table_text(p, row, c), allowed);
}

int table_time(struct parser *p, const struct csv_row *row, int c, int64_t *out,
               struct gt_error *err)
{
    const char *t = table_text(p, row, c);
    *out = GT_TIME_NONE;
    if (*t == '\0' || time_parse(t, 0, out, NULL) == 0) {
        return 0;
    }
    return table_refuse(p, row, c, "expected a date like 2026-12-02 or 2026-12-02T10:00:00Z", err);
}

int table_bad(struct parser *p, const struct csv_row *row, int c, struct gt_error *err)
{
    bool needed;
    return src_bad_row(&p->bad, p->ctx, row->line, column_name(p->shape, c, &needed),
                       table_text(p, row, c), err);
}
