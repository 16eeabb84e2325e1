/* GCP in SkyPilot's catalogue: a machine's price stands in one row (without its accelerator) and
 * the accelerators' in others (without a machine), per zone; the price of a GPU machine is their
 * sum (docs/pricing-sources.md section 10, 45). Both kinds are kept until the end, in any order. */
#include "gpu_names.h"
#include "skypilot.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which accelerator a machine family carries. count: by the last number of the type ("-8g"),
 * 0 = by the table of instances. */
static const struct {
    const char *family, *accelerator;
} carries[] = {
    {"a2-highgpu-", "A100"},  {"a2-megagpu-", "A100"}, {"a2-ultragpu-", "A100-80GB"},
    {"a3-highgpu-", "H100"},  {"a3-edgegpu-", "H100"}, {"a3-megagpu-", "H100-MEGA"},
    {"a3-ultragpu-", "H200"}, {"a4-highgpu-", "B200"}, {"g2-standard-", "L4"},
};
/* N1 machines take accelerators of one's choice: one machine of a fitting size each. */
static const struct {
    const char *accelerator;
    int count;
    const char *machine;
} attach[] = {
    {"T4", 1, "n1-standard-8"},    {"T4", 2, "n1-standard-16"},   {"T4", 4, "n1-standard-32"},
    {"P4", 1, "n1-standard-8"},    {"P4", 2, "n1-standard-16"},   {"P4", 4, "n1-standard-32"},
    {"V100", 1, "n1-standard-8"},  {"V100", 2, "n1-standard-16"}, {"V100", 4, "n1-standard-32"},
    {"V100", 8, "n1-standard-64"}, {"P100", 1, "n1-standard-8"},  {"P100", 2, "n1-standard-16"},
    {"P100", 4, "n1-standard-32"},
};

struct part { /* one row, of a machine that may carry accelerators or of accelerators */
    uint32_t zone, name, region;
    int32_t count;     /* accelerators only */
    money price, spot; /* 0 = none */
    float vcpus, memory_gib;
};
struct gcp {
    struct part *machine, *accelerator;
    size_t n_machines, n_accelerators, cap_machines, cap_accelerators;
};

static const char *carried_by(const char *type)
{
    for (size_t i = 0; i < sizeof carries / sizeof *carries; i++) {
        if (strncmp(type, carries[i].family, strlen(carries[i].family)) == 0) {
            return carries[i].accelerator;
        }
    }
    return NULL;
}

static bool may_attach(const char *type)
{
    for (size_t i = 0; i < sizeof attach / sizeof *attach; i++) {
        if (strcmp(type, attach[i].machine) == 0) {
            return true;
        }
    }
    return false;
}

/* A machine without the "-nolssd" of the twins that come without local disks. */
static void plain_type(const char *type, char out[64])
{
    snprintf(out, 64, "%s", type);
    char *tail = strstr(out, "-nolssd");
    if (tail) {
        *tail = '\0';
    }
}

static struct part *add(struct parser *p, struct part **list, size_t *n, size_t *cap)
{
    if (*n == *cap) {
        size_t more = *cap ? *cap * 2 : 256;
        struct part *l = arena_array(p->arena, more, sizeof *l);
        if (!l) {
            return NULL;
        }
        if (*n > 0) {
            memcpy(l, *list, *n * sizeof *l);
        }
        *list = l;
        *cap = more;
    }
    return &(*list)[(*n)++];
}

/* "tpu-v3-8": a slice's name counts cores, two a chip, up to v5p but for v5e; then chips
 * (docs/gpu-data-notes.md). A generation that is not known keeps the name of the slice. */
static void take_tpu(struct offer_row *o)
{
    static const struct {
        const char *slice, *model;
        int per_chip;
    } generations[] = {{"tpu-v2-", "TPU v2", 2},         {"tpu-v3-", "TPU v3", 2},
                       {"tpu-v4-", "TPU v4", 2},         {"tpu-v5p-", "TPU v5p", 2},
                       {"tpu-v5litepod-", "TPU v5e", 1}, {"tpu-v6e-", "TPU v6e", 1}};
    o->gpu = o->instance_type;
    o->gpu_num = 1;
    for (size_t i = 0; i < sizeof generations / sizeof *generations; i++) {
        size_t k = strlen(generations[i].slice);
        double size = strncmp(o->instance_type, generations[i].slice, k) == 0
                          ? src_figure(o->instance_type + k)
                          : -1;
        if (size >= generations[i].per_chip && size <= 65536) {
            o->gpu = generations[i].model;
            o->gpu_num = (int32_t)size / generations[i].per_chip;
            o->gpu_memory_gib = gpu_model_memory(o->gpu);
        }
    }
}

int sky_gcp_row(struct parser *p, const struct csv_row *row, struct offer_row *o,
                struct gt_error *err)
{
    const char *price = table_text(p, row, SKY_PRICE), *spot = table_text(p, row, SKY_SPOT);
    const char *accelerator = table_text(p, row, SKY_GPU);
    bool machine = *o->instance_type != '\0';
    if (!machine && !src_name_ok(accelerator)) {
        return table_bad(p, row, SKY_TYPE, err);
    }
    if (!machine && strncmp(accelerator, "tpu", 3) == 0) { /* sold without a machine */
        o->instance_type = accelerator;
        take_tpu(o);
        int rc = sky_put(p, o, price, spot, err);
        return rc == GT_EPARSE ? table_bad(p, row, SKY_PRICE, err) : rc;
    }
    if (machine && !src_name_ok(o->instance_type)) {
        return table_bad(p, row, SKY_TYPE, err);
    }
    if (machine && !carried_by(o->instance_type)) {
        int rc = sky_put(p, o, price, spot, err);
        rc = rc == GT_EPARSE ? table_bad(p, row, SKY_PRICE, err) : rc;
        if (rc != 0 || !may_attach(o->instance_type)) {
            return rc;
        }
    }
    struct gcp *g = p->state;
    if (!g && !(g = p->state = arena_alloc(p->arena, sizeof *g))) {
        return gt_fail(err, GT_ENOMEM, p->ctx->name, "out of memory");
    }
    struct part part = {.vcpus = (float)o->vcpus, .memory_gib = (float)o->memory_gib};
    int32_t den = 1;
    if ((*price && src_price(price, &part.price) != 0) ||
        (*spot && src_price(spot, &part.spot) != 0)) {
        return table_bad(p, row, SKY_PRICE, err);
    }
    if (!machine &&
        (src_gpu_count(table_text(p, row, SKY_GPU_COUNT), &part.count, &den) != 0 || den != 1)) {
        return table_bad(p, row, SKY_GPU_COUNT, err);
    }
    const char *name = machine ? o->instance_type : accelerator;
    part.name = intern_add(p->strings, name, strlen(name));
    part.zone = intern_add(p->strings, o->zone, strlen(o->zone));
    part.region = intern_add(p->strings, o->region, strlen(o->region));
    struct part *slot = machine ? add(p, &g->machine, &g->n_machines, &g->cap_machines)
                                : add(p, &g->accelerator, &g->n_accelerators, &g->cap_accelerators);
    if (!slot || part.name == UINT32_MAX || part.zone == UINT32_MAX || part.region == UINT32_MAX) {
        return gt_fail(err, GT_ENOMEM, p->ctx->name, "out of memory");
    }
    *slot = part;
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->region != y->region) {
        return x->region < y->region ? -1 : 1;
    }
    if (x->zone != y->zone) {
        return x->zone < y->zone ? -1 : 1;
    }
    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    return x->count < y->count ? -1 : x->count > y->count;
}

static int put_sum(struct parser *p, const struct part *m, const struct part *a, const char *type,
                   struct gt_error *err)
{
    char price[MONEY_TEXT] = "", spot[MONEY_TEXT] = "";
    const char *accelerator = intern_text(p->strings, a->name);
    struct offer_row o = src_offer(p->ctx);
    o.vendor = "gcp";
    o.region = intern_text(p->strings, m->region);
    o.zone = intern_text(p->strings, m->zone);
    o.instance_type = type;
    o.vcpus = (double)m->vcpus;
    o.memory_gib = (double)m->memory_gib;
    char plain[64];
    plain_type(type, plain);
    o.gpu = gpu_canonical(accelerator, -1, "gcp", plain).model;
    o.gpu_num = a->count;
    o.gpu_memory_gib = gpu_model_memory(o.gpu);
    o.note = "machine and accelerator added up from two rows of the catalogue";
    /* a4 machines have a price of 0: all of it stands in the accelerator's row */
    if (a->price > 0) {
        money_format(m->price + a->price, price);
    }
    if (a->spot > 0 && (m->spot > 0 || m->price == 0)) {
        money_format(m->spot + a->spot, spot);
    }
    return sky_put(p, &o, price, spot, err);
}

static const struct part *find(const struct gcp *g, struct part *key)
{
    return g->n_accelerators == 0
               ? NULL
               : bsearch(key, g->accelerator, g->n_accelerators, sizeof *key, by_place);
}

static int compose_carried(struct parser *p, const struct gcp *g, const struct part *m,
                           struct gt_error *err)
{
    const char *type = intern_text(p->strings, m->name);
    char plain[64];
    plain_type(type, plain);
    const struct gpu_instance *known = gpu_of_instance("gcp", plain);
    const char *accelerator = carried_by(type);
    struct part key = *m;
    key.name = intern_find(p->strings, accelerator, strlen(accelerator));
    key.count = known ? known->num : 0;
    const struct part *a = key.name ? find(g, &key) : NULL;
    if (!a) { /* the machine alone has no price that anybody could pay */
        src_skip(p->ctx, "machines without their GPU's price", 1);
        return 0;
    }
    return put_sum(p, m, a, type, err);
}

static int compose_attached(struct parser *p, const struct gcp *g, const struct part *m,
                            struct gt_error *err)
{
    const char *type = intern_text(p->strings, m->name);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof attach / sizeof *attach; i++) {
        struct part key = *m;
        key.count = attach[i].count;
        key.name = intern_find(p->strings, attach[i].accelerator, strlen(attach[i].accelerator));
        const struct part *a =
            strcmp(type, attach[i].machine) == 0 && key.name ? find(g, &key) : NULL;
        if (a) {
            char name[64];
            snprintf(name, sizeof name, "%s+%dx%s", type, attach[i].count, attach[i].accelerator);
            rc = put_sum(p, m, a, name, err);
        }
    }
    return rc;
}

int sky_gcp_end(struct parser *p, struct gt_error *err)
{
    struct gcp *g = p->state;
    if (!g) {
        return 0;
    }
    if (g->n_accelerators > 0) {
        qsort(g->accelerator, g->n_accelerators, sizeof *g->accelerator, by_place);
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < g->n_machines; i++) {
        const struct part *m = &g->machine[i];
        rc = carried_by(intern_text(p->strings, m->name)) ? compose_carried(p, g, m, err)
                                                          : compose_attached(p, g, m, err);
    }
    return rc;
}
