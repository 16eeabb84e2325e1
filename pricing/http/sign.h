/* HMAC-SHA256 and the canonical request that vendors' signatures are made of: method, path, query,
 * header lines, their names, and the body's SHA-256, a line each. The vendors differ in what they
 * put around it (alibaba_walk.c, tencent_walk.c, huawei_walk.c). */
#ifndef GPUTIER_SIGN_H
#define GPUTIER_SIGN_H
#include "gputier/arena.h"
#include "gputier/error.h"
#include <stdbool.h>
#include <stddef.h>

/* RFC 2104. */
void hmac_sha256(const void *key, size_t key_len, const char *text, unsigned char out[32]);
const char *hmac_hex(const void *key, size_t key_len, const char *text, char out[65]);
const char *text_sha256_hex(const char *text, char out[65]);

#define SIGN_LINES 12
/* One try of a request. What fails makes sign_end fail. */
struct sign {
    struct arena *a;
    const char *method, *path, *query, *body; /* path with its "/", query without "?" */
    struct {
        const char *name, *value; /* name in lower case */
    } header[SIGN_LINES];
    size_t n, n_lines;
    const char *line[SIGN_LINES + 1]; /* to be sent */
    bool failed;
};
/* Method, path, query, body (NULL = a GET) and the host line, which is not in `line`. */
void sign_begin(struct sign *s, struct arena *a, const char *url, const char *body);
/* A header line that is sent, and signed if so asked: name and value in lower case and as given. */
void sign_line(struct sign *s, bool is_signed, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The hex SHA-256 of the canonical request, and the names of the signed lines as "a;b;c". */
void sign_digest(struct sign *s, char hex[65], char names[256]);
/* The lines to send; in the arena with *s. */
int sign_end(const struct sign *s, const char *const **lines, struct gt_error *err) GT_CHECK;

#endif
