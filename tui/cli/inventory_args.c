/* Reading inventories for commands (inventory_args.h). */
#include "inventory_args.h"
#include "gputier/units.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int whole(const struct cli_args *args, const char *name, uint64_t fallback, uint64_t most,
                 uint64_t *out, struct gt_error *err)
{
    const char *text = cli_value(args, name);
    *out = fallback;
    if (text && (count_parse(text, out, NULL) || *out > most)) {
        return gt_fail(err, GT_EUSAGE, "", "--%s: found '%.40s', expected 0 to %llu", name, text,
                       (unsigned long long)most);
    }
    return 0;
}

int inventory_depth(const struct cli_args *args, int *depth, struct gt_error *err)
{
    uint64_t v;
    int rc = whole(args, "depth", 2, 64, &v, err);
    *depth = (int)v;
    return rc;
}

static int kind_of(const char *name, enum inventory_format *out, struct gt_error *err)
{
    char all[120] = "";
    const char *kind;
    for (int i = 0; (kind = inventory_format_name(i)) != NULL; i++) {
        if (strcmp(name, kind) == 0) {
            *out = (enum inventory_format)i;
            return 0;
        }
        size_t len = strlen(all);
        snprintf(all + len, sizeof all - len, "%s%s", len ? ", " : "", kind);
    }
    return gt_fail(err, GT_EUSAGE, "", "--kind: found '%.40s', expected one of %s", name, all);
}

static int64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void inventory_bar_begin(const struct app *app, struct inventory_bar *bar)
{
    int64_t now = now_ms();
    *bar = (struct inventory_bar){.shown = isatty(STDERR_FILENO) && !app->plain && !app->quiet,
                                  .started_ms = now,
                                  .drawn_ms = now};
}

void inventory_bar_end(const struct inventory_bar *bar)
{
    if (bar->drawn) {
        fputs("\r\x1b[K", stderr);
    }
}

/* Five times a second at most, and nothing for what is read at once. */
void inventory_bar_draw(void *ctx, const struct inventory_progress *p)
{
    struct inventory_bar *b = ctx;
    int64_t now = now_ms();
    if (now - b->drawn_ms < 200) {
        return;
    }
    double s = (double)(now - b->started_ms) / 1000;
    char got[32], all[32], left[64] = "";
    if (p->total_bytes > p->bytes && p->bytes > 0) {
        double more = s * (double)(p->total_bytes - p->bytes) / (double)p->bytes;
        snprintf(left, sizeof left, " of %s, %.0f s left", size_format(p->total_bytes, all), more);
    }
    if (p->rows == 0 && p->bytes == 0) { /* an engine that works in silence */
        fprintf(stderr, "\rno answer yet, %.0f s\x1b[K", s);
    } else {
        fprintf(stderr, "\r%" PRIu64 " rows, %.1f million a second, %s%s\x1b[K", p->rows,
                (double)p->rows / s / 1e6, size_format(p->bytes, got), left);
    }
    b->drawn_ms = now;
    b->drawn = true;
}

/* Every file of the command, with the progress on a terminal. */
static int read_all(struct app *app, const struct inventory_options *o, const char *const *files,
                    size_t n, struct inventory **inv, struct gt_error *err)
{
    const struct team team = team_threads(0);
    struct inventory_bar bar;
    struct inventory_options with = *o;
    inventory_bar_begin(app, &bar);
    with.team = &team;
    with.progress = bar.shown ? inventory_bar_draw : NULL;
    with.progress_ctx = &bar;
    int rc = inventory_new(&with, inv, err);
    rc = rc ? rc : inventory_read_files(*inv, files, n, err);
    inventory_bar_end(&bar);
    return rc;
}

/* Lines on stderr about what was read of accesses. */
static void warn_access(struct app *app, struct inventory_accesses *a)
{
    const struct inventory_access_stats *s = inventory_access_stats(a);
    if (s->bad_rows > 0) {
        log_line(&app->log, LOG_WARNING, "access", "%llu rows could not be read; the first: %s: %s",
                 (unsigned long long)s->bad_rows, s->first_bad_where, s->first_bad_text);
    }
    double days = s->log && s->rows ? (double)(s->last - s->first) / 86400 : 30;
    if (days < 29) {
        log_line(&app->log, LOG_WARNING, "access",
                 "the access logs span %.1f days: reads are those of 30 days only when the logs "
                 "are, too",
                 days);
    }
}

static int read_accesses(struct app *app, const struct cli_args *args,
                         const struct inventory_options *o, struct inventory_accesses **out,
                         struct gt_error *err)
{
    const char *path = cli_list(args, "access", 0);
    int rc = path ? inventory_accesses_new(o->as_of, o->max_bad, out, err) : 0;
    for (size_t i = 0; rc == 0 && (path = cli_list(args, "access", i)) != NULL; i++) {
        rc = inventory_access_read(*out, path, app->cancel, err);
    }
    if (rc == 0 && *out) {
        warn_access(app, *out);
    }
    return rc;
}

int inventory_from_args(struct app *app, const struct cli_args *args, const char *const *files,
                        size_t n, struct inventory **inv, struct gt_error *err)
{
    return inventory_with_duplicates(app, args, files, n, NULL, inv, err);
}

int inventory_with_duplicates(struct app *app, const struct cli_args *args,
                              const char *const *files, size_t n, struct duplicates *d,
                              struct inventory **inv, struct gt_error *err)
{
    struct inventory_options o = {.as_of = app->as_of == GT_TIME_NONE ? app->now : app->as_of,
                                  .cancel = app->cancel,
                                  .duplicates = d,
                                  .file_schema = cli_value(args, "columns")};
    const char *kind = cli_value(args, "kind");
    int rc = kind_of(kind ? kind : "auto", &o.format, err);
    rc = rc ? rc : inventory_depth(args, &o.depth, err);
    rc = rc ? rc : whole(args, "max-bad", 1000, UINT64_MAX / 2, &o.max_bad, err);
    *inv = NULL;
    struct inventory_accesses *access = NULL;
    rc = rc ? rc : read_accesses(app, args, &o, &access, err);
    o.access = access;
    rc = rc ? rc : read_all(app, &o, files, n, inv, err);
    if (rc == 0) {
        const struct inventory_row *row; /* made while the accesses are still there */
        size_t rows;
        rc = inventory_rows(*inv, &row, &rows, err);
    }
    inventory_accesses_free(access);
    const struct inventory_stats *s = rc ? NULL : inventory_stats(*inv);
    if (s && s->objects + s->not_files + s->delete_markers == 0 &&
        s->bad_rows > 0) { /* not a listing with a bad row: no listing */
        rc = gt_fail(err, GT_EPARSE, s->first_bad_where, "%s, and no other row can be read",
                     s->first_bad_text);
    }
    if (rc) {
        inventory_free(*inv);
        *inv = NULL;
    }
    /* a missing file, a folder, a format that is not read: a bad input file, exit 4 */
    return rc == GT_ENOTFOUND || rc == GT_EIO || rc == GT_EUNSUPPORTED ? GT_EPARSE : rc;
}

void inventory_warn(struct app *app, const struct inventory *inv)
{
    const struct inventory_stats *s = inventory_stats(inv);
    if (s->bad_rows > 0) {
        log_line(&app->log, LOG_WARNING, "inventory",
                 "%llu rows could not be read; the first: %s: %s", (unsigned long long)s->bad_rows,
                 s->first_bad_where, s->first_bad_text);
    }
    if (s->not_files > 0) {
        log_line(&app->log, LOG_INFO, "inventory",
                 "%llu entries that are no regular files left out",
                 (unsigned long long)s->not_files);
    }
}
