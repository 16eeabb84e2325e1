/* Inputs of equal length hashed side by side, one a lane: included by blake3.c once per instruction
 * set with
 *   NAME(x)  the name of a function or type for it
 *   TARGET   its attribute
 *   LANES    inputs at a time
 *   WORDS    the type of one word of each
 *   LOAD     LOAD(m, from): 16 words of each lane from the addresses `from`
 *   ROR      ROR(x, n): all words turned right by n = 16, 12, 8, 7
 * No include guard, on purpose. */

/* The step of the specification on columns or diagonals a, b, c, d with message words x and y. */
#define STEP(a, b, c, d, x, y)                                                                     \
    v[a] += v[b] + m[x];                                                                           \
    v[d] = ROR(v[d] ^ v[a], 16);                                                                   \
    v[c] += v[d];                                                                                  \
    v[b] = ROR(v[b] ^ v[c], 12);                                                                   \
    v[a] += v[b] + m[y];                                                                           \
    v[d] = ROR(v[d] ^ v[a], 8);                                                                    \
    v[c] += v[d];                                                                                  \
    v[b] = ROR(v[b] ^ v[c], 7)
#define ROUND(a, b, c, d, e, f, g, h, i, j, k, l, n, o, p, q)                                      \
    STEP(0, 4, 8, 12, a, b);                                                                       \
    STEP(1, 5, 9, 13, c, d);                                                                       \
    STEP(2, 6, 10, 14, e, f);                                                                      \
    STEP(3, 7, 11, 15, g, h);                                                                      \
    STEP(0, 5, 10, 15, i, j);                                                                      \
    STEP(1, 6, 11, 12, k, l);                                                                      \
    STEP(2, 7, 8, 13, n, o);                                                                       \
    STEP(3, 4, 9, 14, p, q)

/* One block of each lane: h is the chaining value before and after it. */
TARGET static inline void NAME(block)(WORDS h[8], const unsigned char *const from[LANES],
                                      WORDS count_low, WORDS count_high, uint32_t len,
                                      uint32_t flags)
{
    const WORDS zero = {0};
    WORDS m[16], v[16];
    LOAD(m, from);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        v[i] = h[i];
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        v[8 + i] = zero + blake3_iv[i];
    }
    v[12] = count_low;
    v[13] = count_high;
    v[14] = zero + len;
    v[15] = zero + flags;
    /* each round takes the words in the order of the one before, permuted */
    ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    ROUND(2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8);
    ROUND(3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1);
    ROUND(10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6);
    ROUND(12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4);
    ROUND(9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7);
    ROUND(11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        h[i] = v[i] ^ v[i + 8];
    }
}

TARGET static void NAME(many)(const struct blake3_job *job, unsigned char (*out)[32], size_t n)
{
    const WORDS zero = {0};
    for (size_t at = 0; at < n; at += LANES) {
        size_t here = n - at < LANES ? n - at : LANES;
        const unsigned char *from[LANES];
        WORDS low, high, h[8];
        for (size_t i = 0; i < LANES; i++) { /* lanes without an input repeat the last one */
            size_t k = at + (i < here ? i : here - 1);
            uint64_t count = job->chunk ? job->first + k : 0;
            from[i] = job->in + k * (job->chunk ? BLAKE3_CHUNK : BLOCK);
            low[i] = (uint32_t)count;
            high[i] = (uint32_t)(count >> 32);
        }
        for (int i = 0; i < 8; i++) {
            h[i] = zero + blake3_iv[i];
        }
        for (size_t b = 0, blocks = job->chunk ? BLAKE3_CHUNK / BLOCK : 1; b < blocks; b++) {
            uint32_t flags = !job->chunk       ? PARENT
                             : b == 0          ? CHUNK_START
                             : b + 1 == blocks ? CHUNK_END
                                               : 0;
            NAME(block)(h, from, low, high, BLOCK, flags);
            for (size_t i = 0; i < LANES; i++) {
                from[i] += BLOCK;
            }
        }
        for (size_t i = 0; i < here; i++) {
            for (size_t k = 0; k < 8; k++) {
                store_le(h[k][i], out[at + i] + 4 * k);
            }
        }
    }
}

#undef STEP
#undef ROUND
#undef NAME
#undef TARGET
#undef LANES
#undef WORDS
#undef LOAD
#undef ROR
