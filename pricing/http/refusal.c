/* The words of a server that refuses: the first bytes of the body, unpacked, go to the reader that
 * the request named. */
#include "engine.h"
#include "gputier/text.h"
#include <stdio.h>
#include <string.h>

struct words {
    char text[REFUSAL_BYTES];
    size_t len;
};

void refusal_take(struct transfer *t, const char *data, size_t len)
{
    size_t room = t->said ? REFUSAL_BYTES - t->said_len : 0;
    len = len < room ? len : room;
    if (len > 0) {
        memcpy(t->said + t->said_len, data, len);
        t->said_len += len;
    }
}

static int on_bytes(void *ctx, const char *data, size_t len, struct gt_error *err)
{
    struct words *w = ctx;
    size_t room = sizeof w->text - w->len;
    (void)err;
    len = len < room ? len : room;
    memcpy(w->text + w->len, data, len);
    w->len += len;
    return 0;
}

enum fetch_refusal refusal_read(struct transfer *t)
{
    struct words w = {.len = 0};
    struct unpack *u = NULL;
    struct gt_error ignored; /* a body cut short is still worth reading */
    char message[256] = "";
    if (t->said_len == 0 || unpack_new("", 0, on_bytes, &w, &u, &ignored) != 0) {
        return REFUSAL_STANDS;
    }
    int cut = unpack_feed(u, t->said, t->said_len, &ignored);
    cut = cut ? cut : unpack_end(u, &ignored);
    (void)cut;
    unpack_free(u);
    enum fetch_refusal r = t->refusal(t->refusal_ctx, w.text, w.len, message);
    struct buf b;
    buf_init(&b, 2048);
    if (message[0] && text_safe(&b, message, strlen(message), true) == 0) {
        size_t n = strlen(t->err.text);
        snprintf(t->err.text + n, sizeof t->err.text - n, ": %s", b.data);
    }
    buf_release(&b);
    return r;
}
