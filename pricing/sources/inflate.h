/* Undoes gzip and zstd while a file streams in. The kind is told by the content, never by the
 * file name; what is neither passes through unchanged. Memory stays constant. */
#ifndef GPUTIER_INFLATE_H
#define GPUTIER_INFLATE_H
#include "gputier/error.h"
#include <stddef.h>
#include <stdint.h>

typedef int unpack_sink(void *ctx, const char *data, size_t len, struct gt_error *err);
struct unpack;
/* name: for messages, borrowed. max_bytes: limit of what comes out (GT_ELIMIT), 0 = none. */
int unpack_new(const char *name, uint64_t max_bytes, unpack_sink *sink, void *ctx,
               struct unpack **out, struct gt_error *err) GT_CHECK;
int unpack_feed(struct unpack *u, const char *data, size_t len, struct gt_error *err) GT_CHECK;
/* GT_EPARSE when the packed stream is cut or empty where a member was begun. */
int unpack_end(struct unpack *u, struct gt_error *err) GT_CHECK;
void unpack_free(struct unpack *u); /* NULL is fine */
/* "gzip", "zstd" or "plain"; NULL before the first 4 bytes. */
const char *unpack_kind(const struct unpack *u);

#endif
