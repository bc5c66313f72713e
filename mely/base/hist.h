/* SPDX-License-Identifier: MIT */
/*
 * hist.h: log-linear histograms of nanoseconds. Each value below 8 has its own bucket; each octave
 * above has 8 buckets, so that a bucket is at most 12.5 % wide; the last bucket takes everything
 * from 2^36 ns up. One writer, any readers. The number of values is the sum of the buckets: a
 * separate count could disagree with the buckets that a reader sees.
 */
#ifndef MELYINT_BASE_HIST_H
#define MELYINT_BASE_HIST_H

#include <mely/stats.h>

#include "base/atomic.h"
#include "base/compiler.h"

enum {
	MELYINT_HIST_SUB_LOG = 3,  /* buckets of an octave, as a power of two */
	MELYINT_HIST_TOP_LOG = 36, /* where the last bucket begins */
	MELYINT_HIST_BUCKETS =
	    ((MELYINT_HIST_TOP_LOG - MELYINT_HIST_SUB_LOG + 1) << MELYINT_HIST_SUB_LOG) + 1
};
_Static_assert(MELYINT_HIST_BUCKETS == MELY_STATS_BUCKETS, "as in the public header");

/* Written by its owner alone, read by any thread. */
struct melyint_hist {
	_Atomic uint64_t sum_ns;
	_Atomic uint64_t max_ns;
	_Atomic uint64_t buckets[MELYINT_HIST_BUCKETS];
};

/* The sum of several histograms, for a reader. */
struct melyint_hist_sum {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t max_ns;
	uint64_t buckets[MELYINT_HIST_BUCKETS];
};

MELY_INLINE uint32_t
melyint_hist_bucket_of(uint64_t ns)
{
	unsigned log;

	if (ns < 1u << MELYINT_HIST_SUB_LOG)
		return (uint32_t)ns;
	if (ns >> MELYINT_HIST_TOP_LOG != 0)
		return MELYINT_HIST_BUCKETS - 1;
	log = 63u - (unsigned)__builtin_clzll(ns) - MELYINT_HIST_SUB_LOG;
	/* The leading bit of the shifted value counts as one more octave. */
	return (log << MELYINT_HIST_SUB_LOG) + (uint32_t)(ns >> log);
}

/* Owner. */
void melyint_hist_add(struct melyint_hist *hist, uint64_t ns);

/* Add a histogram to a sum. Any thread. */
void melyint_hist_sum(const struct melyint_hist *hist, struct melyint_hist_sum *sum);

#endif
