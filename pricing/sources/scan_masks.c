/* The loops of scan_kernel.h for each instruction set, and the choice among them. */
#include "scan_masks.h"

#define NAME(x) plain_##x
#define TARGET
static inline uint64_t plain_eq(const char *p, char c)
{
    return scan_eq(p, c);
}
static inline uint64_t plain_parity(uint64_t x)
{
    return scan_parity(x);
}
static inline uint64_t plain_control(const char *p)
{
    return scan_control(p);
}
/* Any bit: there is what the plain course of judge() does not know. */
static inline uint64_t plain_odd(const char *p)
{
    return scan_odd(p);
}
/* Any bit: there is what judge() does not know at all. */
static inline uint64_t plain_hard(const char *p)
{
    return scan_high(p) | scan_eq(p, '\\');
}
#include "scan_kernel.h"
#undef NAME
#undef TARGET

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,popcnt,pclmul")))

AVX2 static inline __m256i load32(const char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
AVX2 static inline uint64_t bits64(__m256i a, __m256i b)
{
    return (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
}
AVX2 static inline uint64_t avx2_eq(const char *p, char c)
{
    __m256i v = _mm256_set1_epi8(c);
    return bits64(_mm256_cmpeq_epi8(load32(p), v), _mm256_cmpeq_epi8(load32(p + 32), v));
}
AVX2 static inline uint64_t avx2_parity(uint64_t x)
{
    __m128i all = _mm_set1_epi8(-1); /* times all ones, without carries */
    return (uint64_t)_mm_cvtsi128_si64(
        _mm_clmulepi64_si128(_mm_set_epi64x(0, (long long)x), all, 0));
}
AVX2 static inline __m256i at_most(__m256i v, char most)
{
    return _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(most)), v);
}
AVX2 static inline uint64_t avx2_control(const char *p)
{
    return bits64(at_most(load32(p), 0x1f), at_most(load32(p + 32), 0x1f));
}
/* Bytes over 0x7f, backslash and brackets of lists (three in a row), controls but newline. */
AVX2 static inline __m256i odd32(__m256i v)
{
    __m256i newline = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\n'));
    __m256i three = at_most(_mm256_sub_epi8(v, _mm256_set1_epi8('[')), ']' - '[');
    return _mm256_or_si256(_mm256_or_si256(v, three),
                           _mm256_andnot_si256(newline, at_most(v, 0x1f)));
}
AVX2 static inline uint64_t avx2_odd(const char *p)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(odd32(load32(p)), odd32(load32(p + 32))));
}
AVX2 static inline uint64_t avx2_hard(const char *p)
{
    __m256i v = _mm256_set1_epi8('\\'), a = load32(p), b = load32(p + 32);
    __m256i back = _mm256_or_si256(_mm256_cmpeq_epi8(a, v), _mm256_cmpeq_epi8(b, v));
    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(back, _mm256_or_si256(a, b)));
}

#define NAME(x) avx2_##x
#define TARGET  AVX2
#include "scan_kernel.h"
#undef NAME
#undef TARGET

/* 64 bytes are one load there and a comparison gives the mask itself. */
#define AVX512 __attribute__((target("avx512f,avx512bw,avx2,popcnt,pclmul")))

AVX512 static inline uint64_t avx512_eq(const char *p, char c)
{
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8(c));
}
AVX512 static inline uint64_t avx512_parity(uint64_t x)
{
    return avx2_parity(x);
}
AVX512 static inline uint64_t avx512_control(const char *p)
{
    return _mm512_cmplt_epu8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8(0x20));
}
AVX512 static inline uint64_t avx512_odd(const char *p)
{
    __m512i v = _mm512_loadu_si512(p), from = _mm512_sub_epi8(v, _mm512_set1_epi8('['));
    __mmask64 control = _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(0x20));
    return _mm512_movepi8_mask(v) | _mm512_cmple_epu8_mask(from, _mm512_set1_epi8(']' - '[')) |
           _mm512_mask_cmpneq_epi8_mask(control, v, _mm512_set1_epi8('\n'));
}
AVX512 static inline uint64_t avx512_hard(const char *p)
{
    return _mm512_movepi8_mask(_mm512_loadu_si512(p)) | avx512_eq(p, '\\');
}

#define NAME(x) avx512_##x
#define TARGET  AVX512
#include "scan_kernel.h"
#undef NAME
#undef TARGET
#else
#define avx2_json   plain_json
#define avx2_csv    plain_csv
#define avx512_json plain_json
#define avx512_csv  plain_csv
#endif

/* The widest that the path allows and the processor has. */
enum width { PLAIN, AVX2_LOOP, AVX512_LOOP };

static enum width width(enum scan_path path)
{
#if defined(__x86_64__)
    if (path <= SCAN_AVX2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") &&
        __builtin_cpu_supports("pclmul")) {
        bool widest = path == SCAN_BEST && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw");
        return widest ? AVX512_LOOP : AVX2_LOOP;
    }
#else
    (void)path;
#endif
    return PLAIN;
}

/* Whether the loop may start here: not within an escape, character or word. */
static bool between(const struct json_scan *s)
{
    return s->path != SCAN_BYTES && s->escape == 0 && s->utf8_more == 0 &&
           s->state != JSON_AT_VALUE_OR_END && s->state != JSON_AT_END && s->state != JSON_IN_WORD;
}

void json_scan_init(struct json_scan *s)
{
    *s = (struct json_scan){.state = JSON_AT_VALUE};
}

size_t json_scan_blocks(struct json_scan *s, const char *p, size_t n, struct json_block *out)
{
    enum width w = width(s->path);
    size_t (*loop)(struct json_scan *, const char *, size_t, struct json_block *) =
        w == AVX512_LOOP ? avx512_json
        : w == AVX2_LOOP ? avx2_json
                         : plain_json;
    for (size_t i = 0; i < n; i++) {
        if (between(s)) {
            size_t k = loop(s, p + i * SCAN_BLOCK, n - i, out + i);
            s->offset += k * SCAN_BLOCK;
            i += k;
            if (i == n) {
                break;
            }
        }
        if (!json_check_block(s, p + i * SCAN_BLOCK, out + i)) {
            return i;
        }
        s->offset += SCAN_BLOCK;
    }
    return n;
}

void csv_scan_init(struct csv_scan *s, char separator)
{
    *s = (struct csv_scan){.separator = separator, .after_bound = 1};
}

void csv_scan_blocks(struct csv_scan *s, const char *p, size_t n, struct csv_block *out)
{
    enum width w = width(s->path);
    void (*loop)(struct csv_scan *, const char *, size_t, struct csv_block *) =
        w == AVX512_LOOP ? avx512_csv
        : w == AVX2_LOOP ? avx2_csv
                         : plain_csv;
    loop(s, p, n, out);
}
