/* Texts of JSON tokens (RFC 8259): escapes and the form of numbers. */
#ifndef GPUTIER_JSON_TEXT_H
#define GPUTIER_JSON_TEXT_H
#include <stdbool.h>
#include <stddef.h>

/* Replaces the escapes of s[0..n) in place; the new length, or SIZE_MAX for a bad one. A lone
 * surrogate and NUL become U+FFFD: neither can be part of a name. */
size_t json_unescape(char *s, size_t n);
/* Whether t[0..n) is a number of RFC 8259. */
bool json_number_ok(const char *t, size_t n);

#endif
