/* spot trace: a recorded series (gputier watch, imported histories) as a trace file, the format
 * that `spot replay` reads. Sample k is the last value looked up by start + k x gap_s. A value
 * holds until the next look was due; what lies behind that was not recorded, and is never filled
 * in as if it had been: see --gaps. */
#include "cmd_spot.h"
#include "gputier/record.h"
#include "gputier/spot.h"
#include "gputier/units.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_MAX  ((size_t)512 << 20)
#define STEP_S     600
#define GAPS_TOLD  1000
#define NAMES_TOLD 5

enum gaps { GAPS_LONGEST, GAPS_UNAVAILABLE, GAPS_REFUSE };
struct span {
    int64_t from, to;
};
struct point {
    int64_t when, gone; /* gone: known to have ended then, GT_TIME_NONE = no */
    int32_t available;
    money price; /* < 0: none */
};
struct list {
    struct point *p;
    size_t n, cap;
};
struct request {
    const char *vendor, *region, *zone, *instance, *source, *file;
    char vendor_text[48];
    int64_t step_s, since, until, now;
    bool price;
    enum gaps gaps;
    struct list avail, cost;
    bool series_priced; /* the series holds prices; else those of its source's offers are taken */
    struct span *seen;  /* times of looking, in order */
    size_t n_seen, cap_seen;
    char found[64], other[64], currency[8]; /* the source taken, and one that is not */
    char names[300];                        /* instance types recorded in the region */
    int n_names;
};

static int add_point(struct list *l, const struct point *p)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 256;
        struct point *grown = realloc(l->p, cap * sizeof *grown);
        if (!grown) {
            return GT_ENOMEM;
        }
        l->p = grown;
        l->cap = cap;
    }
    l->p[l->n++] = *p;
    return 0;
}

/* One source's series is taken: two of them look at different times and round differently. */
static bool take_source(struct request *q, const char *source)
{
    if (q->source ? strcmp(q->source, source) != 0 : *q->found && strcmp(q->found, source) != 0) {
        snprintf(q->other, sizeof q->other, "%s", source);
        return false;
    }
    snprintf(q->found, sizeof q->found, "%s", source);
    return true;
}

static int on_series(void *ctx, const struct spot_series_point *pt)
{
    struct request *q = ctx;
    if (strcmp(pt->instance_type, q->instance) != 0) {
        if (q->n_names < NAMES_TOLD && !strstr(q->names, pt->instance_type)) {
            size_t n = strlen(q->names);
            snprintf(q->names + n, sizeof q->names - n, "%s%.50s", n ? ", " : "",
                     pt->instance_type);
            q->n_names++;
        }
        return 0;
    }
    bool of_kind =
        q->price ? pt->price >= 0 || strcmp(q->found, pt->source_id) == 0 : pt->available >= 0;
    if (!of_kind || strcmp(pt->zone, q->zone) != 0 || !take_source(q, pt->source_id)) {
        return 0;
    }
    struct point p = {pt->when, GT_TIME_NONE, pt->available, pt->price};
    if (pt->price >= 0) {
        q->series_priced = true;
        snprintf(q->currency, sizeof q->currency, "%s", pt->currency);
    }
    int rc = pt->available >= 0 ? add_point(&q->avail, &p) : 0;
    return rc ? rc : add_point(&q->cost, &p);
}

/* Offers bought as spot, where the series itself has no prices. */
static int on_price(void *ctx, const struct price_point *pt)
{
    struct request *q = ctx;
    if (pt->bundled || !take_source(q, pt->source_id)) {
        return 0;
    }
    if (!*q->currency) {
        snprintf(q->currency, sizeof q->currency, "%s", pt->currency);
    }
    struct point p = {pt->when, pt->known_to, -1,
                      strcmp(q->currency, pt->currency) == 0 ? pt->price : -1};
    return add_point(&q->cost, &p);
}

static int on_observed(void *ctx, const struct observed_time *o)
{
    struct request *q = ctx;
    struct span s = {o->first, o->last + o->step_s};
    if (s.from < q->since) {
        s.from = q->since;
    }
    if (q->until == GT_TIME_NONE && s.from > q->now) {
        return 0; /* looked at while the clock was wrong */
    }
    if (q->until != GT_TIME_NONE && s.to > q->until) {
        s.to = q->until;
    }
    if (s.to < s.from) {
        return 0;
    }
    if (q->n_seen == q->cap_seen) {
        size_t cap = q->cap_seen ? 2 * q->cap_seen : 64;
        struct span *grown = realloc(q->seen, cap * sizeof *grown);
        if (!grown) {
            return GT_ENOMEM;
        }
        q->seen = grown;
        q->cap_seen = cap;
    }
    q->seen[q->n_seen++] = s;
    return 0;
}

static int load(struct app *app, struct request *q, struct gt_error *err)
{
    struct store *s = NULL;
    int rc = app_store(app, &s, err);
    rc = rc ? rc : store_spot_series(s, q->vendor, q->region, NULL, NULL, on_series, q, err);
    /* a price beside the availability is of its source or left out */
    bool several = *q->other != '\0';
    if (rc == 0 && !q->series_priced) {
        q->cost.n = 0;
        if (q->price || q->avail.n > 0) {
            rc = store_history(s, q->vendor, q->region, q->zone, q->instance, PURCHASE_SPOT,
                               on_price, q, err);
        }
    }
    if (rc == 0 && !q->source && (q->price ? *q->other != '\0' : several)) {
        return gt_fail(err, GT_EUSAGE, "--source",
                       "several sources speak of it, such as %s and %s: name one", q->found,
                       q->other);
    }
    if (rc == 0 && (q->price ? q->cost.n : q->avail.n) == 0) {
        return gt_fail(err, GT_ENOTFOUND, "", "no %s of %s in %s/%s%s%s is recorded%s%s%s",
                       q->price ? "spot price" : "availability", q->instance, q->vendor, q->region,
                       *q->zone ? ", zone " : "", q->zone,
                       *q->names ? "; recorded there: " : "; gputier watch records", q->names, "");
    }
    if (rc == 0) { /* before its first point nothing is known of it */
        int64_t first = (q->price ? q->cost : q->avail).p[0].when;
        q->since = q->since == GT_TIME_NONE || q->since < first ? first : q->since;
        rc = store_observed(s, q->vendor, q->region, q->zone, q->instance, q->found, on_observed, q,
                            err);
    }
    return rc;
}

static int take_time(const struct cli_args *args, const char *name, int64_t *out,
                     struct gt_error *err)
{
    const char *v = cli_value(args, name);
    *out = GT_TIME_NONE;
    if (v && time_parse(v, 0, out, NULL) != 0) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--%s: found '%.40s', expected a date such as 2026-05-20", name, v);
    }
    return 0;
}

static int take_words(const struct cli_args *args, struct request *q, struct gt_error *err)
{
    static const char *const gaps[] = {"longest", "unavailable", "refuse"};
    const char *v = cli_value(args, "value"), *g = cli_value(args, "gaps");
    q->price = v && strcmp(v, "price") == 0;
    if (v && !q->price && strcmp(v, "avail") != 0) {
        return gt_fail(err, GT_EUSAGE, "--value", "found '%.40s', expected avail or price", v);
    }
    size_t i = 0;
    while (g && i < 3 && strcmp(g, gaps[i]) != 0) {
        i++;
    }
    if (i == 3) {
        return gt_fail(err, GT_EUSAGE, "--gaps",
                       "found '%.40s', expected longest, unavailable or refuse", g);
    }
    q->gaps = (enum gaps)i;
    return 0;
}

static int take_request(struct app *app, const struct cli_args *args, struct request *q,
                        struct gt_error *err)
{
    const char *region = cli_value(args, "region"), *v = cli_value(args, "vendor");
    double step = STEP_S;
    const char *slash = region ? strchr(region, '/') : NULL;
    if (args->n_positional != 1 || !region || !cli_value(args, "instance")) {
        return gt_fail(err, GT_EUSAGE, "spot trace",
                       "expected --instance NAME and --region VENDOR/CODE");
    }
    if (app->format != OUT_TABLE) {
        return gt_fail(err, GT_EUSAGE, "--format", "spot trace writes the trace format alone");
    }
    if (slash) {
        snprintf(q->vendor_text, sizeof q->vendor_text, "%.*s", (int)(slash - region), region);
        v = q->vendor_text;
    }
    q->region = slash ? slash + 1 : region;
    q->vendor = v ? vendor_canonical(v) : NULL;
    if (!q->vendor || !*q->region) {
        return gt_fail(err, GT_EUSAGE, "--region",
                       "found '%.60s', expected VENDOR/CODE such as lambda/us-east-1", region);
    }
    q->now = app->now;
    q->instance = cli_value(args, "instance");
    q->zone = cli_value(args, "zone") ? cli_value(args, "zone") : "";
    q->source = cli_value(args, "source");
    q->file = cli_value(args, "output") ? cli_value(args, "output") : "-";
    int rc = spot_seconds(args, "step", STEP_S, &step, err);
    if (rc == 0 && !(step >= 1 && step <= 86400)) {
        rc = gt_fail(err, GT_EUSAGE, "--step", "found %g s, expected 1s to 1d", step);
    }
    q->step_s = (int64_t)step;
    rc = rc ? rc : take_time(args, "since", &q->since, err);
    rc = rc ? rc : take_time(args, "until", &q->until, err);
    return rc ? rc : take_words(args, q, err);
}

/* The last of the points that came by `t`, from *at on; NULL before the first. */
static const struct point *value_at(const struct list *l, size_t *at, int64_t t)
{
    while (*at < l->n && l->p[*at].when <= t) {
        ++*at;
    }
    return *at > 0 ? &l->p[*at - 1] : NULL;
}

static bool seen_at(const struct request *q, size_t *at, int64_t t)
{
    while (*at < q->n_seen && q->seen[*at].to < t) {
        ++*at;
    }
    return *at < q->n_seen && q->seen[*at].from <= t;
}

static money price_at(const struct request *q, size_t *at, int64_t t)
{
    const struct point *p = value_at(&q->cost, at, t);
    return !p || (p->gone != GT_TIME_NONE && p->gone <= t) ? -1 : p->price;
}

/* The times asked for: one stretch without a gap, or all from the first look to the last. */
static struct span choose(const struct request *q)
{
    struct span s = {q->seen[0].from, q->seen[q->n_seen - 1].to};
    if (!q->price && q->gaps == GAPS_LONGEST) {
        s = q->seen[0];
        for (size_t i = 1; i < q->n_seen; i++) {
            if (q->seen[i].to - q->seen[i].from > s.to - s.from) {
                s = q->seen[i];
            }
        }
    }
    return s;
}

/* "# gap=" lines of what was not looked at within or beside the trace. */
static void tell_gaps(const struct request *q, struct buf *b)
{
    char from[32], to[32];
    for (size_t i = 1; i < q->n_seen && i <= GAPS_TOLD; i++) {
        (void)buf_addf(b, "# gap=%s/%s\n", time_format(q->seen[i - 1].to, from),
                       time_format(q->seen[i].from, to));
    }
}

static void head(const struct request *q, const struct span *s, int64_t n, int32_t most,
                 int64_t unknown, struct buf *b)
{
    char start[32];
    (void)buf_addf(b, "# source=gputier: series of %s\n# gap_s=%lld\n# n=%lld\n", q->found,
                   (long long)q->step_s, (long long)n);
    if (!q->price) {
        (void)buf_addf(b, "# nodes_probed=%d\n", most > 0 ? (int)most : 1);
    }
    if (*q->currency) {
        (void)buf_addf(b, "# unit=%s per instance-hour %s spot\n", q->currency, q->instance);
    }
    (void)buf_addf(b, "# vendor=%s\n# region=%s\n", q->vendor, q->region);
    if (*q->zone) {
        (void)buf_addf(b, "# zone=%s\n", q->zone);
    }
    (void)buf_addf(b, "# instance_type=%s\n# start=%s\n", q->instance, time_format(s->from, start));
    if (unknown > 0) {
        (void)buf_addf(b, "# unknown_ticks=%lld\n", (long long)unknown);
    }
    tell_gaps(q, b);
}

/* What a trace holds, for the line on stderr. */
struct tally {
    int64_t n, unknown, up;
    int32_t most;
};

static void body(const struct request *q, const struct span *s, struct tally *t, struct buf *b)
{
    bool priced = !q->price && q->cost.n > 0;
    size_t at = 0, cost_at = 0, seen = 0;
    int64_t held = -2;
    money held_price = -2;
    char text[MONEY_TEXT];
    (void)buf_adds(b, q->price ? "t_s,price\n" : priced ? "t_s,avail,price\n" : "t_s,avail\n");
    for (int64_t k = 0; k < t->n; k++) {
        int64_t when = s->from + k * q->step_s;
        const struct point *p = value_at(&q->avail, &at, when);
        money price = price_at(q, &cost_at, when);
        bool known = seen_at(q, &seen, when) && (q->price ? price >= 0 : p != NULL);
        int64_t count = q->price || !known ? 0 : p->available;
        price = known ? price : -1;
        t->unknown += !known;
        t->up += count > 0;
        t->most = count > t->most ? (int32_t)count : t->most;
        if (k > 0 && count == held && ((!priced && !q->price) || price == held_price)) {
            continue;
        }
        held = count;
        held_price = price;
        (void)buf_addf(b, "%lld", (long long)(k * q->step_s));
        if (!q->price) {
            (void)buf_addf(b, ",%lld", (long long)count);
        }
        if (q->price || priced) {
            (void)buf_addf(b, ",%s", price >= 0 ? money_format(price, text) : q->price ? "-1" : "");
        }
        (void)buf_addc(b, '\n');
    }
    (void)buf_addf(b, "%lld,%s%s\n", (long long)(t->n * q->step_s), q->price ? "-2" : "-1",
                   priced ? "," : "");
}

static int write_trace(struct app *app, const struct request *q, const struct span *s,
                       struct gt_error *err)
{
    struct tally t = {.n = (s->to - s->from) / q->step_s};
    struct buf all, rows;
    char step[32], start[32];
    t.n = t.n > 0 ? t.n : 1;
    if (t.n > SPOT_MAX_TICKS) {
        return gt_fail(err, GT_ELIMIT, "spot trace",
                       "%lld samples, a trace holds at most %d: a longer --step or a later --since",
                       (long long)t.n, SPOT_MAX_TICKS);
    }
    buf_init(&all, TRACE_MAX);
    buf_init(&rows, TRACE_MAX);
    body(q, s, &t, &rows);
    head(q, s, t.n, t.most, t.unknown, &all);
    int rc = rows.failed ? GT_ENOMEM : buf_add(&all, rows.data, rows.len);
    rc = rc                          ? gt_fail(err, GT_ENOMEM, "", "out of memory")
         : strcmp(q->file, "-") == 0 ? app_put(&all, err)
                                     : app_write_file(q->file, all.data, all.len, err);
    if (rc == 0 && !app->quiet) {
        fprintf(stderr, "%lld samples of %s from %s", (long long)t.n,
                duration_format((double)q->step_s, step), time_format(s->from, start));
        if (!q->price) {
            fprintf(stderr, ", %.1f %% of them available", 100 * (double)t.up / (double)t.n);
        }
        if (t.unknown > 0) {
            fprintf(stderr, "; %lld not recorded, %s", (long long)t.unknown,
                    q->price ? "-1 in the file" : "0 in the file");
        }
        if (q->n_seen > 1 && !q->price && q->gaps == GAPS_LONGEST) {
            fprintf(stderr, "; the longest of %zu stretches between which nobody looked",
                    q->n_seen);
        }
        fputc('\n', stderr);
    }
    buf_release(&all);
    buf_release(&rows);
    return rc;
}

int spot_trace_run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct request q = {.step_s = STEP_S};
    int rc = take_request(app, args, &q, err);
    rc = rc ? rc : load(app, &q, err);
    if (rc == 0 && q.n_seen == 0) {
        rc = gt_fail(err, GT_ENOTFOUND, "spot trace", "nobody looked at it in the time asked for");
    }
    if (rc == 0 && q.gaps == GAPS_REFUSE && q.n_seen > 1) {
        char from[32], to[32];
        rc = gt_fail(err, GT_EINFEASIBLE, "",
                     "%zu gaps in which nobody looked, the first from %s to %s", q.n_seen - 1,
                     time_format(q.seen[0].to, from), time_format(q.seen[1].from, to));
    }
    if (rc == 0) {
        struct span s = choose(&q);
        rc = write_trace(app, &q, &s, err);
    }
    free(q.avail.p);
    free(q.cost.p);
    free(q.seen);
    return rc;
}
