/* SPDX-License-Identifier: MIT */
/*
 * rng.h: the only source of randomness: xoshiro-like state from a 64-bit seed. Each use (the
 * program, the schedule, the settings) has a separate stream, so shrinking a program by an
 * operation does not change the numbers of the others.
 */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct sim_rng {
	uint64_t state;
};

/* Stream number stream of a seed. */
static inline void
sim_rng_init(struct sim_rng *rng, uint64_t seed, uint64_t stream)
{
	rng->state = seed ^ (stream * 0xd1342543de82ef95u);
}

/* splitmix64 */
static inline uint64_t
sim_rng_next(struct sim_rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* 0 .. n-1; n >= 1 */
static inline uint32_t
sim_rng_below(struct sim_rng *rng, uint32_t n)
{
	return (uint32_t)(((sim_rng_next(rng) >> 32) * n) >> 32);
}

static inline uint32_t
sim_rng_between(struct sim_rng *rng, uint32_t low, uint32_t high)
{
	return low + sim_rng_below(rng, high - low + 1);
}

/* True in percent of all cases. */
static inline bool
sim_rng_percent(struct sim_rng *rng, uint32_t percent)
{
	return sim_rng_below(rng, 100) < percent;
}

#endif
