/* SPDX-License-Identifier: MIT */
/* strategy.c: see strategy.h. */
#include "strategy.h"

enum {
	FIRST_PRIORITY = 1 << 30,
	LOOKS = 1024,
	BUFFERED_PERCENT = 20,
	DWELLING_PERCENT = 30, /* of the others */
	DWELL_SHARE = 48,      /* places to one that is chosen, on average */
	DWELL_SHARE_LOW = 10,
	DWELLS_MAX = 400       /* of a schedule: a handler that dwells at each word has no end */
};

bool
sim_strategy_buffered(uint64_t seed)
{
	struct sim_rng rng;

	sim_rng_init(&rng, seed, 3);
	return sim_rng_percent(&rng, BUFFERED_PERCENT);
}

void
sim_strategy_begin(struct sim_strategy *s, uint64_t seed, uint64_t *slice)
{
	static const uint32_t means[] = {1, 2, 3, 5, 8, 15, 30, 60, 150};
	static const uint32_t drains[] = {16, 256, 4096}, lingers[] = {1024, 8192, 8192};

	sim_rng_init(&s->rng, seed, 1);
	s->priorities = sim_rng_percent(&s->rng, 30);
	s->mean = means[sim_rng_below(&s->rng, sizeof means / sizeof means[0])];
	if (s->priorities)
		s->mean *= 5;
	s->lowest = FIRST_PRIORITY;
	s->jumps = sim_rng_percent(&s->rng, 25) ? sim_rng_between(&s->rng, 1, 3000) : 0;
	s->looks = LOOKS;
	s->step_ps = sim_rng_between(&s->rng, 500, 20000);
	s->relax_ps = sim_rng_between(&s->rng, 5000, 60000);
	s->call_ps = sim_rng_between(&s->rng, 50000, 2000000);
	s->buffered = sim_strategy_buffered(seed);
	sim_rng_init(&s->delays, seed, 4);
	s->drains = drains[sim_rng_below(&s->delays, sizeof drains / sizeof drains[0])];
	s->lingers = lingers[sim_rng_below(&s->delays, sizeof lingers / sizeof lingers[0])];
	sim_rng_init(&s->dwells, seed, 5);
	s->dwelling = !s->buffered && sim_rng_percent(&s->dwells, DWELLING_PERCENT);
	s->places = sim_rng_next(&s->dwells) | 1;
	s->dwells_left = DWELLS_MAX;
	s->share = sim_rng_percent(&s->dwells, 50) ? DWELL_SHARE : DWELL_SHARE_LOW;
	*slice = 1;
}

void
sim_strategy_join(struct sim_strategy *s, struct sim_thread *thread)
{
	thread->priority = s->priorities ?
	    FIRST_PRIORITY + sim_rng_below(&s->rng, FIRST_PRIORITY) : 0;
}

/* The thread with the highest priority. At a change point that thread gets the lowest. */
static struct sim_thread *
by_priority(struct sim_strategy *s, struct sim_thread *found[], int n)
{
	struct sim_thread *best = found[0];
	int i;

	for (i = 1; i < n; i++) {
		if (found[i]->priority > best->priority)
			best = found[i];
	}
	if (n > 1 && sim_rng_below(&s->rng, 4) == 0)
		best->priority = --s->lowest;
	return best;
}

struct sim_thread *
sim_strategy_pick(struct sim_strategy *s, struct sim_thread *found[], int n, uint64_t *slice)
{
	*slice = s->mean > 1 ? 1 + sim_rng_below(&s->rng, 2 * s->mean - 1) : 1;
	if (s->priorities)
		return by_priority(s, found, n);
	return n > 1 ? found[sim_rng_below(&s->rng, (uint32_t)n)] : found[0];
}

bool
sim_strategy_jumps(struct sim_strategy *s)
{
	return s->jumps != 0 && (sim_rng_next(&s->rng) & 0xffff) < s->jumps;
}

bool
sim_strategy_looks(struct sim_strategy *s)
{
	return (sim_rng_next(&s->rng) & 0xffff) < s->looks;
}

bool
sim_strategy_lingers(struct sim_strategy *s)
{
	return (sim_rng_next(&s->delays) & 0xffff) < s->lingers;
}

bool
sim_strategy_dwells(struct sim_strategy *s, size_t place)
{
	/* The upper bits of the product depend on all of its factors' bits. */
	uint64_t mixed = (place + 1) * s->places >> 32;

	if (mixed % s->share != 0 || s->dwells_left == 0 || sim_rng_below(&s->dwells, 2) == 0)
		return false;
	s->dwells_left--;
	return true;
}
