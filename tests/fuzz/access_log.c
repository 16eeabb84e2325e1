/* Fuzz: access logs, Storage Class Analysis and CSV of reads take any bytes, and an inventory is
 * read with what they told. */
#include "inventory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct inventory_accesses *a = NULL;
    struct inventory *inv = NULL;
    const struct inventory_row *rows;
    size_t n;
    static const char list[] = "10\t1790000000.5\ta/b/c\n131072\t1796000000.0\ta/b d\n";
    if (inventory_accesses_new(1796178900, 100, &a, NULL)) {
        return 0;
    }
    int rc = inventory_access_read_text(a, "fuzz", (const char *)data, size, NULL);
    struct inventory_options o = {
        .format = INVENTORY_FIND, .depth = 2, .as_of = 1796178900, .access = a};
    if (rc == 0 && inventory_new(&o, &inv, NULL) == 0) {
        if (inventory_read_text(inv, "list", list, sizeof list - 1, NULL)) {
            abort();
        }
        if (inventory_rows(inv, &rows, &n, NULL) == 0 && n != 2) {
            abort();
        }
        inventory_free(inv);
    }
    inventory_accesses_free(a);
    return 0;
}
