/* Fuzz: listings and histograms take any bytes, by content and in each of the older formats. */
#include "inventory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum inventory_format formats[] = {INVENTORY_AUTO, INVENTORY_FIND, INVENTORY_S3,
                                                    INVENTORY_HISTOGRAM};
    if (size > 0) {
        fuzz_inventory(formats[data[0] % 4], data[0] / 4 % 4,
                       "Bucket, Key, Size, LastModifiedDate, StorageClass", data + 1, size - 1);
    }
    return 0;
}
