/* Growing byte buffer with a hard maximum (curl's dynbuf rule): when an add would pass `max` or
 * memory ends, the buffer frees itself, `failed` stays set and every later add fails too, so a
 * writer checks once at the end. data is always NUL-terminated when len > 0. */
#ifndef GPUTIER_BUF_H
#define GPUTIER_BUF_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data;
    size_t len, cap, max;
    bool failed;
};
void buf_init(struct buf *b, size_t max);
void buf_release(struct buf *b);
void buf_clear(struct buf *b);                       /* len = 0, memory kept, failed reset */
int buf_add(struct buf *b, const void *p, size_t n); /* 0 or GT_ENOMEM / GT_ELIMIT */
int buf_adds(struct buf *b, const char *s);
int buf_addc(struct buf *b, char c);
int buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf_addv(struct buf *b, const char *fmt, va_list ap);
char *buf_take(struct buf *b, size_t *len); /* caller frees; b is empty again; NULL if failed */

#endif
