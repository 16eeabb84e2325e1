/* Arena: bump allocation for one unit of life (a document, a catalog, a planner call).
 * Everything allocated in it is freed together; single pieces are never freed. Allocation
 * returns NULL when memory or the arena's limit ends; callers report GT_ENOMEM.
 * Interning gives equal strings one 32-bit id, so rows compare by id; id 0 is "". */
#ifndef GPUTIER_ARENA_H
#define GPUTIER_ARENA_H
#include <stddef.h>
#include <stdint.h>

struct arena;
struct arena *arena_new(size_t limit_bytes);     /* 0 = no limit; NULL when out of memory */
void arena_free(struct arena *a);                /* NULL is fine */
void *arena_alloc(struct arena *a, size_t size); /* zeroed, 16-byte aligned */
/* Makes room so that the next allocations of size bytes in all lie side by side; where. NULL when
 * memory ends: allocations go on elsewhere. */
void *arena_reserve(struct arena *a, size_t size);
void *arena_array(struct arena *a, size_t n, size_t size); /* overflow-checked, zeroed */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
size_t arena_used(const struct arena *a);

struct intern;
struct intern *intern_new(struct arena *a); /* lives in a */
/* Makes room for n strings more; intern_room tells the bytes that this and their texts, of len
 * bytes each at most, take of the arena. < 0 when memory ends. */
int intern_reserve(struct intern *t, uint32_t n);
size_t intern_room(const struct intern *t, uint32_t n, size_t len);
/* Id of text[0..len), UINT32_MAX when out of memory. */
uint32_t intern_add(struct intern *t, const char *text, size_t len);
/* The same for a string that is most often new, without looking for it: it may be there twice. */
uint32_t intern_append(struct intern *t, const char *text, size_t len);
/* Id or 0 when the string was never added (0 also for ""). */
uint32_t intern_find(const struct intern *t, const char *text, size_t len);
const char *intern_text(const struct intern *t, uint32_t id); /* borrowed until the arena ends */
uint32_t intern_count(const struct intern *t);

#endif
