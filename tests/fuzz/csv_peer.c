/* Fuzz: the CSV reader against libcsv, each of its loops, cut anywhere. The first byte chooses the
 * cuts. */
#include "../unit/support/peers.h"
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    const char *wrong = peer_check_csv((const char *)data + 1, size - 1, data[0] + 1u);
    if (wrong) {
        fprintf(stderr, "%s\n", wrong);
        abort();
    }
    return 0;
}
