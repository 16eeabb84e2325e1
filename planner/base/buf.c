/* Growing buffer with a hard maximum (buf.h). */
#include "gputier/buf.h"
#include "gputier/error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void buf_release(struct buf *b)
{
    free(b->data);
    b->data = NULL;
    b->len = b->cap = 0;
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data) {
        b->data[0] = '\0';
    }
}

static int fail(struct buf *b, int code)
{
    buf_release(b);
    b->failed = true;
    return code;
}

static int reserve(struct buf *b, size_t n)
{
    if (b->failed) {
        return GT_ELIMIT;
    }
    if (n > b->max || b->len > b->max - n) {
        return fail(b, GT_ELIMIT);
    }
    size_t need = b->len + n + 1;
    if (need <= b->cap) {
        return 0;
    }
    size_t cap = b->cap ? b->cap : 256;
    while (cap < need) {
        cap *= 2;
    }
    char *p = realloc(b->data, cap);
    if (!p) {
        return fail(b, GT_ENOMEM);
    }
    b->data = p;
    b->cap = cap;
    return 0;
}

int buf_add(struct buf *b, const void *p, size_t n)
{
    int rc = reserve(b, n);
    if (rc) {
        return rc;
    }
    if (n) {
        memcpy(b->data + b->len, p, n);
    }
    b->len += n;
    b->data[b->len] = '\0';
    return 0;
}

int buf_adds(struct buf *b, const char *s)
{
    return buf_add(b, s, strlen(s));
}

int buf_addc(struct buf *b, char c)
{
    return buf_add(b, &c, 1);
}

int buf_addv(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    int rc = n < 0 ? GT_EINVALID : reserve(b, (size_t)n);
    if (!rc) {
        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
    return rc;
}

int buf_addf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int rc = buf_addv(b, fmt, ap);
    va_end(ap);
    return rc;
}

char *buf_take(struct buf *b, size_t *len)
{
    if (b->failed || (!b->data && reserve(b, 0))) {
        return NULL;
    }
    char *p = b->data;
    p[b->len] = '\0';
    if (len) {
        *len = b->len;
    }
    b->data = NULL;
    b->len = b->cap = 0;
    return p;
}
