/* Numbers for distinct tuples of strings, with a memory of the last one (store_impl.h). */
#include "store_impl.h"
#include <string.h>

int keymap_init(struct keymap *k)
{
    memset(k, 0, sizeof(*k));
    k->arena = arena_new(0);
    k->names = k->arena != NULL ? intern_new(k->arena) : NULL;
    return k->names != NULL ? 0 : GT_ENOMEM;
}

void keymap_release(struct keymap *k)
{
    arena_free(k->arena);
    k->arena = NULL;
    k->names = NULL;
}

int keymap_add(struct keymap *k, const char *const *text, size_t n, uint32_t *id, bool *fresh)
{
    char key[sizeof(k->last)];
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        size_t part = text[i] != NULL ? strlen(text[i]) : 0;
        if (len + part + 1 > sizeof(key)) {
            return GT_ELIMIT;
        }
        if (part > 0) {
            memcpy(key + len, text[i], part);
        }
        len += part;
        key[len++] = '\x1f';
    }
    *fresh = false;
    if (len == k->last_len && memcmp(key, k->last, len) == 0) {
        *id = k->last_id;
        return 0;
    }
    uint32_t before = intern_count(k->names);
    *id = intern_add(k->names, key, len);
    if (*id == UINT32_MAX) {
        return GT_ENOMEM;
    }
    *fresh = intern_count(k->names) > before;
    memcpy(k->last, key, len);
    k->last_len = len;
    k->last_id = *id;
    return 0;
}
