/* store_load_catalog: reads everything known at one instant into columns, in one read transaction.
 * This file drives and holds what the parts share; catalog_reference.c loads GPUs, models, exchange
 * rates and bench results, catalog_offers.c and catalog_rates.c the prices. */
#include "gputier/units.h"
#include "store_impl.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int load_nomem(const struct loader *l, struct gt_error *err)
{
    return gt_fail(err, GT_ENOMEM, l->db->path, "out of memory while loading the catalog");
}

int load_text(const struct loader *l, sqlite3_stmt *st, int col, struct text_cache *cache,
              uint32_t *id, struct gt_error *err)
{
    const char *text = (const char *)sqlite3_column_text(st, col);
    size_t len = text != NULL ? (size_t)sqlite3_column_bytes(st, col) : 0;
    *id = 0;
    if (len == 0) {
        return 0;
    }
    if (len == cache->len && memcmp(text, cache->text, len) == 0) {
        *id = cache->id;
        return 0;
    }
    *id = cache->single ? intern_append(l->cat->strings, text, len)
                        : intern_add(l->cat->strings, text, len);
    if (*id == UINT32_MAX) {
        return load_nomem(l, err);
    }
    cache->id = *id;
    cache->len = len;
    cache->text = intern_text(l->cat->strings, *id);
    return 0;
}

int load_prepare(const struct loader *l, const char *head, enum load_valid which, const char *tail,
                 sqlite3_stmt **st, struct gt_error *err)
{
    const char *known = l->at ? "o.known_from <= ?1 AND (o.known_to IS NULL OR o.known_to > ?1)"
                              : "o.known_to IS NULL";
    char early[40] = "", valid[160] = "";
    if (which == LOAD_OFFERS) {
        snprintf(early, sizeof early, " OR o.purchase = %d", PURCHASE_CAPACITY_BLOCK);
    }
    if (which != LOAD_ALL) {
        snprintf(valid, sizeof valid,
                 " AND (o.valid_from IS NULL OR o.valid_from <= ?1%s)"
                 " AND (o.valid_to IS NULL OR o.valid_to > ?1)",
                 early);
    }
    char *sql = sqlite3_mprintf("%s WHERE %s%s %s", head, known, valid, tail);
    if (sql == NULL) {
        return load_nomem(l, err);
    }
    int rc = db_prepare(l->db, sql, st, err);
    sqlite3_free(sql);
    if (rc == 0 && sqlite3_bind_parameter_count(*st) > 0) {
        (void)sqlite3_bind_int64(*st, 1, l->cat->as_of);
    }
    return rc;
}

int64_t load_date(const struct feed_info *f, int64_t row_date)
{
    return f->as_of != GT_TIME_NONE ? f->as_of : row_date;
}

int load_conflict(const struct loader *l, uint32_t *note, uint32_t source, const char *says,
                  int64_t date, struct gt_error *err)
{
    char day[16], text[512];
    const char *old = intern_text(l->cat->strings, *note);
    int n = snprintf(text, sizeof(text), "%.300s%s%.60s says %.90s as of %s", old,
                     old[0] != '\0' ? "; " : "", intern_text(l->cat->strings, source), says,
                     date == GT_TIME_NONE ? "an unknown date" : date_format(date, day));
    size_t len = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
    *note = intern_add(l->cat->strings, text, len);
    return *note == UINT32_MAX ? load_nomem(l, err) : 0;
}

/* Array for rows with ids up to the table's highest. */
static int by_id(struct loader *l, const char *table, size_t size, void **out, size_t *n,
                 struct gt_error *err)
{
    char sql[80];
    int64_t top = 0;
    (void)snprintf(sql, sizeof(sql), "SELECT max(id) FROM %s", table);
    int rc = db_int(l->db, sql, &top, err);
    if (rc != 0) {
        return rc;
    }
    if (top < 0 || top > 100000000) {
        return gt_fail(err, GT_EDB, l->db->path, "table %s has an id out of range", table);
    }
    *n = (size_t)top + 1;
    *out = calloc(*n, size);
    return *out == NULL ? load_nomem(l, err) : 0;
}

static int load_feeds(struct loader *l, struct gt_error *err)
{
    void *rows = NULL;
    int rc = by_id(l, "feed", sizeof(*l->feeds), &rows, &l->n_feeds, err);
    l->feeds = rows;
    sqlite3_stmt *st = NULL;
    if (rc == 0) {
        rc = db_prepare(
            l->db,
            "SELECT f.id, s.name, f.bundled, f.scope,"
            " (SELECT max(started) FROM fetch_run r WHERE r.feed = f.id"
            "   AND r.state IN ('published', 'unchanged') AND r.started <= ?1),"
            " (SELECT as_of FROM fetch_run r WHERE r.feed = f.id AND r.state = 'published'"
            "   AND r.started <= ?1 ORDER BY id DESC LIMIT 1),"
            " (SELECT origin FROM fetch_run r WHERE r.feed = f.id AND r.state = 'published'"
            "   AND r.started <= ?1 ORDER BY id DESC LIMIT 1)"
            " FROM feed f JOIN source s ON s.id = f.source",
            &st, err);
    }
    bool row = rc == 0;
    struct text_cache cache[2] = {{0}};
    if (rc == 0) {
        (void)sqlite3_bind_int64(st, 1, l->at ? l->cat->as_of : INT64_MAX);
    }
    while (rc == 0 && row && (rc = db_step(l->db, st, &row, err)) == 0 && row) {
        struct feed_info *f = &l->feeds[sqlite3_column_int64(st, 0)];
        bool bundled = sqlite3_column_int(st, 2) != 0;
        rc = load_text(l, st, 1, &cache[0], &f->source, err);
        rc = rc == 0 ? load_text(l, st, 3, &cache[1], &f->scope, err) : rc;
        f->origin = bundled ? ORIGIN_BUNDLED : (uint8_t)sqlite3_column_int(st, 6);
        f->fetched_at = bundled ? GT_TIME_NONE : column_time(st, 4);
        f->as_of = bundled ? GT_TIME_NONE : column_time(st, 5);
    }
    (void)sqlite3_finalize(st);
    return rc == 0 ? load_precedence(l, err) : rc;
}

static int load_places(struct loader *l, struct gt_error *err)
{
    void *rows = NULL;
    int rc = by_id(l, "place", sizeof(*l->places), &rows, &l->n_places, err);
    l->places = rows;
    sqlite3_stmt *st = NULL;
    if (rc == 0) {
        rc = db_prepare(l->db,
                        "SELECT p.id, p.vendor, p.region, p.zone, (SELECT w.id FROM place w"
                        " WHERE p.zone <> '' AND w.vendor = p.vendor AND w.region = p.region"
                        " AND w.zone = '') FROM place p",
                        &st, err);
    }
    bool row = rc == 0;
    struct text_cache cache[3] = {{0}};
    while (rc == 0 && row && (rc = db_step(l->db, st, &row, err)) == 0 && row) {
        struct place_info *p = &l->places[sqlite3_column_int64(st, 0)];
        uint32_t *const id[] = {&p->vendor, &p->region, &p->zone};
        for (int i = 0; rc == 0 && i < 3; i++) {
            rc = load_text(l, st, 1 + i, &cache[i], id[i], err);
        }
        p->whole_region = (uint32_t)sqlite3_column_int64(st, 4);
    }
    (void)sqlite3_finalize(st);
    return rc;
}

/* Other names of GPUs: of one vendor or (0) of all, with the memory that tells variants apart
 * (within 8 %). */
struct alias {
    uint32_t vendor, alias, model;
    double memory;
};

static int load_aliases(const struct loader *l, struct alias **out, size_t *n, struct gt_error *err)
{
    int64_t count = 0;
    sqlite3_stmt *st = NULL;
    int rc = db_int(l->db, "SELECT count(*) FROM gpu_alias", &count, err);
    struct alias *list = rc == 0 ? calloc((size_t)count + 1, sizeof(*list)) : NULL;
    if (rc == 0 && list == NULL) {
        rc = load_nomem(l, err);
    }
    if (rc == 0) { /* a vendor's own first, then the ones with memory: they are more exact */
        rc = db_prepare(l->db,
                        "SELECT vendor, alias, model, memory_gib FROM gpu_alias"
                        " ORDER BY vendor = '', memory_gib IS NULL, vendor, alias, memory_gib",
                        &st, err);
    }
    struct text_cache cache[3] = {{0}};
    bool row = rc == 0;
    *n = 0;
    while (rc == 0 && row && (rc = db_step(l->db, st, &row, err)) == 0 && row &&
           *n < (size_t)count) {
        uint32_t *const id[] = {&list[*n].vendor, &list[*n].alias, &list[*n].model};
        for (int i = 0; rc == 0 && i < 3; i++) {
            rc = load_text(l, st, i, &cache[i], id[i], err);
        }
        list[*n].memory = column_real(st, 3);
        ++*n;
    }
    (void)sqlite3_finalize(st);
    *out = list;
    return rc;
}

static void resolve_gpu(const struct loader *l, const struct alias *list, size_t n,
                        struct type_info *t)
{
    const char *name = intern_text(l->cat->strings, t->gpu);
    int spec = catalog_gpu(l->cat, name);
    for (size_t i = 0; spec < 0 && t->gpu != 0 && i < n; i++) {
        double m = list[i].memory, have = (double)t->gpu_memory_gib;
        if (list[i].alias == t->gpu && (list[i].vendor == 0 || list[i].vendor == t->vendor) &&
            (isnan(m) || fabs(have - m) <= 0.08 * m)) {
            t->gpu = list[i].model;
            spec = catalog_gpu(l->cat, intern_text(l->cat->strings, t->gpu));
        }
    }
    if (spec >= 0 && isnan(t->gpu_memory_gib) && t->num >= t->den) {
        t->gpu_memory_gib = (float)l->cat->gpus[spec].mem_gb;
    }
    t->spec = (int16_t)(spec >= 0 && spec <= INT16_MAX ? spec : -1);
}

static int load_types(struct loader *l, struct gt_error *err)
{
    void *rows = NULL;
    struct alias *aliases = NULL;
    size_t n_aliases = 0;
    sqlite3_stmt *st = NULL;
    int rc = by_id(l, "instance_type", sizeof(*l->types), &rows, &l->n_types, err);
    l->types = rows;
    if (rc == 0) {
        rc = load_aliases(l, &aliases, &n_aliases, err);
    }
    if (rc == 0) {
        rc = db_prepare(l->db,
                        "SELECT id, vendor, name, gpu, gpu_num, gpu_den, gpu_memory_gib, vcpus,"
                        " memory_gib, local_nvme_gb, network_gbps FROM instance_type",
                        &st, err);
    }
    bool row = rc == 0;
    struct text_cache cache[3] = {{0}};
    while (rc == 0 && row && (rc = db_step(l->db, st, &row, err)) == 0 && row) {
        struct type_info *t = &l->types[sqlite3_column_int64(st, 0)];
        uint32_t *const id[] = {&t->vendor, &t->name, &t->gpu};
        for (int i = 0; rc == 0 && i < 3; i++) {
            rc = load_text(l, st, 1 + i, &cache[i], id[i], err);
        }
        t->num = (uint16_t)sqlite3_column_int(st, 4);
        t->den = (uint16_t)sqlite3_column_int(st, 5);
        float *const fact[] = {&t->gpu_memory_gib, &t->vcpus, &t->memory_gib, &t->local_nvme_gb,
                               &t->network_gbps};
        for (int i = 0; i < 5; i++) {
            *fact[i] = (float)column_real(st, 6 + i);
        }
        resolve_gpu(l, aliases, n_aliases, t);
    }
    (void)sqlite3_finalize(st);
    free(aliases);
    return rc;
}

int load_dimensions(struct loader *l, struct gt_error *err)
{
    int rc = load_feeds(l, err);
    if (rc == 0) {
        rc = load_places(l, err);
    }
    return rc == 0 ? load_types(l, err) : rc;
}

static int load_all(struct loader *l, struct gt_error *err)
{
    int64_t runs = 0;
    int rc = db_int(l->db,
                    "SELECT (SELECT coalesce(max(id), 0) FROM fetch_run) * 65536"
                    " + (SELECT coalesce(max(id), 0) FROM bench_run)",
                    &runs, err);
    l->cat->generation = (uint64_t)runs;
    int (*const part[])(struct loader *, struct gt_error *) = {
        load_reference, load_dimensions,   load_offers, load_storage,
        load_transfer,  load_interruption, load_hazards};
    for (size_t i = 0; rc == 0 && i < sizeof(part) / sizeof(part[0]); i++) {
        rc = part[i](l, err);
    }
    return rc;
}

int store_load_catalog(struct store *s, const struct load_options *o, struct catalog **out,
                       struct gt_error *err)
{
    *out = NULL;
    struct loader l = {.db = &s->db,
                       .data_dir = s->data_dir,
                       .cat = calloc(1, sizeof(*l.cat)),
                       .at = o->as_of != GT_TIME_NONE,
                       .with_cpu_only = o->with_cpu_only};
    if (l.cat == NULL) {
        return load_nomem(&l, err);
    }
    l.cat->as_of = l.at ? o->as_of : s->now;
    l.cat->arena = arena_new(0);
    l.cat->strings = l.cat->arena != NULL ? intern_new(l.cat->arena) : NULL;
    int rc = l.cat->strings == NULL ? load_nomem(&l, err) : 0;
    store_lock(s);
    if (rc == 0) {
        rc = db_exec(&s->db, "BEGIN", err);
    }
    if (rc == 0) {
        rc = load_all(&l, err);
        db_rollback(&s->db);
    }
    store_unlock(s);
    free(l.feeds);
    free(l.places);
    free(l.types);
    if (rc != 0) {
        catalog_free(l.cat);
        return rc;
    }
    *out = l.cat;
    return 0;
}
