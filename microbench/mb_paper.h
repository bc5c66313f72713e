/* SPDX-License-Identifier: MIT */
/*
 * mb_paper.h: the sizes of the paper's microbenchmarks (section 5.2), shared by the programs here
 * and by the simulation (sim/workload_*.c). Where the paper gives no size, the program of that
 * name explains the choice.
 */
#ifndef MB_PAPER_H
#define MB_PAPER_H

#include <stdint.h>

/* unbalanced: 98 events in 100 are short, the others are long. */
enum {
	UNBALANCED_EVENTS = 50000, /* a round */
	UNBALANCED_SHORT = 100,    /* cycles */
	UNBALANCED_LONG_MIN = 10000,
	UNBALANCED_LONG_MAX = 50000,
	UNBALANCED_LONG_ONE_IN = 50
};

/* penalty: an A makes an array, its Bs read it slice by slice. */
enum {
	PENALTY_COLORS = 128,
	PENALTY_ARRAY_BYTES = 32768,
	PENALTY_SLICE_BYTES = 1024,
	PENALTY_SLICES = PENALTY_ARRAY_BYTES / PENALTY_SLICE_BYTES,
	PENALTY_OF_B = 1000
};

/* cache-efficient: an A makes an array, two Bs sort its halves, two Cs merge them. */
enum {
	CACHE_COLORS = 100,  /* on each core that begins with some */
	CACHE_WORDS = 1024,
	CACHE_HALVES = 2,
	CACHE_HALF = CACHE_WORDS / CACHE_HALVES,
	CACHE_RUN = 8,       /* sorted by insertion; the passes from here on are even in number */
	CACHE_EVENTS = 5     /* A, two B, two C */
};

/* A small generator: every run, on every machine, has the same events. */
static inline uint32_t
mb_paper_draw(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

enum { MB_PAPER_DRAW_FIRST = 12345 };

/*
 * Cycles of the next event of unbalanced, of which left events remain to be drawn. Exactly *longs
 * of these are long, at random places.
 */
static inline uint32_t
mb_paper_unbalanced(uint32_t *state, uint32_t left, uint32_t *longs)
{
	if (mb_paper_draw(state) % left >= *longs)
		return UNBALANCED_SHORT;
	--*longs;
	return UNBALANCED_LONG_MIN +
	    mb_paper_draw(state) % (UNBALANCED_LONG_MAX - UNBALANCED_LONG_MIN + 1);
}

#endif
