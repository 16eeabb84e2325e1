/* Streaming XML reader over libexpat for the small vocabularies of price feeds: elements with their
 * text, in constant memory, whatever the pieces are in which the bytes arrive. Documents may follow
 * one another (the pages of a list). Names come without their prefix.
 *
 * Refused with line: what is not well-formed, depth over 32, texts over 4 KiB, a cut document, and
 * any document type declaration (no feed has one; it is how entities are declared). */
#ifndef GPUTIER_XML_READ_H
#define GPUTIER_XML_READ_H
#include "gputier/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum xml_event {
    XML_START, /* attribute: xml_attribute */
    XML_END    /* text: what stood in the element itself, blanks at both ends removed */
};
struct xml_reader;
/* name, text: UTF-8, NUL-terminated, borrowed for the call; text "" at XML_START. */
typedef int xml_event_fn(void *ctx, struct xml_reader *r, enum xml_event e, const char *name,
                         const char *text, struct gt_error *err);
int xml_reader_new(const char *name, xml_event_fn *event, void *ctx, struct xml_reader **out,
                   struct gt_error *err) GT_CHECK;
int xml_reader_feed(struct xml_reader *r, const char *data, size_t len,
                    struct gt_error *err) GT_CHECK;
/* A complete document was there. */
int xml_reader_end(struct xml_reader *r, struct gt_error *err) GT_CHECK;
void xml_reader_free(struct xml_reader *r); /* NULL is fine */

/* For the handler. Elements open now: the root's XML_START and XML_END both have 1. */
int xml_depth(const struct xml_reader *r);
/* Value of an attribute at XML_START, NULL when the element has none. */
const char *xml_attribute(const struct xml_reader *r, const char *name);
uint64_t xml_line(const struct xml_reader *r); /* from 1 */
/* Error at the current place. */
int xml_fail(struct xml_reader *r, int code, struct gt_error *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
