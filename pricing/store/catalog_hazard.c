/* How often machines were taken away, by zone: from the shipped availability traces, and from the
 * series that this database recorded. Both say whether a launch would have succeeded; a launch that
 * is refused is counted as an interruption, so the rate is indicative and rather too high
 * (spot-model.md). Little evidence is none: see LEAST_*. */
#include "gputier/record.h"
#include "gputier/spot.h"
#include "gputier/units.h"
#include "store_impl.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_BYTES    ((size_t)16 << 20)
#define LEAST_LOOKED_H 72 /* three days looked at, one of them up */
#define LEAST_UP_H     24
#define HAZARDS_MAX    4096

struct tally {
    int64_t drops, up_s, looked_s;
};
struct hazards {
    struct loader *l;
    struct catalog_hazard *row;
    size_t n, cap;
};

/* Of a Poisson count: mean with half an event more (Jeffreys), and its 95 % interval by Wilson and
 * Hilferty's approximation of the gamma distribution. */
static void set_rate(struct catalog_hazard *h, const struct tally *t)
{
    double k = (double)t->drops + 0.5, hours = (double)t->up_s / 3600;
    double mid = 1 - 1 / (9 * k), wide = 1.96 / (3 * sqrt(k));
    h->drops = t->drops;
    h->up_h = hours;
    h->looked_h = (double)t->looked_s / 3600;
    h->rate_per_h = k / hours;
    h->lo_per_h = k * pow(fmax(0, mid - wide), 3) / hours;
    h->hi_per_h = k * pow(mid + wide, 3) / hours;
}

static bool enough(const struct tally *t)
{
    return t->looked_s >= LEAST_LOOKED_H * 3600 && t->up_s >= LEAST_UP_H * 3600;
}

/* A trace comes before a series, more hours before fewer: the weaker of two is left out. */
static int add(struct hazards *z, const struct catalog_hazard *h, struct gt_error *err)
{
    for (size_t i = 0; i < z->n; i++) {
        struct catalog_hazard *o = &z->row[i];
        if (o->vendor == h->vendor && o->region == h->region && o->zone == h->zone &&
            o->instance_type == h->instance_type) {
            if (h->trace > o->trace || (h->trace == o->trace && h->up_h > o->up_h)) {
                *o = *h;
            }
            return 0;
        }
    }
    if (z->n == HAZARDS_MAX) {
        return 0;
    }
    if (z->n == z->cap) {
        size_t cap = z->cap ? 2 * z->cap : 32;
        struct catalog_hazard *grown = arena_array(z->l->cat->arena, cap, sizeof *grown);
        if (grown == NULL) {
            return load_nomem(z->l, err);
        }
        if (z->n > 0) {
            memcpy(grown, z->row, z->n * sizeof *grown);
        }
        z->row = grown;
        z->cap = cap;
    }
    z->row[z->n++] = *h;
    return 0;
}

static bool read_trace(const struct loader *l, const char *path, struct arena *a,
                       struct spot_trace *out)
{
    char name[4096];
    struct gt_error ignored; /* a trace that cannot be read says nothing; `db check` is for files */
    char *text = malloc(TRACE_BYTES);
    int n = snprintf(name, sizeof name, "%s/%s", l->data_dir, path);
    FILE *f = text != NULL && n > 0 && n < (int)sizeof name ? fopen(name, "re") : NULL;
    size_t len = f != NULL ? fread(text, 1, TRACE_BYTES, f) : 0;
    bool ok =
        f != NULL && len < TRACE_BYTES && spot_trace_parse(text, len, path, a, out, &ignored) == 0;
    if (f != NULL) {
        (void)fclose(f);
    }
    free(text);
    return ok;
}

static struct tally tally_trace(const struct spot_trace *t)
{
    struct tally x = {.looked_s = (int64_t)t->n * t->gap_s};
    for (size_t i = 0; i < t->n; i++) {
        x.up_s += t->count[i] > 0 ? t->gap_s : 0;
        x.drops += i > 0 && t->count[i - 1] > 0 && t->count[i] == 0;
    }
    return x;
}

static uint32_t id_of(const struct loader *l, sqlite3_stmt *st, int col)
{
    const char *text = column_str(st, col);
    return intern_find(l->cat->strings, text, strlen(text));
}

/* Only of what the catalog sells: names that it does not hold need no file. */
static int load_traces(struct hazards *z, struct gt_error *err)
{
    struct loader *l = z->l;
    sqlite3_stmt *st = NULL;
    bool row = true;
    int rc = db_prepare(l->db,
                        "SELECT name, vendor, region, zone, instance_type, path FROM trace"
                        " WHERE nodes_probed = 1 ORDER BY name",
                        &st, err);
    while (rc == 0 && l->data_dir != NULL && (rc = db_step(l->db, st, &row, err)) == 0 && row) {
        struct catalog_hazard h = {.trace = 1};
        struct arena *a = NULL;
        struct spot_trace t;
        h.vendor = id_of(l, st, 1);
        h.region = id_of(l, st, 2);
        h.zone = id_of(l, st, 3);
        h.instance_type = id_of(l, st, 4);
        if (h.vendor == 0 || h.region == 0 || h.zone == 0 || h.instance_type == 0 ||
            (a = arena_new(0)) == NULL) {
            continue;
        }
        if (read_trace(l, column_str(st, 5), a, &t)) {
            struct tally x = tally_trace(&t);
            const char *name = column_str(st, 0);
            h.basis = intern_add(l->cat->strings, name, strlen(name));
            if (enough(&x) && h.basis != UINT32_MAX) {
                set_rate(&h, &x);
                rc = add(z, &h, err);
            }
        }
        arena_free(a);
    }
    (void)sqlite3_finalize(st);
    return rc;
}

/* Adds the times looked at, points and spans in order; until: nothing later counts. */
static int tally_span(const struct loader *l, sqlite3_stmt *points, int64_t from, int64_t to,
                      struct tally *x, struct gt_error *err)
{
    int64_t at = from, value = -1;
    bool row = true;
    int rc = 0;
    (void)sqlite3_reset(points);
    while (rc == 0 && (rc = db_step(l->db, points, &row, err)) == 0 && row) {
        int64_t when = sqlite3_column_int64(points, 0), now = sqlite3_column_int64(points, 1);
        if (when > to) {
            break;
        }
        if (when > at) {
            x->up_s += value > 0 ? when - at : 0;
            x->looked_s += value >= 0 ? when - at : 0;
            x->drops += value > 0 && now == 0;
            at = when;
        }
        value = now;
    }
    if (rc == 0 && to > at) {
        x->up_s += value > 0 ? to - at : 0;
        x->looked_s += value >= 0 ? to - at : 0;
    }
    (void)sqlite3_reset(points);
    return rc;
}

static int tally_pool(const struct loader *l, sqlite3_stmt *pool, sqlite3_stmt *spans,
                      sqlite3_stmt *points, int64_t until, struct tally *x, struct gt_error *err)
{
    bool row = true;
    int rc = 0;
    (void)sqlite3_reset(spans);
    (void)sqlite3_bind_value(spans, 1, sqlite3_column_value(pool, 6));
    for (int i = 0; i < 3; i++) {
        (void)sqlite3_bind_value(points, i + 1, sqlite3_column_value(pool, 7 + i));
    }
    while (rc == 0 && (rc = db_step(l->db, spans, &row, err)) == 0 && row) {
        int64_t from = sqlite3_column_int64(spans, 0), to = sqlite3_column_int64(spans, 1);
        to = to < until ? to : until;
        if (to > from) {
            rc = tally_span(l, points, from, to, x, err);
        }
    }
    return rc;
}

/* Series of what is sold as spot here. */
static const char pools_sql[] =
    "SELECT p.vendor, p.region, p.zone, t.name, s.name, (SELECT min(first) FROM observed o"
    "   WHERE o.feed = k.feed), k.feed, k.instance_type, k.place, f.source"
    " FROM pool k JOIN place p ON p.id = k.place JOIN instance_type t ON t.id = k.instance_type"
    " JOIN feed f ON f.id = k.feed JOIN source s ON s.id = f.source"
    " WHERE EXISTS (SELECT 1 FROM offer o WHERE o.instance_type = k.instance_type"
    "   AND o.place = k.place AND o.purchase = 1 AND o.known_to IS NULL)"
    " AND EXISTS (SELECT 1 FROM observed o WHERE o.feed = k.feed AND o.step > 0) ORDER BY 1, 2, 3, "
    "4, 5";

static int load_series(struct hazards *z, struct gt_error *err)
{
    struct loader *l = z->l;
    sqlite3_stmt *pool = NULL, *spans = NULL, *points = NULL;
    int64_t until = l->at ? l->cat->as_of : INT64_MAX;
    bool row = true;
    int rc = db_prepare(l->db, pools_sql, &pool, err);
    rc = rc ? rc
            : db_prepare(l->db,
                         "SELECT first, last + step FROM observed WHERE feed = ?1 ORDER BY first",
                         &spans, err);
    rc = rc ? rc
            : db_prepare(l->db,
                         "SELECT time, available FROM spot_point WHERE instance_type = ?1"
                         " AND place = ?2 AND source = ?3 AND available IS NOT NULL ORDER BY time",
                         &points, err);
    while (rc == 0 && (rc = db_step(l->db, pool, &row, err)) == 0 && row) {
        struct catalog_hazard h = {.vendor = id_of(l, pool, 0),
                                   .region = id_of(l, pool, 1),
                                   .zone = id_of(l, pool, 2),
                                   .instance_type = id_of(l, pool, 3),
                                   .basis = id_of(l, pool, 4),
                                   .since = column_time(pool, 5)};
        struct tally x = {0};
        rc = tally_pool(l, pool, spans, points, until, &x, err);
        if (rc == 0 && enough(&x)) {
            set_rate(&h, &x);
            rc = add(z, &h, err);
        }
    }
    (void)sqlite3_finalize(pool);
    (void)sqlite3_finalize(spans);
    (void)sqlite3_finalize(points);
    return rc;
}

int load_hazards(struct loader *l, struct gt_error *err)
{
    struct hazards z = {.l = l};
    int rc = load_traces(&z, err);
    rc = rc ? rc : load_series(&z, err);
    l->cat->hazards = z.row;
    l->cat->n_hazards = z.n;
    return rc;
}
