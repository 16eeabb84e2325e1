/* BLAKE3: whole chunks and pairs of nodes are hashed side by side (blake3_kernel.h), as many as the
 * processor has lanes for; the tree grows as a binary number does when it is added to. */
#include "blake3.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define BLOCK ((size_t)64)
#define BATCH ((size_t)128) /* chunks hashed before their nodes are joined */

enum { CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8 };

/* Chunks from number `first` on, or blocks of two nodes each, one behind the other. */
struct blake3_job {
    const unsigned char *in;
    bool chunk;
    uint64_t first;
};

static const uint32_t blake3_iv[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static inline uint32_t load_le(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void store_le(uint32_t x, unsigned char *p)
{
    for (int i = 0; i < 4; i++) {
        p[i] = (unsigned char)(x >> 8 * i);
    }
}

typedef uint32_t words4 __attribute__((vector_size(16)));

static inline void load4(words4 m[16], const unsigned char *const from[4])
{
    for (size_t i = 0; i < 16; i++) {
        m[i] = (words4){load_le(from[0] + 4 * i), load_le(from[1] + 4 * i),
                        load_le(from[2] + 4 * i), load_le(from[3] + 4 * i)};
    }
}

#define NAME(x) plain_##x
#define TARGET
#define LANES     4
#define WORDS     words4
#define LOAD      load4
#define ROR(x, n) ((x) >> (n) | (x) << (32 - (n)))
#include "blake3_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2   __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f")))

typedef uint32_t words8 __attribute__((vector_size(32)));
typedef uint32_t words16 __attribute__((vector_size(64)));

/* Rows to columns: single words, pairs, then halves change places. */
#define WORDS_LOW(a, b)  __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define WORDS_HIGH(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define PAIRS_LOW(a, b)  __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define PAIRS_HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define HALF_LOW(a, b)   __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define HALF_HIGH(a, b)  __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)

AVX2 static inline void load8(words8 m[16], const unsigned char *const from[8])
{
    words8 a[8], b[8];
#pragma GCC unroll 2
    for (size_t half = 0; half < 2; half++, m += 8) {
#pragma GCC unroll 8
        for (size_t i = 0; i < 8; i++) {
            memcpy(&a[i], from[i] + half * sizeof a[i], sizeof a[i]);
        }
#pragma GCC unroll 8
        for (size_t i = 0; i < 8; i += 2) {
            b[i] = WORDS_LOW(a[i], a[i + 1]);
            b[i + 1] = WORDS_HIGH(a[i], a[i + 1]);
        }
#pragma GCC unroll 8
        for (size_t i = 0; i < 8; i += 4) {
            a[i] = PAIRS_LOW(b[i], b[i + 2]);
            a[i + 1] = PAIRS_HIGH(b[i], b[i + 2]);
            a[i + 2] = PAIRS_LOW(b[i + 1], b[i + 3]);
            a[i + 3] = PAIRS_HIGH(b[i + 1], b[i + 3]);
        }
#pragma GCC unroll 8
        for (size_t i = 0; i < 4; i++) {
            m[i] = HALF_LOW(a[i], a[i + 4]);
            m[i + 4] = HALF_HIGH(a[i], a[i + 4]);
        }
    }
}

/* Rows i and i + 8 are brought together word by word; after four times each row is a column. */
#define LOW(a, b)                                                                                  \
    __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH(a, b)                                                                                 \
    __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define TOGETHER(to, row)                                                                          \
    _Pragma("GCC unroll 8") for (size_t i = 0; i < 8; i++)                                         \
    {                                                                                              \
        (to)[2 * i] = LOW((row)[i], (row)[i + 8]);                                                 \
        (to)[2 * i + 1] = HIGH((row)[i], (row)[i + 8]);                                            \
    }

AVX512 static inline void load16(words16 m[16], const unsigned char *const from[16])
{
    words16 a[16];
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; i++) {
        memcpy(&a[i], from[i], sizeof a[i]);
    }
    TOGETHER(m, a)
    TOGETHER(a, m)
    TOGETHER(m, a)
    TOGETHER(a, m)
    memcpy(m, a, sizeof a);
}

/* By whole bytes AVX2 turns words with one instruction instead of three. */
AVX2 static inline words8 turn_bytes(words8 x, int n)
{
    const __m256i by16 = _mm256_set1_epi64x(0x0504070601000302),
                  by8 = _mm256_set1_epi64x(0x0407060500030201);
    __m256i high = _mm256_set_epi64x(0x0808080808080808, 0, 0x0808080808080808, 0);
    return (words8)_mm256_shuffle_epi8((__m256i)x, _mm256_add_epi8(n == 16 ? by16 : by8, high));
}

#define NAME(x)   avx2_##x
#define TARGET    AVX2
#define LANES     8
#define WORDS     words8
#define LOAD      load8
#define ROR(x, n) ((n) % 8 == 0 ? turn_bytes(x, n) : ((x) >> (n) | (x) << (32 - (n))))
#include "blake3_kernel.h"

#define NAME(x)   avx512_##x
#define TARGET    AVX512
#define LANES     16
#define WORDS     words16
#define LOAD      load16
#define ROR(x, n) ((words16)_mm512_ror_epi32((__m512i)(x), n))
#include "blake3_kernel.h"
#endif

void blake3_init_path(struct blake3 *h, enum blake3_path path)
{
    h->chunks = 0;
    h->have = 0;
    h->many = plain_many;
#if defined(__x86_64__)
    bool avx2 = __builtin_cpu_supports("avx2"), avx512 = __builtin_cpu_supports("avx512f");
    if (avx512 && (path == BLAKE3_BEST || path == BLAKE3_AVX512)) {
        h->many = avx512_many;
    } else if (avx2 && (path == BLAKE3_BEST || path == BLAKE3_AVX2)) {
        h->many = avx2_many;
    }
#else
    (void)path;
#endif
}

void blake3_init(struct blake3 *h)
{
    blake3_init_path(h, BLAKE3_BEST);
}

/* n <= BATCH whole chunks, of which none is the last of the stream. On each level an odd node from
 * before goes in front, the rest is joined in pairs, and an odd one at the end is kept. */
static void add_chunks(struct blake3 *h, const unsigned char *p, size_t n)
{
    /* from 1 on; 0 is for the one from before. By turns of the levels. */
    unsigned char node[2][BATCH + 1][32];
    uint64_t before = h->chunks;
    h->many(&(struct blake3_job){.in = p, .chunk = true, .first = before}, node[0] + 1, n);
    h->chunks += n;
    for (int level = 0; n > 0; level++, before >>= 1) {
        unsigned char(*from)[32] = node[level % 2], (*to)[32] = node[(level + 1) % 2] + 1;
        if (before & 1) {
            memcpy(from[0], h->node[level], sizeof from[0]);
            n++;
        } else {
            from++;
        }
        if (n % 2 == 1) {
            memcpy(h->node[level], from[n - 1], sizeof from[0]);
        }
        n /= 2;
        h->many(&(struct blake3_job){.in = from[0]}, to, n);
    }
}

void blake3_add(struct blake3 *h, const void *data, size_t len)
{
    const unsigned char *p = data;
    if (len == 0) {
        return;
    }
    if (h->have > 0) {
        size_t room = BLAKE3_CHUNK - h->have, n = len < room ? len : room;
        memcpy(h->chunk + h->have, p, n);
        h->have += n;
        p += n;
        len -= n;
        if (len == 0) {
            return;
        }
        add_chunks(h, h->chunk, 1);
    }
    while (len > BLAKE3_CHUNK) { /* one is held back: the last chunk may be the root */
        size_t n = (len - 1) / BLAKE3_CHUNK;
        n = n < BATCH ? n : BATCH;
        add_chunks(h, p, n);
        p += n * BLAKE3_CHUNK;
        len -= n * BLAKE3_CHUNK;
    }
    memcpy(h->chunk, p, len);
    h->have = len;
}

static void store_words(const uint32_t h[8], unsigned char out[32])
{
    for (size_t i = 0; i < 8; i++) {
        store_le(h[i], out + 4 * i);
    }
}

/* One block by one lane of the plain way; the others do the same. */
static void one_block(uint32_t h[8], const unsigned char *p, uint64_t count, size_t len,
                      uint32_t flags)
{
    const unsigned char *const from[4] = {p, p, p, p};
    words4 v[8], low = {(uint32_t)count}, high = {(uint32_t)(count >> 32)};
    for (size_t i = 0; i < 8; i++) {
        v[i] = (words4){h[i]};
    }
    plain_block(v, from, low, high, (uint32_t)len, flags);
    for (size_t i = 0; i < 8; i++) {
        h[i] = v[i][0];
    }
}

void blake3_end(const struct blake3 *h, unsigned char out[32])
{
    uint32_t now[8];
    uint64_t rest = h->chunks;
    uint32_t root = rest == 0 ? ROOT : 0;
    size_t at = 0;
    memcpy(now, blake3_iv, sizeof now);
    do {
        unsigned char block[BLOCK] = {0};
        size_t len = h->have - at < BLOCK ? h->have - at : BLOCK;
        uint32_t flags = at == 0 ? CHUNK_START : 0;
        memcpy(block, h->chunk + at, len);
        at += len;
        flags |= at == h->have ? CHUNK_END | root : 0;
        one_block(now, block, h->chunks, len, flags);
    } while (at < h->have);
    for (int level = 0; rest > 0; level++, rest >>= 1) {
        if (rest & 1) {
            unsigned char pair[BLOCK];
            memcpy(pair, h->node[level], BLOCK / 2);
            store_words(now, pair + BLOCK / 2);
            memcpy(now, blake3_iv, sizeof now);
            one_block(now, pair, 0, BLOCK, rest == 1 ? PARENT | ROOT : PARENT);
        }
    }
    store_words(now, out);
}

const char *blake3_text(const struct blake3 *h, char out[BLAKE3_TEXT])
{
    unsigned char digest[32];
    blake3_end(h, digest);
    size_t n = (size_t)snprintf(out, BLAKE3_TEXT, BLAKE3_NAME);
    for (size_t i = 0; i < sizeof digest; i++) {
        n += (size_t)snprintf(out + n, BLAKE3_TEXT - n, "%02x", digest[i]);
    }
    return out;
}
