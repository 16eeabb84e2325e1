/* Text that is safe to show: UTF-8 checked, control characters removed, width measured in cells. */
#ifndef GPUTIER_TEXT_H
#define GPUTIER_TEXT_H
#include "gputier/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the valid UTF-8 sequence at s (1..4), 0 if invalid or cut; *cp gets the code point. */
size_t utf8_decode(const char *s, size_t len, uint32_t *cp);
bool utf8_valid(const char *s, size_t len);
/* Cells of one code point: 0 combining/format, 2 wide, -1 control. */
int text_cp_width(uint32_t cp);
/* Cells of s; controls and invalid bytes count as the replacement shown by text_safe. */
size_t text_width(const char *s, size_t len);
/* Appends s with C0/C1 controls, DEL, bidi overrides and invalid bytes replaced by U+FFFD (ASCII
 * "?" when ascii is set). */
int text_safe(struct buf *out, const char *s, size_t len, bool ascii);
/* Appends s cut to `cells` (an ellipsis marks the cut) and padded to exactly that width:
 * align < 0 left, > 0 right, 0 no padding. Input must be safe text. */
int text_fit(struct buf *out, const char *s, size_t cells, int align, bool ascii);
/* Case-blind ASCII comparisons for names. */
bool text_ieq(const char *a, const char *b);
/* GPU and instance name match of product.md section 7: whole leading parts, case-blind, space =
 * dash: "A100-80GB" matches "A100-80GB SXM4". */
bool text_leading_parts(const char *pattern, const char *name);
/* Edit distance for "did you mean", capped at 64 characters a side. */
size_t text_distance(const char *a, const char *b);

#endif
