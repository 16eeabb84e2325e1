/* One question by POST to a server that the user named, its answer streamed to the caller: no
 * tries, no redirects, no store. */
#ifndef GPUTIER_POST_H
#define GPUTIER_POST_H
#include "gputier/error.h"
#include <stddef.h>

struct http_post {
    const char *url; /* checked by url_check */
    const char *body;
    size_t len;
    const char *const *header; /* lines, NULL-terminated; may hold a key */
    const char *secret;        /* blotted out of what is told of the answer; NULL = none */
    void *ctx;
    /* Bytes of an answer with status 200; an error ends the request. NULL: they are dropped. */
    int (*sink)(void *ctx, const char *data, size_t len, struct gt_error *err);
    /* Header lines with their line end, NUL-terminated; NULL = nobody reads them. */
    void (*line)(void *ctx, const char *line);
    /* Called several times a second; an error ends the request. */
    int (*look)(void *ctx, struct gt_error *err);
};
/* What the server said when its status was not 200. */
struct http_said {
    long status;
    char text[600]; /* the beginning, "" = nothing */
};
/* GT_EHTTP: another status, *said and err are filled. An answer that may have been cut is an
 * error: GT_ENET. */
int http_post(const struct http_post *q, struct http_said *said, struct gt_error *err) GT_CHECK;

#endif
