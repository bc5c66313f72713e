/* SPDX-License-Identifier: MIT */
/*
 * hist.h: log-linear histograms of times in ns. Pure functions; one thread at a time.
 *
 * A value below 2 to the bits has a bucket of its own. Above, each power of two is divided into
 * half that number of buckets, so a bucket is never wider than value / 2^(bits - 1): with
 * LOAD_HIST_FINE, three significant digits hold for any value. Values above LOAD_HIST_MAX count as
 * LOAD_HIST_MAX, but the maximum stays exact.
 */
#ifndef LOAD_HIST_H
#define LOAD_HIST_H

#include <stddef.h>
#include <stdint.h>

/* Three digits, 256 KB; and 6 %, 5 KB, for the histogram of each second. */
#define LOAD_HIST_FINE 11
#define LOAD_HIST_COARSE 5
/* 73 minutes. */
#define LOAD_HIST_MAX ((UINT64_C(1) << 42) - 1)

struct load_hist {
	uint64_t count;
	uint64_t min, max; /* max is 0 and min UINT64_MAX in an empty histogram */
	double sum;
	unsigned bits;
	uint32_t buckets_count;
	uint64_t buckets[];
};

/** The bucket of a value. */
static inline uint32_t
load_hist_bucket(unsigned bits, uint64_t value)
{
	unsigned shift;

	if (value > LOAD_HIST_MAX)
		value = LOAD_HIST_MAX;
	if (value < UINT64_C(1) << bits)
		return (uint32_t)value;
	shift = 64 - (unsigned)__builtin_clzll(value) - bits;
	return (shift << (bits - 1)) + (uint32_t)(value >> shift);
}

/** Count a value. */
static inline void
load_hist_record(struct load_hist *h, uint64_t value)
{
	h->count++;
	h->sum += (double)value;
	if (value > h->max)
		h->max = value;
	if (value < h->min)
		h->min = value;
	h->buckets[load_hist_bucket(h->bits, value)]++;
}

/** An empty histogram, for free; NULL when there is no memory. bits: LOAD_HIST_FINE or _COARSE. */
struct load_hist *load_hist_new(unsigned bits);

/** The largest value of a bucket. */
uint64_t load_hist_value(unsigned bits, uint32_t bucket);

/** Add all that from has counted. Both have the same bits. */
void load_hist_add(struct load_hist *to, const struct load_hist *from);

/**
 * The smallest value that percent of all values do not exceed: too large by less than the width of
 * a bucket, and never beyond the maximum. 0 when the histogram is empty.
 */
uint64_t load_hist_percentile(const struct load_hist *h, double percent);

/** The mean of all values, exact; 0 when there is none. */
double load_hist_mean(const struct load_hist *h);

/** The standard deviation, from the buckets; 0 when there is no value. */
double load_hist_deviation(const struct load_hist *h);

#endif
