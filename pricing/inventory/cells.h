/* The cells of the histogram: an open-addressing index over a dense array, 32 bytes a cell and at
 * most 8 of index. */
#ifndef GPUTIER_INVENTORY_CELLS_H
#define GPUTIER_INVENTORY_CELLS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What tells a cell from others; interned ids and numbers of buckets. */
#define CELL_CLASSES 65535 /* at most */
static inline uint64_t cell_key(uint32_t prefix, uint32_t class_id, unsigned size, unsigned age,
                                unsigned idle, bool latest)
{
    return (uint64_t)prefix << 32 | class_id << 16 | size << 12 | age << 8 | idle << 4 | latest;
}
static inline uint32_t cell_prefix(uint64_t key)
{
    return (uint32_t)(key >> 32);
}
static inline uint32_t cell_class(uint64_t key)
{
    return key >> 16 & 0xffff;
}
static inline unsigned cell_size(uint64_t key)
{
    return key >> 12 & 15;
}
static inline unsigned cell_age(uint64_t key)
{
    return key >> 8 & 15;
}
static inline unsigned cell_idle(uint64_t key)
{
    return key >> 4 & 15;
}
static inline bool cell_latest(uint64_t key)
{
    return key & 1;
}

struct cell {
    uint64_t key, objects, bytes, min128k;
};
struct cell_reads {
    double gets, bytes; /* < 0 = not recorded */
};
struct cells {
    struct cell *at;
    struct cell_reads *reads; /* NULL: none recorded */
    size_t n, room;
    uint32_t *slot; /* number of a cell + 1 */
    size_t mask;
};
/* The cell of this key, made when missing; NULL: out of memory. Borrowed until the next call. */
struct cell *cells_get(struct cells *c, uint64_t key);
/* Its reads; NULL: out of memory. */
struct cell_reads *cells_reads(struct cells *c, const struct cell *cell);
void cells_clear(struct cells *c); /* keeps the memory */
void cells_free(struct cells *c);

#endif
