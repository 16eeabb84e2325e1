/* SHA-256 rounds by the x86 SHA instructions, one 64-byte block a call, to be inlined: sha256.c
 * hashes with them alone, the scanner of price lists beside its own work (sources/scan_masks.c),
 * as the rounds wait for each other and leave the processor idle. Only where struct sha256
 * has ni set. */
#ifndef GPUTIER_SHA256_NI_H
#define GPUTIER_SHA256_NI_H
#if defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_NI "sha,sse4.1,ssse3"

extern const uint32_t sha256_k[64];
struct sha256_lanes {
    __m128i abef, cdgh;
};

__attribute__((target(SHA256_NI))) static inline struct sha256_lanes
sha256_lanes_load(const uint32_t h[8])
{
    __m128i t = _mm_loadu_si128((const __m128i *)(const void *)h);
    __m128i u = _mm_loadu_si128((const __m128i *)(const void *)(h + 4));
    t = _mm_shuffle_epi32(t, 0xB1);
    u = _mm_shuffle_epi32(u, 0x1B);
    return (struct sha256_lanes){_mm_alignr_epi8(t, u, 8), _mm_blend_epi16(u, t, 0xF0)};
}

__attribute__((target(SHA256_NI))) static inline void
sha256_lanes_store(const struct sha256_lanes *s, uint32_t h[8])
{
    __m128i t = _mm_shuffle_epi32(s->abef, 0x1B);
    __m128i u = _mm_shuffle_epi32(s->cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)(void *)h, _mm_blend_epi16(t, u, 0xF0));
    _mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_alignr_epi8(u, t, 8));
}

/* One block in four quarters, so that other work can stand between them. */
struct sha256_work {
    __m128i m[4], abef, cdgh;
};

__attribute__((target(SHA256_NI))) static inline struct sha256_work
sha256_work_begin(const struct sha256_lanes *s, const void *block)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    struct sha256_work w = {.abef = s->abef, .cdgh = s->cdgh};
    for (int i = 0; i < 4; i++) {
        w.m[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)block + i), swap);
    }
    return w;
}

__attribute__((target(SHA256_NI))) static inline void sha256_work_quarter(struct sha256_work *w,
                                                                          int quarter)
{
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m128i now = w->m[i], last = w->m[(i + 3) % 4];
        __m128i k = _mm_loadu_si128((const __m128i *)(const void *)sha256_k + quarter * 4 + i);
        __m128i x = _mm_add_epi32(now, k);
        w->cdgh = _mm_sha256rnds2_epu32(w->cdgh, w->abef, x);
        w->abef = _mm_sha256rnds2_epu32(w->abef, w->cdgh, _mm_shuffle_epi32(x, 0x0E));
        /* the four words sixteen further on */
        now = _mm_sha256msg1_epu32(now, w->m[(i + 1) % 4]);
        now = _mm_add_epi32(now, _mm_alignr_epi8(last, w->m[(i + 2) % 4], 4));
        w->m[i] = _mm_sha256msg2_epu32(now, last);
    }
}

__attribute__((target(SHA256_NI))) static inline void sha256_work_end(const struct sha256_work *w,
                                                                      struct sha256_lanes *s)
{
    s->abef = _mm_add_epi32(s->abef, w->abef);
    s->cdgh = _mm_add_epi32(s->cdgh, w->cdgh);
}
#endif
#endif
