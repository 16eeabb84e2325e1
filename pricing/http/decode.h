/* Undoes the gzip content coding of a body while it streams. Own code instead of libcurl's so
 * that the raw bytes can be hashed and a cut transfer resumed. */
#ifndef GPUTIER_DECODE_H
#define GPUTIER_DECODE_H
#include "gputier/error.h"
#include <stdbool.h>
#include <stddef.h>

typedef int decode_sink(void *ctx, const char *data, size_t len, struct gt_error *err);
struct decoder;
/* coding: value of Content-Encoding, "" or "identity" = none. GT_EUNSUPPORTED for one that was
 * not asked for. */
int decoder_new(const char *coding, decode_sink *sink, void *ctx, struct decoder **out,
                struct gt_error *err) GT_CHECK;
int decoder_feed(struct decoder *d, const char *data, size_t len, struct gt_error *err) GT_CHECK;
/* GT_EPARSE when the coded stream is cut. */
int decoder_end(struct decoder *d, struct gt_error *err) GT_CHECK;
void decoder_free(struct decoder *d); /* NULL is fine */

#endif
