/* Fuzz: lists of volumes, snapshots and uploads take any bytes; what is found is whole. */
#include "gputier/leftovers.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct leftovers *l = NULL;
    const struct leftover *item;
    size_t n;
    char *text = malloc(size + 1);
    if (!text || leftovers_new(1796178900, &l, NULL)) {
        free(text);
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    (void)leftovers_told(text, size);
    if (leftovers_read(l, "fuzz", text, size, NULL) == 0 &&
        leftovers_found(l, &item, &n, NULL) == 0) {
        for (size_t i = 0; i < n; i++) {
            if (!item[i].id || !item[i].vendor || !item[i].tier || !item[i].component) {
                abort();
            }
        }
    }
    leftovers_free(l);
    free(text);
    return 0;
}
