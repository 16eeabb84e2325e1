/* Stated checksums: see digest.h. */
#include "digest.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* Decodes exactly 32 bytes of base64 (44 characters, one '=' at the end, which may be absent). */
static bool base64_32(const char *s, unsigned char out[32])
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    int have = 0;
    size_t n = 0;
    for (size_t i = 0; i < 43; i++) {
        const char *p = s[i] ? strchr(alphabet, s[i]) : NULL;
        if (!p) {
            return false;
        }
        bits = bits << 6 | (uint32_t)(p - alphabet);
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[n++] = (unsigned char)(bits >> have);
        }
    }
    return n == 32 && !strchr(alphabet, s[43] ? s[43] : '=');
}

bool digest_header(const char *name, const char *value, unsigned char digest[32])
{
    if (strcasecmp(name, "x-amz-checksum-sha256") == 0) {
        /* A multipart object's "-N" digest is one of digests, not of the body. */
        return base64_32(value, digest) && !strchr(value, '-');
    }
    if (strcasecmp(name, "digest") != 0 && strcasecmp(name, "repr-digest") != 0 &&
        strcasecmp(name, "content-digest") != 0) {
        return false;
    }
    for (const char *p = value; *p;) {
        p += strspn(p, " \t,");
        if (strncasecmp(p, "sha-256=", 8) == 0) {
            p += 8;
            return base64_32(*p == ':' ? p + 1 : p, digest);
        }
        p += strcspn(p, ",");
    }
    return false;
}
