/* Streaming JSON reader: events out of bytes that arrive in pieces, in constant memory, with
 * numbers as the text the vendor sent. Made for documents of which most is never wanted: the
 * handler may leave any value, and what it leaves is passed by counting brackets 64 bytes at a
 * time (strings are still told apart; what stands between is not checked).
 *
 * Refused with line and column: depth over 64, strings over 1 MiB, bad escapes, raw control
 * characters in strings, anything behind the document, a cut document. */
#ifndef GPUTIER_JSON_READ_H
#define GPUTIER_JSON_READ_H
#include "gputier/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH 64
enum json_event {
    JSON_OBJECT,
    JSON_END_OBJECT,
    JSON_ARRAY,
    JSON_END_ARRAY,
    JSON_KEY,
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
};
struct json_reader;
/* text: NUL-terminated, for keys, strings and numbers ("" else), borrowed for the call. */
typedef int json_event_fn(void *ctx, struct json_reader *r, enum json_event e, const char *text,
                          size_t len, struct gt_error *err);
int json_reader_new(const char *name, json_event_fn *event, void *ctx, struct json_reader **out,
                    struct gt_error *err) GT_CHECK;
int json_reader_feed(struct json_reader *r, const char *data, size_t len,
                     struct gt_error *err) GT_CHECK;
int json_reader_end(struct json_reader *r, struct gt_error *err) GT_CHECK;
void json_reader_free(struct json_reader *r); /* NULL is fine */

/* For the handler. Containers open now (JSON_OBJECT counts the new one, JSON_END_* no more). */
int json_depth(const struct json_reader *r);
/* At a JSON_KEY: no event for its value. */
void json_skip_value(struct json_reader *r);
/* Leaves `levels` open containers, without events for the rest of them and for their ends. */
void json_leave(struct json_reader *r, int levels);
/* While on: the raw bytes of the value that follows a JSON_KEY at which it was called go to
 * `copy` and give no events. */
typedef int json_copy_fn(void *ctx, const char *data, size_t len, struct gt_error *err);
void json_copy_value(struct json_reader *r, json_copy_fn *copy);
/* Lets documents follow one another: the pages of one list. Before the first byte. */
void json_reader_many(struct json_reader *r);
/* Line of the current place, from 1. */
uint64_t json_line(const struct json_reader *r);
/* Error at the current place. */
int json_fail(struct json_reader *r, int code, struct gt_error *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
