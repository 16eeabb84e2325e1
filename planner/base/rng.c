/* xoshiro256** seeded by splitmix64 from (seed, stream): David Blackman and
 * Sebastiano Vigna, public-domain algorithm description (prng.di.unimi.it). */
#include "gputier/rng.h"
#include <math.h>

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

void rng_init(struct rng *r, uint64_t seed, uint64_t stream)
{
    uint64_t x = seed;
    x = splitmix(&x) ^ (stream * 0xD1342543DE82EF95ULL + 0x2545F4914F6CDD1DULL);
    for (int i = 0; i < 4; i++) {
        r->s[i] = splitmix(&x);
    }
}

static uint64_t rotl(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

uint64_t rng_u64(struct rng *r)
{
    uint64_t *s = r->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

double rng_unit(struct rng *r)
{
    return ((double)(rng_u64(r) >> 11) + 0.5) * 0x1p-53;
}

double rng_exponential(struct rng *r, double rate)
{
    return -log(rng_unit(r)) / rate;
}

double rng_normal(struct rng *r)
{
    double u = rng_unit(r), v = rng_unit(r);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}
