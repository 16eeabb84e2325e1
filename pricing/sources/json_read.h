/* Streaming JSON reader: events out of bytes that arrive in pieces, in constant memory, with
 * numbers as the text the vendor sent. Made for documents of which most is never wanted: the
 * handler may leave any value, and what it leaves costs a look at one record per 64 bytes.
 *
 * All bytes are checked alike, those of skipped values too (scan_masks.h): refused with line and
 * column are whatever RFC 8259 does not allow, text that is not UTF-8, depth over 64, anything
 * behind the document, a cut document; of values that are read, also strings and numbers over
 * 1 MiB. yajl refuses the same but for depth, length, overlong and surrogate forms of UTF-8, and
 * form feeds and vertical tabs between tokens, all of which it lets pass. */
#ifndef GPUTIER_JSON_READ_H
#define GPUTIER_JSON_READ_H
#include "gputier/error.h"
#include "scan_masks.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
/* text: NUL-terminated, for keys, strings and numbers ("" else), borrowed for the call. A lone
 * surrogate escape and an escaped NUL arrive as U+FFFD. */
typedef int json_event_fn(void *ctx, struct json_reader *r, enum json_event e, const char *text,
                          size_t len, struct gt_error *err);
int json_reader_new(const char *name, json_event_fn *event, void *ctx, struct json_reader **out,
                    struct gt_error *err) GT_CHECK;
int json_reader_feed(struct json_reader *r, const char *data, size_t len,
                     struct gt_error *err) GT_CHECK;
int json_reader_end(struct json_reader *r, struct gt_error *err) GT_CHECK;
void json_reader_free(struct json_reader *r); /* NULL is fine */

/* Before the first byte. Lets documents follow one another: the pages of one list. */
void json_reader_many(struct json_reader *r);
/* The end of a file whose list goes on in another: refused as json_reader_end does, then lines
 * count from 1 again. For readers of many documents. */
int json_reader_next(struct json_reader *r, struct gt_error *err) GT_CHECK;
/* Before the first byte, for tests: one of the ways that give the same events. */
void json_reader_path(struct json_reader *r, enum scan_path path);

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
/* At a JSON_OBJECT: shows members ahead, in their order, until `show` returns true (then this does
 * too). Nothing is read of them. Shown are texts without escapes, not NUL-terminated; the first
 * member that is no such text, or has not come as a whole, ends it. */
typedef bool json_show_fn(void *ctx, const char *key, size_t key_len, const char *text, size_t len);
bool json_look_ahead(const struct json_reader *r, json_show_fn *show, void *ctx);
/* Line of the current place, from 1. */
uint64_t json_line(struct json_reader *r);
/* Error at the current place. */
int json_fail(struct json_reader *r, int code, struct gt_error *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
