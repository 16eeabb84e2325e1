/* SHA-256, plain and with the x86 SHA instructions where the processor has them (1.6 GB/s
 * against 0.2: a stated checksum must not be what a 450 MB price list waits for). */
#include "sha256.h"
#include <stdbool.h>
#include <string.h>

static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t ror(uint32_t x, int n)
{
    return (x >> n) | (x << (32 - n));
}

static uint32_t load_be(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void compress_plain(uint32_t h[8], const unsigned char *p, size_t blocks)
{
    for (; blocks > 0; blocks--, p += 64) {
        uint32_t w[64], s[8];
        for (int i = 0; i < 16; i++) {
            w[i] = load_be(p + (size_t)i * 4);
        }
        for (int i = 16; i < 64; i++) {
            uint32_t a = w[i - 15], b = w[i - 2];
            w[i] = w[i - 16] + (ror(a, 7) ^ ror(a, 18) ^ (a >> 3)) + w[i - 7] +
                   (ror(b, 17) ^ ror(b, 19) ^ (b >> 10));
        }
        memcpy(s, h, sizeof s);
        for (int i = 0; i < 64; i++) {
            uint32_t t1 = s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25)) +
                          ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha256_k[i] + w[i];
            uint32_t t2 = (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22)) +
                          ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            memmove(s + 1, s, 7 * sizeof *s);
            s[4] += t1;
            s[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++) {
            h[i] += s[i];
        }
    }
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

static bool have_ni(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1U << 19)) || !(c & (1U << 9))) {
        return false; /* SSE4.1 and SSSE3 */
    }
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1U << 29));
}

#define NI __attribute__((target("sha,sse4.1,ssse3")))

/* Sixteen rounds four at a time; w: the sixteen words that come next. */
NI static inline void rounds(__m128i *abef, __m128i *cdgh, __m128i w[4], const uint32_t *k)
{
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m128i now = w[i], last = w[(i + 3) % 4];
        __m128i x = _mm_add_epi32(now, _mm_loadu_si128((const __m128i *)(const void *)k + i));
        *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, x);
        *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(x, 0x0E));
        /* the four words sixteen further on */
        now = _mm_sha256msg1_epu32(now, w[(i + 1) % 4]);
        now = _mm_add_epi32(now, _mm_alignr_epi8(last, w[(i + 2) % 4], 4));
        w[i] = _mm_sha256msg2_epu32(now, last);
    }
}

NI static void compress_ni(uint32_t h[8], const unsigned char *p, size_t blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i t = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)h), 0xB1);
    __m128i u = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(h + 4)), 0x1B);
    __m128i abef = _mm_alignr_epi8(t, u, 8), cdgh = _mm_blend_epi16(u, t, 0xF0);
    for (; blocks > 0; blocks--, p += 64) {
        __m128i w[4], was_abef = abef, was_cdgh = cdgh;
        for (int i = 0; i < 4; i++) {
            w[i] = _mm_loadu_si128((const __m128i *)(const void *)p + i);
            w[i] = _mm_shuffle_epi8(w[i], swap);
        }
        for (int i = 0; i < 64; i += 16) {
            rounds(&abef, &cdgh, w, sha256_k + i);
        }
        abef = _mm_add_epi32(abef, was_abef);
        cdgh = _mm_add_epi32(cdgh, was_cdgh);
    }
    t = _mm_shuffle_epi32(abef, 0x1B);
    u = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)(void *)h, _mm_blend_epi16(t, u, 0xF0));
    _mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_alignr_epi8(u, t, 8));
}
#endif

void sha256_init_portable(struct sha256 *s)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->h, start, sizeof start);
    s->bytes = 0;
    s->compress = compress_plain;
}

void sha256_init(struct sha256 *s)
{
    sha256_init_portable(s);
#if defined(__x86_64__)
    if (have_ni()) {
        s->compress = compress_ni;
    }
#endif
}

void sha256_add(struct sha256 *s, const void *data, size_t len)
{
    const unsigned char *p = data;
    size_t have = s->bytes % 64;
    s->bytes += len;
    if (have > 0) {
        size_t n = len < 64 - have ? len : 64 - have;
        memcpy(s->block + have, p, n);
        if (have + n < 64) {
            return;
        }
        s->compress(s->h, s->block, 1);
        p += n;
        len -= n;
    }
    s->compress(s->h, p, len / 64);
    if (len % 64 > 0) {
        memcpy(s->block, p + len / 64 * 64, len % 64);
    }
}

void sha256_end(struct sha256 *s, unsigned char out[32])
{
    uint64_t bits = s->bytes * 8;
    unsigned char pad[72] = {0x80};
    size_t n = 64 - (s->bytes + 8) % 64;
    for (size_t i = 0; i < 8; i++) {
        pad[n + i] = (unsigned char)(bits >> (56 - 8 * i));
    }
    sha256_add(s, pad, n + 8);
    for (size_t i = 0; i < 32; i++) {
        out[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
    }
}

const char *sha256_hex(const unsigned char digest[32], char out[65])
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < 32; i++) {
        out[2 * i] = hex[digest[i] >> 4];
        out[2 * i + 1] = hex[digest[i] & 15];
    }
    out[64] = '\0';
    return out;
}
