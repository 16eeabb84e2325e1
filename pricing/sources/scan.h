/* 64 bytes at a time to bit masks: the ground under the CSV and JSON readers. Bit i stands for byte
 * i. Plain C on the vector types of gcc and clang; scan_masks.c adds AVX2. */
#ifndef GPUTIER_SCAN_H
#define GPUTIER_SCAN_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SCAN_BLOCK 64

typedef uint8_t scan_bytes __attribute__((vector_size(16)));
typedef uint64_t scan_words __attribute__((vector_size(16)));

static inline scan_bytes scan_load(const char *p)
{
    scan_bytes v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* v: all ones or zero a byte; to 16 bits. */
static inline uint64_t scan_bits(scan_bytes v)
{
#ifdef __SSE2__
    typedef char sse_bytes __attribute__((vector_size(16)));
    return (uint64_t)(unsigned)__builtin_ia32_pmovmskb128((sse_bytes)v);
#else
    static const scan_bytes weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    static const uint64_t ones = 0x0101010101010101; /* times this: the sum of the bytes on top */
    scan_words w = (scan_words)(v & weight);
    return w[0] * ones >> 56 | w[1] * ones >> 56 << 8;
#endif
}

#define SCAN_MASK(p, v, test)                                                                      \
    uint64_t bits = 0;                                                                             \
    for (int i = 0; i < SCAN_BLOCK; i += 16) {                                                     \
        scan_bytes v = scan_load(p + i);                                                           \
        bits |= scan_bits((scan_bytes)(test)) << i;                                                \
    }                                                                                              \
    return bits

static inline uint64_t scan_eq(const char *p, char c)
{
    SCAN_MASK(p, v, v == (uint8_t)c);
}

static inline uint64_t scan_control(const char *p)
{
    SCAN_MASK(p, v, v < 0x20);
}

static inline uint64_t scan_high(const char *p)
{
    SCAN_MASK(p, v, v > 0x7f);
}

/* Bytes over 0x7f, '[', '\\', ']', and control characters but for newlines. */
static inline uint64_t scan_odd(const char *p)
{
    SCAN_MASK(p, v, (v > 0x7f) | (v - '[' <= ']' - '[') | ((v < 0x20) & (v != '\n')));
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
    for (size_t i = 0; i < len; i++) {
        const char *nl = memchr(p + i, '\n', len - i);
        if (!nl) {
            break;
        }
        i = (size_t)(nl - p);
        *after = i + 1;
        n++;
    }
    return n;
}

#endif
