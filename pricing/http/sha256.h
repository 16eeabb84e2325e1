/* SHA-256 (FIPS 180-4): for what others ask to be signed with it, and for the checksums that
 * servers state. Our own name for bytes is their BLAKE3 (blake3.h). */
#ifndef GPUTIER_SHA256_H
#define GPUTIER_SHA256_H
#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t h[8];
    uint64_t bytes;
    unsigned char block[64];
    void (*compress)(uint32_t h[8], const unsigned char *p, size_t blocks);
};
void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t len);
void sha256_end(struct sha256 *s, unsigned char out[32]);
const char *sha256_hex(const unsigned char digest[32], char out[65]); /* returns out */
/* The plain C rounds whatever the processor: a test compares both. */
void sha256_init_portable(struct sha256 *s);

#endif
