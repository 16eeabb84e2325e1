/* 64 bytes at a time to bit masks: the ground under the CSV and JSON readers. SSE2 where the
 * target has it (every x86-64), else plain C that compilers vectorise. Bit i stands for byte i. */
#ifndef GPUTIER_SCAN_H
#define GPUTIER_SCAN_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define SCAN_BLOCK 64

#if defined(__SSE2__)
static inline uint64_t scan_pack(__m128i a, __m128i b, __m128i c, __m128i d)
{
    uint64_t lo = (uint32_t)_mm_movemask_epi8(a) | (uint32_t)_mm_movemask_epi8(b) << 16;
    uint64_t hi = (uint32_t)_mm_movemask_epi8(c) | (uint32_t)_mm_movemask_epi8(d) << 16;
    return lo | hi << 32;
}

static inline __m128i scan_load(const char *p)
{
    __m128i v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Bytes of p[0..64) that are c after `or_with` was or-ed into them. */
static inline uint64_t scan_eq_or(const char *p, char c, char or_with)
{
    __m128i v = _mm_set1_epi8(c), o = _mm_set1_epi8(or_with);
    return scan_pack(_mm_cmpeq_epi8(_mm_or_si128(scan_load(p), o), v),
                     _mm_cmpeq_epi8(_mm_or_si128(scan_load(p + 16), o), v),
                     _mm_cmpeq_epi8(_mm_or_si128(scan_load(p + 32), o), v),
                     _mm_cmpeq_epi8(_mm_or_si128(scan_load(p + 48), o), v));
}
#else
static inline uint64_t scan_eq_or(const char *p, char c, char or_with)
{
    uint64_t m = 0;
    for (int i = 0; i < SCAN_BLOCK; i++) {
        m |= (uint64_t)((char)(p[i] | or_with) == c) << i;
    }
    return m;
}
#endif

static inline uint64_t scan_eq(const char *p, char c)
{
    return scan_eq_or(p, c, 0);
}

/* Bit i of the result is the parity of bits 0..i: inside quotes, opening quote included. */
static inline uint64_t scan_parity(uint64_t x)
{
    x ^= x << 1;
    x ^= x << 2;
    x ^= x << 4;
    x ^= x << 8;
    x ^= x << 16;
    return x ^ x << 32;
}

static inline unsigned scan_count(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

static inline unsigned scan_first(uint64_t x) /* x != 0 */
{
    return (unsigned)__builtin_ctzll(x);
}

/* Newlines in p[0..len); *after gets the offset behind the last one (unchanged if none). */
static inline uint64_t scan_newlines(const char *p, size_t len, size_t *after)
{
    uint64_t n = 0;
    size_t i = 0;
    for (; i + SCAN_BLOCK <= len; i += SCAN_BLOCK) {
        uint64_t m = scan_eq(p + i, '\n');
        if (m != 0) {
            n += scan_count(m);
            *after = i + SCAN_BLOCK - (size_t)__builtin_clzll(m);
        }
    }
    for (; i < len; i++) {
        if (p[i] == '\n') {
            n++;
            *after = i + 1;
        }
    }
    return n;
}

#endif
