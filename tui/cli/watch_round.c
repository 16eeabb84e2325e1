/* One round of `watch` (watch.h). */
#include "gputier/jsonw.h"
#include "gputier/record.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "watch.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TRIES        2
#define STALL_S      30
#define LEAST_TIME_S 60
#define MOST_TIME_S  600
#define BACK_OFF_S   3600

int64_t watch_boot_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec;
}

int64_t watch_wall_s(const struct watch *w)
{
    int64_t passed = w->once ? 0 : watch_boot_s() - w->started_s;
    return w->fixed_clock ? w->app->now + passed : (int64_t)time(NULL);
}

/* A source that fails where others answer is asked ever less often, up to once an hour. */
static int64_t pace(const struct watched *s)
{
    int64_t step = s->step_s;
    for (unsigned i = 2; i < s->failures && step < BACK_OFF_S; i++) {
        step *= 2;
    }
    return step < BACK_OFF_S || step == s->step_s ? step : BACK_OFF_S;
}

int64_t watch_wait_s(const struct watch *w, const struct watched *s, int64_t now_s)
{
    /* rounds come up to a tenth early; without room for that every second one would be missed */
    int64_t due = s->last_s + pace(s) - w->every_s * 15 / 100;
    return !s->tried || due <= now_s ? 0 : due - now_s;
}

/* The first thing that went wrong with a source in this round. */
static void on_progress(void *ctx, const struct fetch_progress *p)
{
    struct watch *w = ctx;
    for (size_t i = 0; i < w->n; i++) {
        struct watched *s = &w->source[i];
        bool bad = p->state == FETCH_FAILED || p->state == FETCH_QUARANTINED;
        if (bad && !s->failed && strcmp(s->def->id, p->source_id) == 0) {
            s->failed = true;
            snprintf(s->why, sizeof s->why, "%s%s%s", p->scope, *p->scope ? ": " : "",
                     p->message ? p->message : "failed");
        }
    }
}

static const char *url_of(void *ctx, const char *id)
{
    return app_source_url(((struct watch *)ctx)->app, id);
}

static const char *key_of(void *ctx, const char *id)
{
    return app_source_key(((struct watch *)ctx)->app, id);
}

static void text_line(const struct watch *w, int64_t when, const struct fetch_summary *sum,
                      uint64_t changed, int64_t next_s, struct buf *b)
{
    char time[32], size[32];
    size_t n = sum->done + sum->unchanged + sum->failed + sum->quarantined;
    (void)buf_addf(b, "%s  ", time_format(when, time));
    if (n == 0) {
        (void)buf_adds(b, "nothing is due");
    } else {
        (void)buf_addf(b, "%zu of %zu sources", sum->done + sum->unchanged, n);
        if (sum->unchanged > 0) {
            (void)buf_addf(b, " (%zu unchanged)", sum->unchanged);
        }
        (void)buf_addf(b, ", %llu rows changed, %s", (unsigned long long)changed,
                       size_format(sum->bytes, size));
    }
    if (sum->failed == n && n > 0) {
        (void)buf_adds(b, "; nobody answers");
    }
    for (size_t i = 0; i < w->n; i++) {
        if (w->source[i].failed) {
            (void)buf_addf(b, "; %s failed: ", w->source[i].def->id);
            (void)text_safe(b, w->source[i].why, strlen(w->source[i].why), false);
        }
    }
    if (next_s >= 0) {
        (void)buf_addf(b, "; next %s", time_format(when + next_s, time));
    }
    (void)buf_addc(b, '\n');
}

static void json_line(const struct watch *w, int64_t when, const struct fetch_summary *sum,
                      uint64_t changed, int64_t next_s, struct buf *b)
{
    struct jsonw j;
    jsonw_init(&j, b, false);
    jsonw_object(&j);
    jsonw_kstring(&j, "schema", "gputier/watch/1");
    jsonw_ktime(&j, "when", when);
    jsonw_key(&j, "sources");
    jsonw_object(&j);
    jsonw_kint(&j, "done", (int64_t)sum->done);
    jsonw_kint(&j, "unchanged", (int64_t)sum->unchanged);
    jsonw_kint(&j, "failed", (int64_t)sum->failed);
    jsonw_kint(&j, "quarantined", (int64_t)sum->quarantined);
    jsonw_end_object(&j);
    jsonw_kint(&j, "changed_rows", (int64_t)changed);
    jsonw_kint(&j, "bytes", (int64_t)sum->bytes);
    jsonw_key(&j, "failures");
    jsonw_array(&j);
    for (size_t i = 0; i < w->n; i++) {
        if (w->source[i].failed) {
            jsonw_object(&j);
            jsonw_kstring(&j, "source_id", w->source[i].def->id);
            jsonw_kstring(&j, "why", w->source[i].why);
            jsonw_end_object(&j);
        }
    }
    jsonw_end_array(&j);
    jsonw_ktime(&j, "next", next_s < 0 ? GT_TIME_NONE : when + next_s);
    jsonw_end_object(&j);
    (void)!jsonw_finish(&j);
}

static int tell(const struct watch *w, int64_t when, const struct fetch_summary *sum,
                int64_t next_s, struct gt_error *err)
{
    struct buf b;
    uint64_t changed = 0;
    int rc = store_round(w->store, when, &changed, err);
    buf_init(&b, 1 << 20);
    if (rc == 0 && w->app->format == OUT_JSON) {
        json_line(w, when, sum, changed, next_s, &b);
    } else if (rc == 0 && !w->app->quiet) {
        text_line(w, when, sum, changed, next_s, &b);
    }
    if (rc == 0 && b.failed) {
        rc = gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    rc = rc || b.len == 0 ? rc : app_put(&b, err);
    buf_release(&b);
    return rc;
}

/* Notes what was tried; where nobody answered it is the network, and no source's fault. */
static void settle(struct watch *w, size_t ok, int64_t began_s)
{
    for (size_t i = 0; i < w->n; i++) {
        struct watched *s = &w->source[i];
        if (s->due) {
            s->tried = true;
            s->last_s = began_s;
            s->failures = !s->failed ? 0 : ok > 0 ? s->failures + 1 : s->failures;
        }
    }
}

int watch_round(struct watch *w, int64_t next_s, size_t *ok, struct gt_error *err)
{
    const char *id[WATCH_SOURCES];
    struct fetch_summary sum = {0};
    int64_t began_s = watch_boot_s();
    struct fetch_options o = {.store = w->store,
                              .sources = id,
                              .regions = (const char *const *)w->regions.name,
                              .n_regions = w->regions.n,
                              .tries = TRIES,
                              .stall_s = STALL_S,
                              .cache_dir = w->app->cache_dir,
                              .url_of = url_of,
                              .key_of = key_of,
                              .ctx = w,
                              .progress = on_progress,
                              .cancel = w->app->cancel,
                              .log = &w->app->log,
                              .now = watch_wall_s(w)};
    o.max_time_s = (int)(w->every_s < LEAST_TIME_S  ? LEAST_TIME_S
                         : w->every_s > MOST_TIME_S ? MOST_TIME_S
                                                    : w->every_s);
    int rc = 0;
    for (size_t i = 0; i < w->n && rc == 0; i++) {
        struct watched *s = &w->source[i];
        s->failed = false;
        s->due = watch_wait_s(w, s, began_s) == 0;
        if (s->due) {
            id[o.n_sources++] = s->def->id;
            rc = store_record(w->store, s->def->id, s->step_s, err);
        }
    }
    if (rc == 0 && o.n_sources > 0) {
        struct gt_error why = {0};
        rc = fetch_sources(&o, &sum, &why);
        /* what a source lacks is in the line; the rest (no memory, no database) ends the watch */
        bool told = sum.failed + sum.quarantined > 0;
        if (rc != 0 && (rc == GT_ECANCELLED || !told)) {
            return gt_fail(err, rc, why.where, "%s", why.text);
        }
        rc = 0;
    }
    *ok = sum.done + sum.unchanged;
    settle(w, *ok, began_s);
    return rc ? rc : tell(w, o.now, &sum, next_s, err);
}
