/* SPDX-License-Identifier: MIT */
/*
 * hist.c: histograms: every value is in exactly one bucket; buckets are as narrow as promised, and
 * quantiles as exact.
 */
#include <stdbool.h>
#include <string.h>

#include "unit.h"
#include "base/hist.h"

static void
buckets_join(void **state)
{
	uint32_t b;

	(void)state;
	assert_int_equal(mely_stats_bucket_from(0), 0);
	for (b = 0; b < MELY_STATS_BUCKETS; b++) {
		uint64_t from = mely_stats_bucket_from(b), to = mely_stats_bucket_to(b);

		assert_true(to > from);
		assert_int_equal(mely_stats_bucket_of(from), b);
		assert_int_equal(mely_stats_bucket_of(to - 1), b);
		if (b + 1 < MELY_STATS_BUCKETS) {
			assert_true(to == mely_stats_bucket_from(b + 1));
			/* A bucket is at most an eighth wide. */
			assert_true(to - from == 1 || (to - from) * 8 <= from);
		}
	}
	assert_int_equal(mely_stats_bucket_of(UINT64_MAX), MELY_STATS_BUCKETS - 1);
	assert_true(mely_stats_bucket_from(MELY_STATS_BUCKETS - 1) == 1ull << 36);
	assert_true(mely_stats_bucket_to(MELY_STATS_BUCKETS - 1) == UINT64_MAX);
	/* Powers of two are bounds; prometheus.c relies on that. */
	for (b = 3; b <= 36; b++)
		assert_true(mely_stats_bucket_from(mely_stats_bucket_of(1ull << b)) == 1ull << b);
}

static void
sums(void **state)
{
	static struct melyint_hist a, b;
	static struct melyint_hist_sum sum;
	uint64_t i, total = 0, in_buckets = 0;

	(void)state;
	for (i = 0; i < 1000; i++) {
		melyint_hist_add(i % 2 == 0 ? &a : &b, i * i);
		total += i * i;
	}
	melyint_hist_sum(&a, &sum);
	melyint_hist_sum(&b, &sum);
	for (i = 0; i < MELY_STATS_BUCKETS; i++)
		in_buckets += sum.buckets[i];
	assert_int_equal(sum.count, 1000);
	assert_int_equal(in_buckets, 1000);
	assert_int_equal(sum.sum_ns, total);
	assert_int_equal(sum.max_ns, 999 * 999);
}

/* A block made by hand: a histogram and its buckets behind it. */
static struct {
	struct mely_stats_hist hist;
	uint64_t buckets[MELY_STATS_BUCKETS];
} block;

static void
quantiles(void **state)
{
	static struct melyint_hist hist;
	static struct melyint_hist_sum sum;
	const struct mely_stats *stats = (const void *)&block;
	double parts[] = {0., .001, .1, .5, .9, .999, 1.};
	uint64_t i;

	(void)state;
	assert_int_equal(mely_stats_quantile(stats, &block.hist, .5), 0);
	assert_int_equal(mely_stats_average(&block.hist), 0);
	for (i = 1; i <= 100000; i++)
		melyint_hist_add(&hist, i);
	melyint_hist_sum(&hist, &sum);
	memcpy(block.buckets, sum.buckets, sizeof block.buckets);
	block.hist = (struct mely_stats_hist){sum.count, sum.sum_ns, sum.max_ns, 0,
	    MELY_STATS_BUCKETS, sizeof block.hist};
	assert_int_equal(mely_stats_average(&block.hist), 50000);
	for (i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		double exact = parts[i] * 100000 > 1 ? parts[i] * 100000 : 1;
		double found = (double)mely_stats_quantile(stats, &block.hist, parts[i]);

		assert_true(found >= exact * .9375 - 1 && found <= exact * 1.0625 + 1);
	}
	assert_true(mely_stats_quantile(stats, &block.hist, 1.) <= 100000);
	/* A block may leave empty buckets out at both ends. */
	block.hist.first = 10;
	block.hist.buckets = 2;
	block.hist.count = block.buckets[0] + block.buckets[1];
	assert_int_equal(mely_stats_bucket(stats, &block.hist, 9), 0);
	assert_int_equal(mely_stats_bucket(stats, &block.hist, 10), block.buckets[0]);
	assert_int_equal(mely_stats_bucket(stats, &block.hist, 11), block.buckets[1]);
	assert_int_equal(mely_stats_bucket(stats, &block.hist, 12), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_join),
		cmocka_unit_test(sums),
		cmocka_unit_test(quantiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
