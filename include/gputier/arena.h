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
void *arena_array(struct arena *a, size_t n, size_t size); /* overflow-checked, zeroed */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
size_t arena_used(const struct arena *a);

struct intern;
struct intern *intern_new(struct arena *a); /* lives in a */
/* Id of text[0..len), UINT32_MAX when out of memory. */
uint32_t intern_add(struct intern *t, const char *text, size_t len);
/* The same for a string that is most often new, without looking for it: it may be there twice. */
uint32_t intern_append(struct intern *t, const char *text, size_t len);
/* Id or 0 when the string was never added (0 also for ""). */
uint32_t intern_find(const struct intern *t, const char *text, size_t len);
const char *intern_text(const struct intern *t, uint32_t id); /* borrowed until the arena ends */
uint32_t intern_count(const struct intern *t);

#endif
