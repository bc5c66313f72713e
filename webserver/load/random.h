/* SPDX-License-Identifier: MIT */
/*
 * random.h: numbers from a seed, and draws from weighted items. One thread at a time per state.
 */
#ifndef LOAD_RANDOM_H
#define LOAD_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/** The next number of a state, which is any number at first (splitmix64). */
static inline uint64_t
load_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/** Items with weights, drawn in constant time (Walker's alias method). */
struct load_draw {
	uint32_t count;
	struct load_draw_item {
		uint32_t keep;  /* this item, when 32 random bits are not above keep ... */
		uint32_t other; /* ... else that one */
	} *items;
};

/** Prepare draws from count items. False when there is no memory, or the sum is not positive. */
bool load_draw_init(struct load_draw *d, const double *weights, uint32_t count);
void load_draw_fini(struct load_draw *d);

/** The number of an item. */
static inline uint32_t
load_draw_next(const struct load_draw *d, uint64_t *state)
{
	uint64_t r = load_random(state);
	uint32_t i = (uint32_t)(((r >> 32) * d->count) >> 32);

	return (uint32_t)r <= d->items[i].keep ? i : d->items[i].other;
}

/** The weight of the rank'th most popular item, from 0, where popularity falls as 1 / rank^s. */
double load_zipf_weight(uint32_t rank, double s);

#endif
