/* SPDX-License-Identifier: MIT */
/*
 * hist.c: log-linear histograms.
 */
#include <math.h>
#include <stdlib.h>

#include "base/assertion.h"
#include "load/hist.h"

struct load_hist *
load_hist_new(unsigned bits)
{
	uint32_t count = load_hist_bucket(bits, LOAD_HIST_MAX) + 1;
	struct load_hist *h;

	SWS_ASSERT(bits == LOAD_HIST_FINE || bits == LOAD_HIST_COARSE);
	h = calloc(1, sizeof *h + count * sizeof h->buckets[0]);
	if (h == NULL)
		return NULL;
	h->bits = bits;
	h->min = UINT64_MAX;
	h->buckets_count = count;
	return h;
}

uint64_t
load_hist_value(unsigned bits, uint32_t bucket)
{
	unsigned shift = bucket >> (bits - 1);
	uint64_t within;

	if (shift <= 1)
		return bucket;
	shift--;
	within = bucket - (shift << (bits - 1));
	return ((within + 1) << shift) - 1;
}

void
load_hist_add(struct load_hist *to, const struct load_hist *from)
{
	SWS_ASSERT(to->bits == from->bits && to->buckets_count == from->buckets_count);
	to->count += from->count;
	to->sum += from->sum;
	if (from->max > to->max)
		to->max = from->max;
	if (from->min < to->min)
		to->min = from->min;
	for (uint32_t i = 0; i < to->buckets_count; i++)
		to->buckets[i] += from->buckets[i];
}

uint64_t
load_hist_percentile(const struct load_hist *h, double percent)
{
	double exact = ceil(percent / 100 * (double)h->count - 1e-6);
	uint64_t rank = exact < 1 ? 1 : (uint64_t)exact;
	uint64_t seen = 0;

	if (h->count == 0)
		return 0;
	if (rank >= h->count)
		return h->max;
	for (uint32_t i = 0; i < h->buckets_count; i++) {
		seen += h->buckets[i];
		if (seen >= rank) {
			uint64_t value = load_hist_value(h->bits, i);

			return value < h->max ? value : h->max;
		}
	}
	return h->max;
}

double
load_hist_mean(const struct load_hist *h)
{
	return h->count > 0 ? h->sum / (double)h->count : 0;
}

double
load_hist_deviation(const struct load_hist *h)
{
	double mean = load_hist_mean(h), sum = 0;

	if (h->count == 0)
		return 0;
	for (uint32_t i = 0; i < h->buckets_count; i++) {
		double off = (double)load_hist_value(h->bits, i) - mean;

		if (h->buckets[i] != 0)
			sum += off * off * (double)h->buckets[i];
	}
	return sqrt(sum / (double)h->count);
}
