/* Header lines of an answer, as far as the engine needs them. */
#include "digest.h"
#include "engine.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

void answer_reset(struct answer *a)
{
    *a = (struct answer){.range_from = -1, .range_to = -1, .range_total = -1};
}

/* A value that does not fit is no value: half an ETag would be a wrong one. One with control
 * characters is none either: it would be sent back, or shown. */
static void keep(char *to, size_t size, const char *value)
{
    bool clean = true;
    for (const char *p = value; *p; p++) {
        clean = clean && (unsigned char)*p >= ' ' && *p != 0x7f;
    }
    if (clean && strlen(value) < size) {
        memcpy(to, value, strlen(value) + 1);
    }
}

/* "bytes 100-199/500"; the length may be "*". */
static void content_range(struct answer *a, const char *value)
{
    long long from, to, total = -1;
    a->range_from = a->range_to = a->range_total = -1;
    if (strncasecmp(value, "bytes", 5) != 0 ||
        sscanf(value + 5, " %18lld-%18lld/%18lld", &from, &to, &total) < 2 || from < 0 ||
        to < from || (total != -1 && total <= to)) {
        return;
    }
    a->range_from = from;
    a->range_to = to;
    a->range_total = total;
}

static void field(struct answer *a, const char *name, const char *value)
{
    if (strcasecmp(name, "etag") == 0) {
        keep(a->etag, sizeof a->etag, value);
    } else if (strcasecmp(name, "last-modified") == 0) {
        keep(a->last_modified, sizeof a->last_modified, value);
    } else if (strcasecmp(name, "content-encoding") == 0) {
        keep(a->coding, sizeof a->coding, value);
    } else if (strcasecmp(name, "retry-after") == 0) {
        keep(a->retry_after, sizeof a->retry_after, value);
    } else if (strcasecmp(name, "content-type") == 0) {
        a->html = strncasecmp(value, "text/html", 9) == 0;
    } else if (strcasecmp(name, "accept-ranges") == 0) {
        a->no_ranges = strcasecmp(value, "none") == 0;
    } else if (strcasecmp(name, "content-range") == 0) {
        content_range(a, value);
    } else if (digest_header(name, value, a->digest)) {
        a->has_digest = true;
    }
}

void answer_line(struct answer *a, const char *line, size_t len)
{
    char text[1024];
    if (len >= 5 && strncmp(line, "HTTP/", 5) == 0) {
        answer_reset(a); /* a new answer begins: 100 Continue, a proxy's CONNECT */
        const char *space = memchr(line, ' ', len);
        for (const char *p = space ? space + 1 : line; p < line + len && *p >= '0' && *p <= '9';
             p++) {
            a->status = a->status < 1000 ? a->status * 10 + (*p - '0') : a->status;
        }
        return;
    }
    while (len > 0 && (unsigned char)line[len - 1] <= ' ') {
        len--;
    }
    const char *colon = len > 0 ? memchr(line, ':', len) : NULL;
    if (!colon || len >= sizeof text) {
        return;
    }
    memcpy(text, line, len);
    text[len] = '\0';
    char *value = text + (colon - line);
    *value++ = '\0';
    value += strspn(value, " \t");
    field(a, text, value);
}
