/* What the fuzz targets of inventories share: one format, any bytes; the rows add up to the objects
 * that were counted. */
#ifndef GPUTIER_FUZZ_INVENTORY_H
#define GPUTIER_FUZZ_INVENTORY_H
#include "gputier/inventory.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_inventory(enum inventory_format format, int depth, const char *schema,
                                  const uint8_t *data, size_t size)
{
    struct inventory *inv = NULL;
    const struct inventory_row *rows;
    size_t n;
    struct inventory_options o = {.format = format,
                                  .depth = depth,
                                  .as_of = 1796178900,
                                  .max_bad = 100,
                                  .file_schema = schema};
    if (inventory_new(&o, &inv, NULL)) {
        return;
    }
    if (inventory_read_text(inv, "fuzz", (const char *)data, size, NULL) == 0 &&
        inventory_rows(inv, &rows, &n, NULL) == 0) {
        uint64_t objects = 0;
        for (size_t i = 0; i < n; i++) {
            objects += rows[i].objects;
            if (!rows[i].prefix) {
                abort();
            }
        }
        if (objects != inventory_stats(inv)->objects) {
            abort();
        }
    }
    inventory_free(inv);
}

#endif
