/* Addresses: see url.h. Only what fetching needs: no relative paths, no normalising. */
#include "url.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define URL_MAX 4096

/* Where the host begins, NULL when the scheme is neither http nor https. */
static const char *authority(const char *url)
{
    if (strncasecmp(url, "https://", 8) == 0) {
        return url + 8;
    }
    if (strncasecmp(url, "http://", 7) == 0) {
        return url + 7;
    }
    return NULL;
}

bool url_is_https(const char *url)
{
    return strncasecmp(url, "https://", 8) == 0;
}

int url_check(const char *url, struct gt_error *err)
{
    char shown[128];
    url_redact(url, shown, sizeof shown);
    if (strlen(url) > URL_MAX) {
        return gt_fail(err, GT_ELIMIT, shown, "the address is longer than %d bytes", URL_MAX);
    }
    const char *host = authority(url);
    if (!host) {
        return gt_fail(err, GT_EHTTP, shown, "only http:// and https:// addresses are fetched");
    }
    size_t n = strcspn(host, "/?#");
    if (n == 0) {
        return gt_fail(err, GT_EHTTP, shown, "the address has no host");
    }
    if (memchr(host, '@', n)) {
        return gt_fail(err, GT_EHTTP, shown,
                       "the address holds a user name or password; keys belong in the environment");
    }
    for (const char *p = url; *p; p++) {
        if ((unsigned char)*p <= ' ' || (unsigned char)*p == 0x7f) {
            return gt_fail(err, GT_EHTTP, shown, "the address holds a blank or control character");
        }
    }
    return 0;
}

/* Of the host and its port, without a port that the scheme has anyway. */
static size_t host_length(const char *url, const char *host)
{
    const char *usual = url_is_https(url) ? ":443" : ":80";
    size_t n = strcspn(host, "/?#"), k = strlen(usual);
    return n > k && strncmp(host + n - k, usual, k) == 0 ? n - k : n;
}

bool url_same_origin(const char *a, const char *b)
{
    const char *ha = authority(a), *hb = authority(b);
    if (!ha || !hb || url_is_https(a) != url_is_https(b)) {
        return false;
    }
    size_t na = host_length(a, ha), nb = host_length(b, hb);
    return na == nb && strncasecmp(ha, hb, na) == 0;
}

int url_join(struct arena *a, const char *base, const char *ref, char **out, struct gt_error *err)
{
    if (ref[0] == '/' && ref[1] != '/') {
        size_t n = strlen(base);
        while (n > 0 && base[n - 1] == '/') {
            n--;
        }
        *out = arena_printf(a, "%.*s%s", (int)n, base, ref);
    } else {
        *out = arena_strdup(a, ref);
    }
    if (!*out) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    return url_check(*out, err);
}

char *url_escape(struct arena *a, const char *text)
{
    size_t n = 0;
    char *out = arena_alloc(a, 3 * strlen(text) + 1);
    for (const char *p = text; out && *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
            strchr("-_.~", c)) {
            out[n++] = *p;
        } else {
            n += (size_t)snprintf(out + n, 4, "%%%02X", c);
        }
    }
    return out;
}

const char *url_redact(const char *url, char *buf, size_t size)
{
    const char *scheme_end = strstr(url, "://");
    const char *host = scheme_end ? scheme_end + 3 : url;
    size_t n = strcspn(host, "/?#");
    const char *shown = host;
    for (size_t i = 0; i < n; i++) {
        if (host[i] == '@') {
            shown = host + i + 1;
        }
    }
    size_t rest = strcspn(shown, "?#");
    snprintf(buf, size, "%.*s%.*s%s", (int)(host - url), url, (int)rest, shown,
             shown[rest] == '?' ? "?..." : "");
    for (char *p = buf; *p; p++) {
        if ((unsigned char)*p < ' ' || (unsigned char)*p == 0x7f) {
            *p = '?';
        }
    }
    return buf;
}
