/* Addresses: what may be asked, how they are joined, and how they may be shown. */
#ifndef GPUTIER_URL_H
#define GPUTIER_URL_H
#include "gputier/arena.h"
#include "gputier/error.h"
#include <stdbool.h>
#include <stddef.h>

/* Refuses everything but http:// and https:// with a host, and user names or passwords in the
 * address (they would end in logs). */
int url_check(const char *url, struct gt_error *err) GT_CHECK;
bool url_is_https(const char *url);
/* Same scheme, host and port: header lines with a key may follow there. */
bool url_same_origin(const char *a, const char *b);
/* base + path, or ref itself when it is absolute; in arena a. */
int url_join(struct arena *a, const char *base, const char *ref, char **out,
             struct gt_error *err) GT_CHECK;
/* The address without user, query and fragment, cut to the buffer; returns buf. */
const char *url_redact(const char *url, char *buf, size_t size);
/* Percent-encodes all but letters, digits and "-_.~"; NULL when out of memory. */
char *url_escape(struct arena *a, const char *text);

#endif
