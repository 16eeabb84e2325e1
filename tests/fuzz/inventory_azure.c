/* Fuzz: Azure blob inventory take any bytes. */
#include "inventory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_inventory(INVENTORY_AZURE, 2, NULL, data, size);
    return 0;
}
