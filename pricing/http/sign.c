/* Signatures of requests: see sign.h. */
#include "sign.h"
#include "sha256.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 64

void hmac_sha256(const void *key, size_t key_len, const char *text, unsigned char out[32])
{
    unsigned char block[BLOCK] = {0}, inner[32];
    struct sha256 s;
    sha256_init(&s);
    if (key_len > BLOCK) {
        sha256_add(&s, key, key_len);
        sha256_end(&s, block);
        sha256_init(&s);
    } else {
        memcpy(block, key, key_len);
    }
    for (size_t i = 0; i < BLOCK; i++) {
        block[i] ^= 0x36;
    }
    sha256_add(&s, block, BLOCK);
    sha256_add(&s, text, strlen(text));
    sha256_end(&s, inner);
    for (size_t i = 0; i < BLOCK; i++) {
        block[i] ^= 0x36 ^ 0x5c;
    }
    sha256_init(&s);
    sha256_add(&s, block, BLOCK);
    sha256_add(&s, inner, sizeof inner);
    sha256_end(&s, out);
}

const char *hmac_hex(const void *key, size_t key_len, const char *text, char out[65])
{
    unsigned char mac[32];
    hmac_sha256(key, key_len, text, mac);
    return sha256_hex(mac, out);
}

const char *text_sha256_hex(const char *text, char out[65])
{
    unsigned char digest[32];
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, text, strlen(text));
    sha256_end(&s, digest);
    return sha256_hex(digest, out);
}

static void add(struct sign *s, const char *name, const char *value)
{
    if (!name || !value || s->n == SIGN_LINES) {
        s->failed = true;
        return;
    }
    s->header[s->n].name = name;
    s->header[s->n++].value = value;
}

void sign_begin(struct sign *s, struct arena *a, const char *url, const char *body)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    size_t n = strcspn(host, "/?");
    const char *path = host + n, *query = strchr(path, '?');
    size_t path_len = query ? (size_t)(query - path) : strlen(path);
    *s = (struct sign){.a = a, .method = body ? "POST" : "GET", .query = query ? query + 1 : ""};
    s->body = body ? body : "";
    s->path = path_len > 0 ? arena_strndup(a, path, path_len) : "/";
    s->failed = !s->path;
    add(s, "host", arena_strndup(a, host, n));
}

void sign_line(struct sign *s, bool is_signed, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    int len = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    char *line = len > 0 && (size_t)len < sizeof text ? arena_strdup(s->a, text) : NULL;
    if (!line || s->n_lines == SIGN_LINES) {
        s->failed = true;
        return;
    }
    s->line[s->n_lines++] = line;
    if (is_signed) {
        size_t n = strcspn(line, ":");
        char *name = arena_strndup(s->a, line, n);
        for (char *p = name; p && *p != '\0'; p++) {
            *p = (char)tolower((unsigned char)*p);
        }
        add(s, name, line + n + strspn(line + n, ": "));
    }
}

static int by_name(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

static void put(struct sha256 *h, const char *text, const char *end)
{
    sha256_add(h, text, strlen(text));
    sha256_add(h, end, strlen(end));
}

void sign_digest(struct sign *s, char hex[65], char names[256])
{
    unsigned char digest[32];
    struct sha256 h;
    size_t used = 0;
    names[0] = '\0';
    qsort(s->header, s->n, sizeof *s->header, by_name);
    sha256_init(&h);
    put(&h, s->method, "\n");
    put(&h, s->path, "\n");
    put(&h, s->query, "\n");
    for (size_t i = 0; i < s->n; i++) {
        put(&h, s->header[i].name, ":");
        put(&h, s->header[i].value, "\n");
        int k = snprintf(names + used, 256 - used, "%s%s", i > 0 ? ";" : "", s->header[i].name);
        if (k < 0 || (size_t)k >= 256 - used) {
            s->failed = true;
            return;
        }
        used += (size_t)k;
    }
    put(&h, "", "\n");
    put(&h, names, "\n");
    put(&h, text_sha256_hex(s->body, hex), "");
    sha256_end(&h, digest);
    sha256_hex(digest, hex);
}

int sign_end(const struct sign *s, const char *const **lines, struct gt_error *err)
{
    *lines = s->line;
    return s->failed ? gt_fail(err, GT_EINVALID, "", "the request can not be signed") : 0;
}
