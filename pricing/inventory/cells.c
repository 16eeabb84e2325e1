/* The table of cells (cells.h). */
#include "cells.h"
#include <stdlib.h>
#include <string.h>

static size_t place(const struct cells *c, uint64_t key)
{
    uint64_t h = key ^ key >> 32;
    h *= 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    return (size_t)h & c->mask;
}

static bool grow_slots(struct cells *c)
{
    size_t n = c->slot ? (c->mask + 1) * 2 : 1024;
    uint32_t *slot = calloc(n, sizeof *slot);
    if (!slot) {
        return false;
    }
    free(c->slot);
    c->slot = slot;
    c->mask = n - 1;
    for (size_t i = 0; i < c->n; i++) {
        size_t at = place(c, c->at[i].key);
        while (slot[at]) {
            at = (at + 1) & c->mask;
        }
        slot[at] = (uint32_t)i + 1;
    }
    return true;
}

static bool grow_cells(struct cells *c)
{
    size_t room = c->room ? c->room * 2 : 512;
    struct cell *at = room < UINT32_MAX ? realloc(c->at, room * sizeof *at) : NULL;
    if (!at) {
        return false;
    }
    c->at = at;
    struct cell_reads *reads = c->reads ? realloc(c->reads, room * sizeof *reads) : NULL;
    if (c->reads && !reads) {
        return false;
    }
    c->reads = reads;
    c->room = room;
    return true;
}

struct cell *cells_get(struct cells *c, uint64_t key)
{
    if (c->slot) {
        for (size_t at = place(c, key); c->slot[at]; at = (at + 1) & c->mask) {
            struct cell *cell = &c->at[c->slot[at] - 1];
            if (cell->key == key) {
                return cell;
            }
        }
    }
    if ((!c->slot || c->n * 2 > c->mask) && !grow_slots(c)) {
        return NULL;
    }
    if (c->n == c->room && !grow_cells(c)) {
        return NULL;
    }
    size_t at = place(c, key);
    while (c->slot[at]) {
        at = (at + 1) & c->mask;
    }
    if (c->reads) {
        c->reads[c->n] = (struct cell_reads){-1, -1};
    }
    c->at[c->n] = (struct cell){.key = key};
    c->slot[at] = (uint32_t)++c->n;
    return &c->at[c->n - 1];
}

struct cell_reads *cells_reads(struct cells *c, const struct cell *cell)
{
    if (!c->reads) {
        c->reads = malloc(c->room * sizeof *c->reads);
        for (size_t i = 0; c->reads && i < c->n; i++) {
            c->reads[i] = (struct cell_reads){-1, -1};
        }
    }
    return c->reads ? &c->reads[cell - c->at] : NULL;
}

void cells_clear(struct cells *c)
{
    if (c->slot) {
        memset(c->slot, 0, (c->mask + 1) * sizeof *c->slot);
    }
    free(c->reads);
    c->reads = NULL;
    c->n = 0;
}

void cells_free(struct cells *c)
{
    free(c->at);
    free(c->reads);
    free(c->slot);
    *c = (struct cells){0};
}
