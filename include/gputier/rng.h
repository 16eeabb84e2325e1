/* Seeded counter-based random numbers (Philox-like split by stream): the same (seed, stream,
 * index) gives the same value on any number of threads. */
#ifndef GPUTIER_RNG_H
#define GPUTIER_RNG_H
#include <stdint.h>

struct rng {
    uint64_t s[4]; /* xoshiro256** state, set from (seed, stream) by splitmix64 */
};
void rng_init(struct rng *r, uint64_t seed, uint64_t stream);
uint64_t rng_u64(struct rng *r);
double rng_unit(struct rng *r);                     /* in (0, 1): never 0, never 1 */
double rng_exponential(struct rng *r, double rate); /* mean 1/rate */
double rng_normal(struct rng *r);                   /* mean 0, deviation 1 */

#endif
