/* Fuzz: the JSON reader against yajl, each of its loops, cut anywhere, with values passed over. The
 * first two bytes choose the cuts and what is passed over. */
#include "../unit/support/peers.h"
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    const char *wrong = peer_check_json((const char *)data + 2, size - 2, data[0], data[1] + 1u);
    if (wrong) {
        fprintf(stderr, "%s\n", wrong);
        abort();
    }
    return 0;
}
