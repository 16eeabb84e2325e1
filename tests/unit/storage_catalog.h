/* A small storage catalog for tests, built in memory row by row. */
#ifndef GPUTIER_STORAGE_CATALOG_H
#define GPUTIER_STORAGE_CATALOG_H
#include "gputier/catalog.h"
#include <stdlib.h>
#include <string.h>

#define TEST_ROWS 256
struct test_rate {
    const char *tier, *component;
    enum storage_unit unit;
    uint32_t unit_qty;
    money from_qty, to_qty, rate;
};
/* Rows must come sorted by tier, component, from_qty. */
static inline struct catalog *test_catalog(const struct test_rate *r, size_t n)
{
    struct catalog *c = calloc(1, sizeof *c);
    c->arena = arena_new(0);
    c->strings = intern_new(c->arena);
    uint32_t *vendor = arena_array(c->arena, n, 4), *region = arena_array(c->arena, n, 4);
    uint32_t *tier = arena_array(c->arena, n, 4), *component = arena_array(c->arena, n, 4);
    uint32_t *usd = arena_array(c->arena, n, 4), *none = arena_array(c->arena, n, 4);
    uint32_t *qty = arena_array(c->arena, n, 4);
    uint8_t *unit = arena_array(c->arena, n, 1), *origin = arena_array(c->arena, n, 1);
    money *from = arena_array(c->arena, n, sizeof *from),
          *to = arena_array(c->arena, n, sizeof *to);
    money *rate = arena_array(c->arena, n, sizeof *rate);
    int64_t *time = arena_array(c->arena, n, 8);
    for (size_t i = 0; i < n; i++) {
        vendor[i] = intern_add(c->strings, "aws", 3);
        region[i] = intern_add(c->strings, "us-east-1", 9);
        tier[i] = intern_add(c->strings, r[i].tier, strlen(r[i].tier));
        component[i] = intern_add(c->strings, r[i].component, strlen(r[i].component));
        usd[i] = intern_add(c->strings, "USD", 3);
        qty[i] = r[i].unit_qty;
        unit[i] = (uint8_t)r[i].unit;
        from[i] = r[i].from_qty;
        to[i] = r[i].to_qty;
        rate[i] = r[i].rate;
    }
    c->storage =
        (struct catalog_storage){n,    vendor, region, tier, component, usd,  none, none, none,
                                 unit, origin, qty,    from, to,        rate, time, time, time};
    return c;
}

#endif
