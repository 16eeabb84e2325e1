/* Verda, once DataCrunch (docs/pricing-sources.md section 5): what is free where, then the types;
 * both lists may follow one another, availability first. Prices are text; GPU memory is the total
 * of the machine. A type that is free nowhere keeps its price. */
#include "../http/http.h"
#include "cloud.h"
#include <stdio.h>
#include <string.h>

struct place {
    struct place *next;
    const char *region;
    struct free_type {
        struct free_type *next;
        const char *name;
    } * type;
};

static const struct cloud_map map = {
    .vendor = "verda",
    .type = "instance_type",
    .gpu = "name",
    .gpu_count = "gpu.number_of_gpus",
    .gpu_memory = "gpu_memory.size_in_gigabytes",
    .gpu_memory_total = true,
    .vcpus = "cpu.number_of_cores",
    .memory = "memory.size_in_gigabytes",
    .currency = "currency",
    .price = "price_per_hour",
    .spot = "spot_price",
};

static int take_place(struct records *r, const struct rec *e, struct gt_error *err)
{
    struct place *p = arena_alloc(r->arena, sizeof *p);
    const struct rec *types = rec_get(e, "availabilities");
    if (!src_name_ok(rec_text(e, "location_code"))) {
        return records_bad(r, "location", rec_text(e, "location_code"), err);
    }
    if (!p || !(p->region = arena_strdup(r->arena, rec_text(e, "location_code")))) {
        return gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
    }
    for (const struct rec *q = types ? types->child : NULL; q; q = q->next) {
        struct free_type *t = arena_alloc(r->arena, sizeof *t);
        if (!t || !(t->name = arena_strdup(r->arena, q->text))) {
            return gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
        }
        t->next = p->type;
        p->type = t;
    }
    p->next = r->state;
    r->state = p;
    return 0;
}

static bool is_free(const struct place *p, const char *type)
{
    const struct free_type *t = p->type;
    while (t && strcmp(t->name, type) != 0) {
        t = t->next;
    }
    return t != NULL;
}

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    (void)list;
    struct cloud_machine m;
    if (rec_get(e, "location_code")) {
        return take_place(r, e, err);
    }
    int rc = cloud_read(r, &map, e, &m, err);
    if (rc != 0) {
        return rc == GT_ENOTFOUND ? 0 : rc;
    }
    const struct place *p = r->state;
    if (p && !m.o.note) {
        m.o.note = "in no region when the list was read";
    }
    bool any = false;
    for (; p && rc == 0; p = p->next) {
        bool here = is_free(p, m.o.instance_type);
        if (here) {
            struct cloud_machine there = m;
            there.o.note = NULL;
            rc = cloud_put(r, &there, p->region, err);
            any = true;
        }
        rc = rc ? rc : cloud_put_capacity(r, &m, p->region, -1, here, err);
    }
    return rc || any ? rc : cloud_put(r, &m, CLOUD_ANY_REGION, err);
}

/* Places that the list of free types no longer has are empty. */
static int end(struct records *r, struct gt_error *err)
{
    (void)err;
    if (r->state) {
        staging_series_complete(r->ctx->staging);
    }
    return 0;
}

static const struct records_shape shape = {
    .list = {""}, .entry = entry, .end = end, .regions_vary = true, .pages = true};

const struct source_def source_verda = {
    .id = "verda",
    .vendor = "verda",
    .default_url = "https://api.verda.com/v1",
    .needs_key = true,
    .default_on = true,
    .expected_bytes = 100000,
    .help = "Verda's types on demand and spot, and where they are free",
    .known_by = {{"\"instance_type\"", "\"number_of_gpus\""},
                 {"\"location_code\"", "\"availabilities\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_next = records_next,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = verda_fetch,
};
