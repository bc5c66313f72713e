/* SPDX-License-Identifier: MIT */
/*
 * hist.c: adding values to histograms and summing them, and the public functions that read the
 * buckets of a snapshot (mely/stats.h). The owner adds; any thread reads.
 */
#include "base/hist.h"

void
melyint_hist_add(struct melyint_hist *hist, uint64_t ns)
{
	/* relaxed, all: figures with one writer */
	MELY_COUNT(&hist->buckets[melyint_hist_bucket_of(ns)], 1);
	MELY_COUNT(&hist->sum_ns, ns);
	if (ns > MELY_LOAD(&hist->max_ns, relaxed))
		MELY_STORE(&hist->max_ns, ns, relaxed);
}

void
melyint_hist_sum(const struct melyint_hist *hist, struct melyint_hist_sum *sum)
{
	uint64_t max_ns = MELY_LOAD(&hist->max_ns, relaxed); /* relaxed, all: figures */
	uint32_t i, last = melyint_hist_bucket_of(max_ns);

	/* A value that is being added now may be above last; the next sum has it. */
	for (i = 0; i <= last; i++) {
		uint64_t n = MELY_LOAD(&hist->buckets[i], relaxed);

		sum->buckets[i] += n;
		sum->count += n;
	}
	sum->sum_ns += MELY_LOAD(&hist->sum_ns, relaxed);
	if (max_ns > sum->max_ns)
		sum->max_ns = max_ns;
}

uint32_t
mely_stats_bucket_of(uint64_t ns)
{
	return melyint_hist_bucket_of(ns);
}

uint64_t
mely_stats_bucket_from(uint32_t bucket)
{
	uint32_t octave = bucket >> MELYINT_HIST_SUB_LOG;
	uint64_t place = bucket & ((1u << MELYINT_HIST_SUB_LOG) - 1);

	if (octave == 0)
		return place;
	if (bucket >= MELYINT_HIST_BUCKETS - 1)
		return 1ull << MELYINT_HIST_TOP_LOG;
	return (place + (1u << MELYINT_HIST_SUB_LOG)) << (octave - 1);
}

uint64_t
mely_stats_bucket_to(uint32_t bucket)
{
	return bucket >= MELYINT_HIST_BUCKETS - 1 ? UINT64_MAX : mely_stats_bucket_from(bucket + 1);
}

uint64_t
mely_stats_bucket(const struct mely_stats *stats, const struct mely_stats_hist *hist,
    uint32_t bucket)
{
	const char *base = (const char *)stats;
	const uint64_t *buckets;

	if (stats == NULL || hist == NULL || bucket < hist->first ||
	    bucket - hist->first >= hist->buckets)
		return 0;
	/* Compute it only here: an empty histogram has an arbitrary offset. */
	buckets = (const uint64_t *)(const void *)(base + hist->buckets_at);
	return buckets[bucket - hist->first];
}

uint64_t
mely_stats_quantile(const struct mely_stats *stats, const struct mely_stats_hist *hist, double part)
{
	uint64_t seen = 0, rank, from, to, middle;
	uint32_t i;

	if (stats == NULL || hist == NULL || hist->count == 0)
		return 0;
	part = part > 0. ? part < 1. ? part : 1. : 0.;
	/* The rank of the value that is looked for, from 1 on. */
	rank = (uint64_t)(part * (double)hist->count);
	if ((double)rank < part * (double)hist->count || rank == 0)
		rank++;
	for (i = hist->first; i < hist->first + hist->buckets; i++) {
		seen += mely_stats_bucket(stats, hist, i);
		if (seen >= rank)
			break;
	}
	from = mely_stats_bucket_from(i);
	to = mely_stats_bucket_to(i);
	if (to == UINT64_MAX)
		return hist->max_ns;
	middle = from + (to - from) / 2;
	return middle < hist->max_ns ? middle : hist->max_ns;
}

uint64_t
mely_stats_average(const struct mely_stats_hist *hist)
{
	return hist != NULL && hist->count != 0 ? hist->sum_ns / hist->count : 0;
}
