/* Storage and transfer rates and interruption bands of the catalog. Brackets of one component come
 * from one source, chosen by precedence.c; a note names another source whose rate differs by more
 * than 1 %. Rows are in text order, which catalog.c searches. */
#include "gputier/units.h"
#include "store_impl.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A rate of either kind while groups are compared. */
struct rate {
    uint32_t name[4]; /* vendor, region, tier, component | vendor, from, to, - */
    uint32_t feed, currency, sku, note;
    uint64_t unit; /* storage: unit; transfer: gb_bytes */
    uint32_t unit_qty;
    money from, to, rate;
    int64_t as_of, id;
};
struct rates {
    struct rate *row;
    size_t n, cap;
};
static const char storage_sql[] =
    "SELECT p.vendor, p.region, o.tier, o.component, o.feed, o.currency, o.sku, o.note, o.unit,"
    " o.unit_qty, o.from_qty, o.to_qty, o.rate, o.as_of, o.id"
    " FROM storage_rate o JOIN place p ON p.id = o.place";
static const char storage_order[] =
    "ORDER BY 1, 2, 3, 4, o.feed, CAST(o.from_qty AS REAL), o.valid_from";
static const char transfer_sql[] =
    "SELECT p.vendor, p.region, o.destination, '', o.feed, o.currency, o.sku, o.note, o.gb_bytes,"
    " 1, o.from_gb, o.to_gb, o.rate, o.as_of, o.id"
    " FROM transfer_rate o JOIN place p ON p.id = o.place";
static const char transfer_order[] =
    "ORDER BY 1, 2, 3, o.feed, CAST(o.from_gb AS REAL), o.valid_from";

static int read_rate(const struct loader *l, sqlite3_stmt *st, struct text_cache *cache,
                     bool storage, struct rate *r, struct gt_error *err)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < 4; i++) {
        rc = load_text(l, st, i, &cache[i], &r->name[i], err);
    }
    uint32_t *const text[] = {&r->currency, &r->sku, &r->note};
    for (int i = 0; rc == 0 && i < 3; i++) {
        rc = load_text(l, st, 5 + i, &cache[4 + i], text[i], err);
    }
    r->feed = (uint32_t)sqlite3_column_int(st, 4);
    r->id = sqlite3_column_int64(st, 14);
    enum storage_unit unit = SU_GIB_MONTH;
    if (rc == 0 && (r->feed >= l->n_feeds ||
                    (storage && storage_unit_from_name(column_str(st, 8), &unit) != 0))) {
        rc = gt_fail(err, GT_EDB, l->db->path, "rate %lld has an unknown feed or unit",
                     (long long)r->id);
    }
    r->unit = storage ? (uint64_t)unit : (uint64_t)sqlite3_column_int64(st, 8);
    r->unit_qty = (uint32_t)sqlite3_column_int64(st, 9);
    if (rc == 0) {
        rc = column_money(l->db, st, 10, &r->from, err);
    }
    if (rc == 0 && sqlite3_column_type(st, 11) == SQLITE_NULL) {
        r->to = -1;
    } else if (rc == 0) {
        rc = column_money(l->db, st, 11, &r->to, err);
    }
    if (rc == 0) {
        rc = column_money(l->db, st, 12, &r->rate, err);
        r->as_of = load_date(&l->feeds[r->feed], column_time(st, 13));
    }
    return rc;
}

static int read_rates(const struct loader *l, bool storage, struct rates *out, struct gt_error *err)
{
    sqlite3_stmt *st = NULL;
    int rc = storage ? load_prepare(l, storage_sql, LOAD_IN_FORCE, storage_order, &st, err)
                     : load_prepare(l, transfer_sql, LOAD_IN_FORCE, transfer_order, &st, err);
    struct text_cache cache[7] = {{0}};
    bool row = rc == 0;
    while (rc == 0 && row && (rc = db_step(l->db, st, &row, err)) == 0 && row) {
        if (out->n == out->cap) {
            size_t cap = out->cap == 0 ? 1024 : out->cap * 2;
            struct rate *grown = realloc(out->row, cap * sizeof(*grown));
            if (grown == NULL) {
                rc = load_nomem(l, err);
                break;
            }
            out->row = grown;
            out->cap = cap;
        }
        rc = read_rate(l, st, cache, storage, &out->row[out->n], err);
        out->n += rc == 0;
    }
    (void)sqlite3_finalize(st);
    return rc;
}

/* End of the run of rows that share the key (and the feed) of row `at`. */
static size_t run_end(const struct rates *r, size_t at, bool same_feed)
{
    size_t end = at + 1;
    while (end < r->n && memcmp(r->row[end].name, r->row[at].name, sizeof(r->row[at].name)) == 0 &&
           (!same_feed || r->row[end].feed == r->row[at].feed)) {
        end++;
    }
    return end;
}

static int64_t newest(const struct rates *r, size_t at, size_t end)
{
    int64_t date = GT_TIME_NONE;
    for (; at < end; at++) {
        date = r->row[at].as_of > date ? r->row[at].as_of : date;
    }
    return date;
}

/* Notes in the shown bracket what the same bracket of another source says. */
static int compare(const struct loader *l, struct rates *r, size_t at, size_t end,
                   const struct rate *other, struct gt_error *err)
{
    for (size_t i = at; i < end; i++) {
        struct rate *shown = &r->row[i];
        if (shown->from != other->from || shown->unit != other->unit ||
            shown->unit_qty != other->unit_qty || shown->currency != other->currency ||
            l->feeds[shown->feed].source == l->feeds[other->feed].source) {
            continue;
        }
        double a = money_to_double(shown->rate), b = money_to_double(other->rate);
        if (fabs(a - b) > 0.01 * a) {
            char amount[MONEY_TEXT], says[90];
            (void)snprintf(says, sizeof(says), "%.60s %.3s", money_format(other->rate, amount),
                           intern_text(l->cat->strings, other->currency));
            int rc = load_conflict(l, &shown->note, l->feeds[other->feed].source, says,
                                   other->as_of, err);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

/* Keeps one source's rows per key, in place. */
static int choose(const struct loader *l, struct rates *r, struct gt_error *err)
{
    size_t kept = 0;
    int rc = 0;
    for (size_t at = 0, end; rc == 0 && at < r->n; at = end) {
        end = run_end(r, at, false);
        size_t best = at, best_end = run_end(r, at, true);
        for (size_t i = best_end; i < end; i = run_end(r, i, true)) {
            size_t i_end = run_end(r, i, true);
            struct claim x = {r->row[i].feed, PRICE_KNOWN, newest(r, i, i_end)},
                         y = {r->row[best].feed, PRICE_KNOWN, newest(r, best, best_end)};
            if (load_prefer(l, &x, &y) > 0) {
                best = i;
                best_end = i_end;
            }
        }
        for (size_t i = at; rc == 0 && i < end; i++) {
            if (i < best || i >= best_end) {
                rc = compare(l, r, best, best_end, &r->row[i], err);
            }
        }
        memmove(&r->row[kept], &r->row[best], (best_end - best) * sizeof(*r->row));
        kept += best_end - best;
    }
    r->n = kept;
    return rc;
}

/* Allocates the columns that both kinds share; NULL in *note when memory ends. */
struct shared {
    uint32_t *name[4], *currency, *sku, *source, *note;
    money *from, *to, *rate;
    uint8_t *origin;
    int64_t *as_of, *fetched_at, *id;
};
static int make_shared(const struct loader *l, const struct rates *r, struct shared *c,
                       struct gt_error *err)
{
    struct arena *a = l->cat->arena;
    size_t n = r->n + 1;
    uint32_t **const text[] = {&c->name[0],  &c->name[1], &c->name[2], &c->name[3],
                               &c->currency, &c->sku,     &c->source,  &c->note};
    money **const amount[] = {&c->from, &c->to, &c->rate};
    int64_t **const time[] = {&c->as_of, &c->fetched_at, &c->id};
    bool ok = true;
    for (size_t i = 0; i < 8; i++) {
        ok = ok && (*text[i] = arena_array(a, n, sizeof(uint32_t))) != NULL;
    }
    for (size_t i = 0; i < 3; i++) {
        ok = ok && (*amount[i] = arena_array(a, n, sizeof(money))) != NULL &&
             (*time[i] = arena_array(a, n, sizeof(int64_t))) != NULL;
    }
    ok = ok && (c->origin = arena_array(a, n, 1)) != NULL;
    if (!ok) {
        return load_nomem(l, err);
    }
    for (size_t i = 0; i < r->n; i++) {
        const struct rate *x = &r->row[i];
        const struct feed_info *f = &l->feeds[x->feed];
        for (size_t k = 0; k < 4; k++) {
            c->name[k][i] = x->name[k];
        }
        c->currency[i] = x->currency;
        c->sku[i] = x->sku;
        c->note[i] = x->note;
        c->source[i] = f->source;
        c->origin[i] = f->origin;
        c->fetched_at[i] = f->fetched_at;
        c->from[i] = x->from;
        c->to[i] = x->to;
        c->rate[i] = x->rate;
        c->as_of[i] = x->as_of;
        c->id[i] = x->id;
    }
    return 0;
}

int load_storage(struct loader *l, struct gt_error *err)
{
    struct rates r = {0};
    struct shared c = {0};
    int rc = read_rates(l, true, &r, err);
    if (rc == 0) {
        rc = choose(l, &r, err);
    }
    if (rc == 0) {
        rc = make_shared(l, &r, &c, err);
    }
    uint8_t *unit = rc == 0 ? arena_array(l->cat->arena, r.n + 1, sizeof(*unit)) : NULL;
    uint32_t *qty = rc == 0 ? arena_array(l->cat->arena, r.n + 1, sizeof(*qty)) : NULL;
    if (rc == 0 && (unit == NULL || qty == NULL)) {
        rc = load_nomem(l, err);
    }
    for (size_t i = 0; rc == 0 && i < r.n; i++) {
        unit[i] = (uint8_t)r.row[i].unit;
        qty[i] = r.row[i].unit_qty;
    }
    l->cat->storage = (struct catalog_storage){.n = rc == 0 ? r.n : 0,
                                               .vendor = c.name[0],
                                               .region = c.name[1],
                                               .tier = c.name[2],
                                               .component = c.name[3],
                                               .currency = c.currency,
                                               .sku = c.sku,
                                               .source = c.source,
                                               .note = c.note,
                                               .unit = unit,
                                               .origin = c.origin,
                                               .unit_qty = qty,
                                               .from_qty = c.from,
                                               .to_qty = c.to,
                                               .rate = c.rate,
                                               .as_of = c.as_of,
                                               .fetched_at = c.fetched_at,
                                               .id = c.id};
    free(r.row);
    return rc;
}

int load_transfer(struct loader *l, struct gt_error *err)
{
    struct rates r = {0};
    struct shared c = {0};
    int rc = read_rates(l, false, &r, err);
    if (rc == 0) {
        rc = choose(l, &r, err);
    }
    if (rc == 0) {
        rc = make_shared(l, &r, &c, err);
    }
    uint64_t *bytes = rc == 0 ? arena_array(l->cat->arena, r.n + 1, sizeof(*bytes)) : NULL;
    if (rc == 0 && bytes == NULL) {
        rc = load_nomem(l, err);
    }
    for (size_t i = 0; rc == 0 && i < r.n; i++) {
        bytes[i] = r.row[i].unit;
    }
    l->cat->transfer = (struct catalog_transfer){.n = rc == 0 ? r.n : 0,
                                                 .vendor = c.name[0],
                                                 .from = c.name[1],
                                                 .to = c.name[2],
                                                 .currency = c.currency,
                                                 .sku = c.sku,
                                                 .source = c.source,
                                                 .note = c.note,
                                                 .from_gb = c.from,
                                                 .to_gb = c.to,
                                                 .rate = c.rate,
                                                 .gb_bytes = bytes,
                                                 .origin = c.origin,
                                                 .as_of = c.as_of,
                                                 .fetched_at = c.fetched_at,
                                                 .id = c.id};
    free(r.row);
    return rc;
}

int load_interruption(struct loader *l, struct gt_error *err)
{
    struct arena *a = l->cat->arena;
    sqlite3_stmt *st = NULL;
    int64_t count = 0;
    int rc = db_int(l->db, "SELECT count(*) FROM interruption", &count, err);
    size_t n = (size_t)count, i = 0;
    uint32_t *name[4] = {NULL};
    float *value[3] = {NULL};
    for (int k = 0; k < 4; k++) {
        name[k] = arena_array(a, n + 1, sizeof(uint32_t));
    }
    for (int k = 0; k < 3; k++) {
        value[k] = arena_array(a, n + 1, sizeof(float));
    }
    int64_t *date = arena_array(a, n + 1, sizeof(*date));
    if (rc == 0 && (name[0] == NULL || name[1] == NULL || name[2] == NULL || name[3] == NULL ||
                    value[0] == NULL || value[1] == NULL || value[2] == NULL || date == NULL)) {
        rc = load_nomem(l, err);
    }
    if (rc == 0) {
        rc = load_prepare(l,
                          "SELECT p.vendor, p.region, t.name, o.feed, o.band_lo_pct, o.band_hi_pct,"
                          " o.savings_pct, o.as_of FROM interruption o JOIN place p"
                          " ON p.id = o.place JOIN instance_type t ON t.id = o.instance_type",
                          LOAD_ALL, "ORDER BY 1, 2, 3", &st, err);
    }
    struct text_cache cache[3] = {{0}};
    bool row = rc == 0;
    uint32_t last_feed = 0;
    while (rc == 0 && row && (rc = db_step(l->db, st, &row, err)) == 0 && row) {
        uint32_t id[3] = {0};
        for (int k = 0; rc == 0 && k < 3; k++) {
            rc = load_text(l, st, k, &cache[k], &id[k], err);
        }
        size_t feed = (size_t)sqlite3_column_int64(st, 3);
        if (rc != 0 || feed >= l->n_feeds) {
            continue;
        }
        int64_t when = load_date(&l->feeds[feed], column_time(st, 7));
        bool again =
            i > 0 && name[0][i - 1] == id[0] && name[1][i - 1] == id[1] && name[2][i - 1] == id[2];
        struct claim x = {(uint32_t)feed, PRICE_KNOWN, when};
        struct claim y = {last_feed, PRICE_KNOWN, again ? date[i - 1] : 0};
        if (again && load_prefer(l, &x, &y) <= 0) {
            continue;
        }
        i -= again; /* the better source takes the place of the other one */
        for (int k = 0; k < 3; k++) {
            name[k][i] = id[k];
            bool null = sqlite3_column_type(st, 4 + k) == SQLITE_NULL;
            value[k][i] = null ? -1 : (float)sqlite3_column_double(st, 4 + k);
        }
        name[3][i] = l->feeds[feed].source;
        date[i] = when;
        last_feed = (uint32_t)feed;
        i++;
    }
    (void)sqlite3_finalize(st);
    l->cat->interruption = (struct catalog_interruption){
        i, name[0], name[1], name[2], name[3], value[0], value[1], value[2], date};
    return rc;
}
