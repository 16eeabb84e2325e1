/* A catalog made by hand, row by row, for tests of what reads one. */
#ifndef GPUTIER_TINY_CATALOG_H
#define GPUTIER_TINY_CATALOG_H
#include "gputier/catalog.h"
#include "gputier/units.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TINY_ROWS  256
#define TINY_AS_OF 1796083200 /* 2026-12-01 */

struct tiny_offer {
    const char *vendor, *region, *type, *gpu;
    unsigned num, den;
    enum purchase purchase;
    enum price_state state;
    const char *price, *upfront, *month, *currency, *zone;
    double vcpus, memory_gib, nvme_gb, network_gbps;
    int64_t valid_from; /* 0 = always */
};
struct tiny_rate {
    const char *vendor, *region, *tier, *component;
    enum storage_unit unit;
    unsigned unit_qty;
    double from, to; /* to < 0 = no end */
    const char *rate;
};
struct tiny_transfer {
    const char *vendor, *from, *to, *rate;
    double from_gb, to_gb;
};

static inline money tiny_money(const char *text)
{
    money m = 0;
    if (text != NULL && money_parse(text, strlen(text), &m, NULL) != 0) {
        abort();
    }
    return m;
}

static inline money tiny_decimal(double v)
{
    money m = 0;
    if (v < 0) {
        return -1;
    }
    if (money_from_double(v, &m) != 0) {
        abort();
    }
    return m;
}

#define TINY_COLUMN(type, rows) ((type *)arena_array(c->arena, (rows) + 1, sizeof(type)))

static inline uint32_t tiny_text(struct catalog *c, const char *s)
{
    return intern_add(c->strings, s == NULL ? "" : s, strlen(s == NULL ? "" : s));
}

static inline struct catalog *tiny_new(const struct gpu_spec *gpus, size_t n_gpus,
                                       const struct model_profile *models, size_t n_models)
{
    struct catalog *c = calloc(1, sizeof *c);
    c->arena = arena_new(0);
    c->strings = intern_new(c->arena);
    c->as_of = TINY_AS_OF;
    c->gpus = gpus;
    c->n_gpus = n_gpus;
    c->models = models;
    c->n_models = n_models;
    return c;
}

static inline void tiny_offers(struct catalog *c, const struct tiny_offer *row, size_t n)
{
    struct catalog_offers *f = &c->offers;
    uint32_t *vendor = TINY_COLUMN(uint32_t, n), *region = TINY_COLUMN(uint32_t, n);
    uint32_t *type = TINY_COLUMN(uint32_t, n), *gpu = TINY_COLUMN(uint32_t, n);
    uint32_t *currency = TINY_COLUMN(uint32_t, n), *none = TINY_COLUMN(uint32_t, n);
    uint32_t *source = TINY_COLUMN(uint32_t, n), *zone = TINY_COLUMN(uint32_t, n);
    int16_t *spec = TINY_COLUMN(int16_t, n);
    uint16_t *num = TINY_COLUMN(uint16_t, n), *den = TINY_COLUMN(uint16_t, n);
    float *vcpus = TINY_COLUMN(float, n), *memory = TINY_COLUMN(float, n);
    float *nvme = TINY_COLUMN(float, n), *net = TINY_COLUMN(float, n);
    uint8_t *purchase = TINY_COLUMN(uint8_t, n), *state = TINY_COLUMN(uint8_t, n);
    uint8_t *zero = TINY_COLUMN(uint8_t, n);
    money *price = TINY_COLUMN(money, n), *up = TINY_COLUMN(money, n);
    money *month = TINY_COLUMN(money, n);
    double *usd = TINY_COLUMN(double, n);
    int64_t *as_of = TINY_COLUMN(int64_t, n), *never = TINY_COLUMN(int64_t, n);
    int64_t *from = TINY_COLUMN(int64_t, n);
    int64_t *id = TINY_COLUMN(int64_t, n);
    for (size_t i = 0; i < n; i++) {
        vendor[i] = tiny_text(c, row[i].vendor);
        region[i] = tiny_text(c, row[i].region);
        type[i] = tiny_text(c, row[i].type);
        gpu[i] = tiny_text(c, row[i].gpu);
        currency[i] = tiny_text(c, row[i].currency ? row[i].currency : "USD");
        source[i] = tiny_text(c, "tiny");
        zone[i] = tiny_text(c, row[i].zone);
        spec[i] = (int16_t)catalog_gpu(c, row[i].gpu);
        num[i] = (uint16_t)(row[i].num ? row[i].num : 1);
        den[i] = (uint16_t)(row[i].den ? row[i].den : 1);
        vcpus[i] = row[i].vcpus > 0 ? (float)row[i].vcpus : NAN;
        memory[i] = row[i].memory_gib > 0 ? (float)row[i].memory_gib : NAN;
        nvme[i] = row[i].nvme_gb > 0 ? (float)row[i].nvme_gb : NAN;
        net[i] = row[i].network_gbps > 0 ? (float)row[i].network_gbps : NAN;
        purchase[i] = (uint8_t)row[i].purchase;
        state[i] = (uint8_t)row[i].state;
        price[i] = tiny_money(row[i].price);
        up[i] = tiny_money(row[i].upfront);
        month[i] = tiny_money(row[i].month);
        usd[i] = money_to_double(price[i]);
        as_of[i] = TINY_AS_OF;
        never[i] = GT_TIME_NONE;
        from[i] = row[i].valid_from ? row[i].valid_from : GT_TIME_NONE;
        id[i] = (int64_t)i + 1;
    }
    *f = (struct catalog_offers){.n = n,
                                 .vendor = vendor,
                                 .region = region,
                                 .zone = zone,
                                 .instance_type = type,
                                 .gpu = gpu,
                                 .currency = currency,
                                 .sku = none,
                                 .source = source,
                                 .note = none,
                                 .gpu_spec = spec,
                                 .gpu_num = num,
                                 .gpu_den = den,
                                 .gpu_memory_gib = memory,
                                 .vcpus = vcpus,
                                 .memory_gib = memory,
                                 .local_nvme_gb = nvme,
                                 .network_gbps = net,
                                 .purchase = purchase,
                                 .payment = zero,
                                 .offering_class = zero,
                                 .price_state = state,
                                 .origin = zero,
                                 .price_per_hour = price,
                                 .upfront = up,
                                 .price_month = month,
                                 .usd_per_hour = usd,
                                 .as_of = as_of,
                                 .fetched_at = as_of,
                                 .valid_from = from,
                                 .valid_to = never,
                                 .id = id};
}

static inline int tiny_rate_order(const void *a, const void *b)
{
    const struct tiny_rate *x = a, *y = b;
    int d = strcmp(x->vendor, y->vendor);
    d = d ? d : strcmp(x->region, y->region);
    d = d ? d : strcmp(x->tier, y->tier);
    d = d ? d : strcmp(x->component, y->component);
    return d ? d : (x->from > y->from) - (x->from < y->from);
}

static inline void tiny_storage(struct catalog *c, struct tiny_rate *row, size_t n)
{
    qsort(row, n, sizeof *row, tiny_rate_order);
    uint32_t *vendor = TINY_COLUMN(uint32_t, n), *region = TINY_COLUMN(uint32_t, n);
    uint32_t *tier = TINY_COLUMN(uint32_t, n), *component = TINY_COLUMN(uint32_t, n);
    uint32_t *currency = TINY_COLUMN(uint32_t, n), *none = TINY_COLUMN(uint32_t, n);
    uint32_t *source = TINY_COLUMN(uint32_t, n), *qty = TINY_COLUMN(uint32_t, n);
    uint8_t *unit = TINY_COLUMN(uint8_t, n), *origin = TINY_COLUMN(uint8_t, n);
    money *from = TINY_COLUMN(money, n), *to = TINY_COLUMN(money, n), *rate = TINY_COLUMN(money, n);
    int64_t *as_of = TINY_COLUMN(int64_t, n), *id = TINY_COLUMN(int64_t, n);
    for (size_t i = 0; i < n; i++) {
        vendor[i] = tiny_text(c, row[i].vendor);
        region[i] = tiny_text(c, row[i].region);
        tier[i] = tiny_text(c, row[i].tier);
        component[i] = tiny_text(c, row[i].component);
        currency[i] = tiny_text(c, "USD");
        source[i] = tiny_text(c, "tiny");
        qty[i] = row[i].unit_qty ? row[i].unit_qty : 1;
        unit[i] = (uint8_t)row[i].unit;
        from[i] = tiny_decimal(row[i].from);
        to[i] = row[i].to == 0 ? -1 : tiny_decimal(row[i].to);
        rate[i] = tiny_money(row[i].rate);
        as_of[i] = TINY_AS_OF;
        id[i] = (int64_t)i + 1;
    }
    c->storage = (struct catalog_storage){n,    vendor, region, tier,  component, currency,
                                          none, source, none,   unit,  origin,    qty,
                                          from, to,     rate,   as_of, as_of,     id};
}

static inline int tiny_transfer_order(const void *a, const void *b)
{
    const struct tiny_transfer *x = a, *y = b;
    int d = strcmp(x->vendor, y->vendor);
    d = d ? d : strcmp(x->from, y->from);
    d = d ? d : strcmp(x->to, y->to);
    return d ? d : (x->from_gb > y->from_gb) - (x->from_gb < y->from_gb);
}

static inline void tiny_transfers(struct catalog *c, struct tiny_transfer *row, size_t n)
{
    qsort(row, n, sizeof *row, tiny_transfer_order);
    uint32_t *vendor = TINY_COLUMN(uint32_t, n), *from = TINY_COLUMN(uint32_t, n);
    uint32_t *to = TINY_COLUMN(uint32_t, n), *currency = TINY_COLUMN(uint32_t, n);
    uint32_t *none = TINY_COLUMN(uint32_t, n), *source = TINY_COLUMN(uint32_t, n);
    money *lo = TINY_COLUMN(money, n), *hi = TINY_COLUMN(money, n), *rate = TINY_COLUMN(money, n);
    uint64_t *gb = TINY_COLUMN(uint64_t, n);
    uint8_t *origin = TINY_COLUMN(uint8_t, n);
    int64_t *as_of = TINY_COLUMN(int64_t, n), *id = TINY_COLUMN(int64_t, n);
    for (size_t i = 0; i < n; i++) {
        vendor[i] = tiny_text(c, row[i].vendor);
        from[i] = tiny_text(c, row[i].from);
        to[i] = tiny_text(c, row[i].to);
        currency[i] = tiny_text(c, "USD");
        source[i] = tiny_text(c, "tiny");
        lo[i] = tiny_decimal(row[i].from_gb);
        hi[i] = row[i].to_gb == 0 ? -1 : tiny_decimal(row[i].to_gb);
        rate[i] = tiny_money(row[i].rate);
        gb[i] = GT_GIB;
        as_of[i] = TINY_AS_OF;
        id[i] = (int64_t)i + 1;
    }
    c->transfer = (struct catalog_transfer){n,  vendor, from, to, currency, none,  source, none,
                                            lo, hi,     rate, gb, origin,   as_of, as_of,  id};
}
#endif
