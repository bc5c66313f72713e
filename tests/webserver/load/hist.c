/* SPDX-License-Identifier: MIT */
/*
 * hist.c: percentiles of the histogram against those of a sorted list.
 */
#include <math.h>

#include "../unit.h"
#include "../../../webserver/load/hist.h"
#include "../../../webserver/load/random.h"

#define VALUES 200000

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Every bucket ends where the next one begins, and none is too wide. */
static void
buckets(void **state)
{
	static const unsigned all_bits[] = {LOAD_HIST_COARSE, LOAD_HIST_FINE};

	(void)state;
	for (size_t b = 0; b < 2; b++) {
		unsigned bits = all_bits[b];
		uint32_t last = load_hist_bucket(bits, LOAD_HIST_MAX);
		uint64_t next = 0;

		for (uint32_t i = 0; i <= last; i++) {
			uint64_t end = load_hist_value(bits, i);

			assert_int_equal(load_hist_bucket(bits, next), i);
			assert_int_equal(load_hist_bucket(bits, end), i);
			assert_true(end >= next);
			assert_true((double)(end - next) <= (double)next / (1 << (bits - 1)));
			next = end + 1;
		}
		assert_int_equal(next, LOAD_HIST_MAX + 1);
		assert_int_equal(load_hist_bucket(bits, UINT64_MAX), last);
	}
}

static uint64_t
draw(int shape, uint64_t *state)
{
	uint64_t r = load_random(state);

	switch (shape) {
	case 0: /* uniform */
		return r % 1000000;
	case 1: /* each power of two is as likely as another */
		return (r >> 24) >> (load_random(state) % 39);
	case 2: /* few values */
		return 1000 + r % 7;
	default: /* a long tail */
		return (uint64_t)(50000 / ((double)(r >> 11) / 9007199254740992.0 + 1e-7));
	}
}

static void
exact(void **state)
{
	static const double percents[] = {0, 1, 10, 50, 75, 90, 99, 99.9, 99.99, 99.999, 100};
	uint64_t *values = malloc(VALUES * sizeof *values), seed = 7;

	(void)state;
	for (int shape = 0; shape < 4; shape++) {
		struct load_hist *h = load_hist_new(LOAD_HIST_FINE);
		double sum = 0;

		for (int i = 0; i < VALUES; i++) {
			values[i] = draw(shape, &seed);
			sum += (double)values[i];
			load_hist_record(h, values[i]);
		}
		qsort(values, VALUES, sizeof *values, compare);
		for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
			double rank = ceil(percents[i] / 100 * VALUES - 1e-6);
			uint64_t right = values[rank < 1 ? 0 : (size_t)rank - 1];
			uint64_t got = load_hist_percentile(h, percents[i]);

			assert_true(got >= right);
			assert_true((double)(got - right) <= (double)right / 1000);
		}
		assert_int_equal(h->count, VALUES);
		assert_int_equal(h->min, values[0]);
		assert_int_equal(h->max, values[VALUES - 1]);
		assert_int_equal(load_hist_percentile(h, 100), values[VALUES - 1]);
		assert_true(fabs(load_hist_mean(h) - sum / VALUES) <= 1e-6 * sum / VALUES);
		free(h);
	}
	free(values);
}

/* Two halves, added, are the whole. */
static void
sum(void **state)
{
	struct load_hist *parts[2], *whole = load_hist_new(LOAD_HIST_FINE);
	uint64_t seed = 1;

	(void)state;
	parts[0] = load_hist_new(LOAD_HIST_FINE);
	parts[1] = load_hist_new(LOAD_HIST_FINE);
	for (int i = 0; i < 10000; i++) {
		uint64_t value = draw(3, &seed);

		load_hist_record(parts[i & 1], value);
		load_hist_record(whole, value);
	}
	load_hist_add(parts[0], parts[1]);
	assert_int_equal(parts[0]->count, whole->count);
	assert_int_equal(parts[0]->min, whole->min);
	assert_int_equal(parts[0]->max, whole->max);
	assert_memory_equal(parts[0]->buckets, whole->buckets,
	    whole->buckets_count * sizeof whole->buckets[0]);
	free(parts[0]);
	free(parts[1]);
	free(whole);
}

static void
few(void **state)
{
	struct load_hist *h = load_hist_new(LOAD_HIST_FINE);

	(void)state;
	assert_int_equal(load_hist_percentile(h, 99), 0);
	assert_true(load_hist_mean(h) == 0 && load_hist_deviation(h) == 0);
	load_hist_record(h, UINT64_C(1) << 50);
	assert_int_equal(load_hist_percentile(h, 50), UINT64_C(1) << 50);
	load_hist_record(h, 0);
	assert_int_equal(load_hist_percentile(h, 50), 0);
	free(h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets),
		cmocka_unit_test(exact),
		cmocka_unit_test(sum),
		cmocka_unit_test(few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
