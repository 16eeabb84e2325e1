/* BLAKE3 (the public specification, 2020; plain hash of 32 bytes): names the exact bytes that a
 * price came from. It is a tree of chunks that do not wait for each other, so that a core makes
 * several GB of it a second, where one stream of SHA-256 is 1.6 at most; Debian's `b3sum` prints
 * the same. SHA-256 (sha256.h) is for what others ask to be signed or state of a body. */
#ifndef GPUTIER_BLAKE3_H
#define GPUTIER_BLAKE3_H
#include <stddef.h>
#include <stdint.h>

#define BLAKE3_CHUNK  1024
#define BLAKE3_LEVELS 54 /* 2^54 chunks are 2^64 bytes */
#define BLAKE3_NAME   "blake3:"
#define BLAKE3_TEXT   72 /* the name, 64 digits, NUL */

/* The instruction sets; a test compares them. BEST: the widest that the processor has. */
enum blake3_path { BLAKE3_BEST, BLAKE3_PLAIN, BLAKE3_AVX2, BLAKE3_AVX512 };

struct blake3_job;
struct blake3 {
    void (*many)(const struct blake3_job *job, unsigned char (*out)[32], size_t n);
    uint64_t chunks; /* that are in `node`; the last one of the stream never is */
    size_t have;     /* of the begun chunk */
    unsigned char node[BLAKE3_LEVELS][32]; /* at bit i of `chunks`: the root of 2^i of them */
    unsigned char chunk[BLAKE3_CHUNK];
};
void blake3_init(struct blake3 *h);
/* The same by one path; one that this processor lacks gives the plain one. */
void blake3_init_path(struct blake3 *h, enum blake3_path path);
void blake3_add(struct blake3 *h, const void *data, size_t len);
void blake3_end(const struct blake3 *h, unsigned char out[32]);
/* Name and digits of the end; returns out. */
const char *blake3_text(const struct blake3 *h, char out[BLAKE3_TEXT]);

#endif
