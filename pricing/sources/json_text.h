/* Texts of JSON strings (RFC 8259). */
#ifndef GPUTIER_JSON_TEXT_H
#define GPUTIER_JSON_TEXT_H
#include <stddef.h>

/* Replaces the escapes of s[0..n) in place; the new length, or SIZE_MAX for a bad one. A lone
 * surrogate and NUL become U+FFFD: neither can be part of a name. */
size_t json_unescape(char *s, size_t n);

#endif
