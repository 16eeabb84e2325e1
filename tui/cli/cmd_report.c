/* report [PLAN]: the recommendation for people, as Markdown, HTML, CSV or JSON. */
#include "../report/doc.h"
#include "cli.h"
#include "gputier/arena.h"
#include <stdlib.h>
#include <string.h>

#define REPORT_MAX (64U << 20)

static const struct cli_option options[] = {
    {"format", 0, OPT_VALUE, "html|md|csv|json",
     "kind of document; default by the file's ending, else md"},
    {"output", 'o', OPT_VALUE, "FILE", "where to write it; - or nothing: standard output"},
    {"audit", 0, OPT_FLAG, NULL, "add each line's formula, quantity, rate, SKU and fetch date"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

static const char *choose_format(const struct cli_args *args, const char *path)
{
    const char *given = cli_value(args, "format");
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (given) {
        return given;
    }
    return dot ? dot + 1 : "md";
}

/* The sources that the plan's bill cites, in the order of their names. */
struct cited {
    struct arena *arena;
    const struct plan *plan;
    struct report_source *list;
    size_t n, cap;
};

static const char *own(struct cited *c, const char *s)
{
    return arena_strdup(c->arena, s);
}

/* A file counts when a line rests on it: bundled by bundled, fetched by the time of the fetch. */
static bool is_cited(const struct plan *p, const struct source_file *f)
{
    for (size_t i = 0; i < p->n_lines; i++) {
        const struct bill_line *l = &p->line[i];
        if (strcmp(l->source_id, f->source_id) == 0 &&
            (l->origin == ORIGIN_BUNDLED) == f->bundled &&
            (f->bundled || l->fetched_at == f->fetched_at)) {
            return true;
        }
    }
    return false;
}

static int add_source(void *ctx, const struct source_file *f)
{
    struct cited *c = ctx;
    if (!is_cited(c->plan, f)) {
        return 0;
    }
    if (c->n == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 16;
        struct report_source *p = arena_array(c->arena, cap, sizeof *p);
        if (!p) {
            return GT_ENOMEM;
        }
        if (c->n) {
            memcpy(p, c->list, c->n * sizeof *p);
        }
        c->list = p;
        c->cap = cap;
    }
    struct report_source *s = &c->list[c->n++];
    *s = (struct report_source){
        own(c, f->source_id), own(c, f->title), own(c, f->url), own(c, f->licence),
        own(c, f->scope),     own(c, f->hash),  f->as_of,       f->fetched_at};
    return s->source_id && s->title && s->url && s->licence && s->scope && s->hash ? 0 : GT_ENOMEM;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int find_sources(struct app *app, struct cited *c, struct gt_error *err)
{
    struct store *store = NULL;
    const char **name = arena_array(c->arena, c->plan->n_lines + 1, sizeof *name);
    int rc = name ? app_store(app, &store, err) : gt_fail(err, GT_ENOMEM, "", "out of memory");
    for (size_t i = 0; i < c->plan->n_lines && rc == 0; i++) {
        name[i] = c->plan->line[i].source_id;
    }
    if (rc == 0 && c->plan->n_lines > 0) {
        qsort(name, c->plan->n_lines, sizeof *name, by_name);
    }
    for (size_t i = 0; i < c->plan->n_lines && rc == 0; i++) {
        if (i == 0 || strcmp(name[i], name[i - 1]) != 0) {
            rc = store_source_files(store, name[i], add_source, c, err);
        }
    }
    return rc == GT_ENOMEM ? gt_fail(err, rc, "", "out of memory") : rc;
}

static int write_document(struct app *app, const struct plan_ref *ref, const char *format,
                          bool audit, const char *path, struct gt_error *err)
{
    struct report_input in = {ref->set, ref->scenario, ref->index, audit, NULL, 0};
    struct cited c = {.arena = arena_new(0), .plan = &ref->set->plan[ref->index]};
    struct buf out;
    int rc = c.arena ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
    rc = rc || !audit ? rc : find_sources(app, &c, err);
    static const struct report_source none;
    in.source = !audit ? NULL : c.n ? c.list : &none;
    in.n_sources = c.n;
    buf_init(&out, REPORT_MAX);
    rc = rc ? rc : report_document(&in, format, &out, err);
    rc = rc ? rc : app_write_file(path, out.data, out.len, err);
    buf_release(&out);
    arena_free(c.arena);
    return rc;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    static const char *const known[] = {"html", "md", "csv", "json"};
    const char *path = cli_value(args, "output");
    const char *format = choose_format(args, path);
    bool ok = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ok = ok || strcmp(known[i], format) == 0;
    }
    if (!ok) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--format: found '%.20s', expected html, md, csv or json", format);
    }
    if (args->n_positional > 1) {
        return gt_fail(err, GT_EUSAGE, "", "one plan at most, found '%.40s' too",
                       args->positional[1]);
    }
    struct plan_ref ref = {0};
    if (strcmp(format, "json") == 0) {
        app->format = OUT_JSON; /* errors too */
    }
    int rc = app_plan(app, args->n_positional ? args->positional[0] : NULL, &ref, err);
    if (rc) {
        return rc;
    }
    if (strcmp(format, "json") == 0) {
        rc = app_write_file(path ? path : "-", ref.json, strlen(ref.json), err);
    } else {
        rc = write_document(app, &ref, format, cli_flag(args, "audit"), path ? path : "-", err);
    }
    if (!rc && app->strict && ref.set->plan[ref.index].at_least) {
        rc = gt_fail(err, GT_EINFEASIBLE, "",
                     "the plan's total is at least what is shown (--strict)");
    }
    plan_ref_release(&ref);
    return rc;
}

const struct command command_report = {
    .name = "report",
    .usage = "[PLAN] [--format html|md|csv|json] [-o FILE] [--audit]",
    .summary = "writes the recommendation for people: charts, tables, assumptions, price sources",
    .options = options,
    .example = "gputier report demo --format html -o report.html --audit",
    .run = run,
};
