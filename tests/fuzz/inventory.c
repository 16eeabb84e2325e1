/* Fuzz: listings and histograms take any bytes, in every format. */
#include "gputier/inventory.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum inventory_format formats[] = {INVENTORY_AUTO, INVENTORY_FIND, INVENTORY_S3,
                                                    INVENTORY_HISTOGRAM};
    struct inventory *inv = NULL;
    const struct inventory_row *rows;
    size_t n;
    if (size < 1) {
        return 0;
    }
    struct inventory_options o = {.format = formats[data[0] % 4],
                                  .depth = data[0] / 4 % 4,
                                  .as_of = 1796178900,
                                  .max_bad = 100,
                                  .file_schema =
                                      "Bucket, Key, Size, LastModifiedDate, StorageClass"};
    if (inventory_new(&o, &inv, NULL)) {
        return 0;
    }
    if (inventory_read_text(inv, "fuzz", (const char *)data + 1, size - 1, NULL) == 0 &&
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
    return 0;
}
