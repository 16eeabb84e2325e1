/* Arena and string interning (arena.h). Blocks double up to 1 MiB; big requests
 * get their own. */
#include "gputier/arena.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_FIRST 4096
#define BLOCK_MAX   (1024 * 1024)
#define ALIGN       16

struct block {
    struct block *next;
    size_t used, size;
};
struct arena {
    struct block *head;
    size_t total, limit, next_size;
};
#define HEADER ((sizeof(struct block) + ALIGN - 1) / ALIGN * ALIGN)

struct arena *arena_new(size_t limit_bytes)
{
    struct arena *a = calloc(1, sizeof *a);
    if (a) {
        a->limit = limit_bytes;
        a->next_size = BLOCK_FIRST;
    }
    return a;
}

void arena_free(struct arena *a)
{
    if (!a) {
        return;
    }
    for (struct block *b = a->head; b;) {
        struct block *next = b->next;
        free(b);
        b = next;
    }
    free(a);
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (size == 0) {
        size = ALIGN;
    }
    struct block *b = a->head;
    if (!b || b->size - b->used < size) {
        size_t want = size > a->next_size / 4 ? size : a->next_size;
        if (a->limit && (want > a->limit || a->total > a->limit - want)) {
            return NULL;
        }
        struct block *fresh = calloc(1, HEADER + want);
        if (!fresh) {
            return NULL;
        }
        fresh->size = want;
        a->total += want;
        if (want == size && b) { /* its own block goes behind, the open one stays in use */
            fresh->used = size;
            fresh->next = b->next;
            b->next = fresh;
            return (char *)fresh + HEADER;
        }
        fresh->next = b;
        a->head = b = fresh;
        if (a->next_size < BLOCK_MAX) {
            a->next_size *= 2;
        }
    }
    void *p = (char *)b + HEADER + b->used;
    b->used += size;
    return p;
}

void *arena_reserve(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 2 || (a->limit && (size > a->limit || a->total > a->limit - size))) {
        return NULL;
    }
    struct block *b = calloc(1, HEADER + size);
    if (!b) {
        return NULL;
    }
    b->size = size;
    b->next = a->head;
    a->head = b;
    a->total += size;
    return (char *)b + HEADER;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / 2 / size) {
        return NULL;
    }
    return arena_alloc(a, n * size);
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
    char *p = len < SIZE_MAX ? arena_alloc(a, len + 1) : NULL;
    if (p) {
        memcpy(p, s, len);
        p[len] = '\0';
    }
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
    if (p) {
        vsnprintf(p, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    return p;
}

size_t arena_used(const struct arena *a)
{
    return a->total;
}

/* Open addressing over ids; the table's old arrays stay in the arena when it
 * grows (a factor of two in all). */
struct intern {
    struct arena *arena;
    const char **text;
    uint32_t *len, *slot;
    uint32_t n, cap, mask;
};

static uint32_t hash_bytes(const char *s, size_t len)
{
    uint64_t h = 0x9E3779B97F4A7C15ULL ^ len;
    for (; len >= 8; len -= 8, s += 8) {
        uint64_t w;
        memcpy(&w, s, 8);
        h = (h ^ w) * 0xff51afd7ed558ccdULL;
        h ^= h >> 32;
    }
    for (; len; len--, s++) {
        h = (h ^ (unsigned char)*s) * 0x100000001b3ULL;
    }
    h ^= h >> 29;
    h *= 0xc4ceb9fe1a85ec53ULL;
    return (uint32_t)(h >> 32);
}

/* To a capacity, a power of two. */
static int intern_grow(struct intern *t, uint32_t cap)
{
    if (cap > UINT32_MAX / 4) {
        return -1;
    }
    const char **text = arena_array(t->arena, cap, sizeof *text);
    uint32_t *len = arena_array(t->arena, cap, sizeof *len);
    uint32_t *slot = arena_array(t->arena, (size_t)cap * 2, sizeof *slot);
    if (!text || !len || !slot) {
        return -1;
    }
    uint32_t mask = cap * 2 - 1;
    if (t->n > 0) {
        memcpy(text, t->text, t->n * sizeof *text);
        memcpy(len, t->len, t->n * sizeof *len);
    }
    for (uint32_t k = 0; t->n > 0 && k <= t->mask; k++) {
        if (t->slot[k]) { /* appended strings have none */
            uint32_t id = t->slot[k] - 1, i = hash_bytes(text[id], len[id]) & mask;
            while (slot[i]) {
                i = (i + 1) & mask;
            }
            slot[i] = id + 1;
        }
    }
    t->text = text;
    t->len = len;
    t->slot = slot;
    t->cap = cap;
    t->mask = mask;
    return 0;
}

static uint32_t lookup(const struct intern *t, const char *text, size_t len, uint32_t *at)
{
    uint32_t i = hash_bytes(text, len) & t->mask;
    while (t->slot[i]) {
        uint32_t id = t->slot[i] - 1;
        if (t->len[id] == len && memcmp(t->text[id], text, len) == 0) {
            return id;
        }
        i = (i + 1) & t->mask;
    }
    *at = i;
    return UINT32_MAX;
}

struct intern *intern_new(struct arena *a)
{
    struct intern *t = arena_alloc(a, sizeof *t);
    if (!t) {
        return NULL;
    }
    t->arena = a;
    if (intern_grow(t, 256) || intern_add(t, "", 0) != 0) {
        return NULL;
    }
    return t;
}

static uint32_t cap_for(const struct intern *t, uint32_t n)
{
    uint64_t cap = t->cap;
    while (cap < (uint64_t)t->n + n) {
        cap *= 2;
    }
    return cap > UINT32_MAX / 4 ? UINT32_MAX : (uint32_t)cap;
}

int intern_reserve(struct intern *t, uint32_t n)
{
    uint32_t cap = cap_for(t, n);
    return cap > t->cap ? intern_grow(t, cap) : 0;
}

size_t intern_room(const struct intern *t, uint32_t n, size_t len)
{
    size_t cap = cap_for(t, n), each = sizeof *t->text + sizeof *t->len + 2 * sizeof *t->slot;
    return cap * each + 3 * ALIGN + n * ((len + ALIGN) / ALIGN * ALIGN);
}

uint32_t intern_add(struct intern *t, const char *text, size_t len)
{
    uint32_t at = 0;
    uint32_t id = lookup(t, text, len, &at);
    if (id != UINT32_MAX || len > UINT32_MAX) {
        return id;
    }
    if (t->n == t->cap) {
        if (intern_grow(t, t->cap * 2)) {
            return UINT32_MAX;
        }
        lookup(t, text, len, &at);
    }
    const char *copy = arena_strndup(t->arena, text, len);
    if (!copy) {
        return UINT32_MAX;
    }
    id = t->n++;
    t->text[id] = copy;
    t->len[id] = (uint32_t)len;
    t->slot[at] = id + 1;
    return id;
}

uint32_t intern_append(struct intern *t, const char *text, size_t len)
{
    if (len > UINT32_MAX || (t->n == t->cap && intern_grow(t, t->cap * 2))) {
        return UINT32_MAX;
    }
    const char *copy = arena_strndup(t->arena, text, len);
    if (!copy) {
        return UINT32_MAX;
    }
    t->text[t->n] = copy;
    t->len[t->n] = (uint32_t)len;
    return t->n++;
}

uint32_t intern_find(const struct intern *t, const char *text, size_t len)
{
    uint32_t at;
    uint32_t id = lookup(t, text, len, &at);
    return id == UINT32_MAX ? 0 : id;
}

const char *intern_text(const struct intern *t, uint32_t id)
{
    return id < t->n ? t->text[id] : "";
}

uint32_t intern_count(const struct intern *t)
{
    return t->n;
}
