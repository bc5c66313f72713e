/* SPDX-License-Identifier: MIT */
/*
 * result.c: results, their sums, and their text.
 */
#include <stdio.h>
#include <string.h>

#include "../unit.h"
#include "../../../webserver/load/random.h"
#include "../../../webserver/load/result.h"

static void
fill(struct load_result *r, uint64_t seed)
{
	assert_true(load_result_init(r));
	for (int i = 0; i < LOAD_COUNTERS; i++)
		r->counters[i] = load_random(&seed) >> 8;
	r->statuses[200] = 5;
	r->statuses[999] = seed % 7;
	r->duration_ns = 1000 + seed % 1000;
	for (uint32_t s = 0; s < 100; s += 1 + seed % 3) {
		struct load_second *second = load_result_second(r, s);

		for (int i = 0; i < 10; i++) {
			uint64_t latency = load_random(&seed) >> 30;

			load_hist_record(r->latency, latency);
			assert_true(load_result_second_record(second, latency));
		}
		second->errors = s;
		second->bytes = s * UINT64_C(1000000);
	}
	load_hist_record(r->connect, 77);
	load_result_sample(r, "something \"is\" wrong\x01");
	load_result_sample(r, seed % 2 != 0 ? "this" : "that");
}

static char *
text_of(const struct load_result *r)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	load_result_write(r, out);
	fclose(out);
	return text;
}

static void
as_text(void **state)
{
	struct load_result before, after;
	char *text, *copy, *again;

	(void)state;
	fill(&before, 1);
	text = text_of(&before);
	copy = strdup(text);
	assert_true(load_result_init(&after));
	assert_true(load_result_read(&after, copy));
	again = text_of(&after);
	assert_string_equal(text, again);
	assert_int_equal(load_hist_percentile(after.latency, 99),
	    load_hist_percentile(before.latency, 99));
	load_result_fini(&before);
	load_result_fini(&after);
	free(text);
	free(copy);
	free(again);
}

/* A text that was cut, or has an unknown line, is refused. */
static void
bad_text(void **state)
{
	static const char *const bad[] = {
		"", "duration 1\n", "end", "what 1\nend\n", "count nothing 1\nend\n",
		"count bytes\nend\n", "bucket 1 1\nend\n",
		"latency 1 1 1 1\nbucket 99999999 1\nend\n",
		"second 1 0 0 0\nend\n", "of-second 1 1 1 1\nend\n", "status 1000 1\nend\n",
		"second 0 1 1 1\nof-second 1 1 1 1\nof-second 1 1 1 1\nend\n", "end\nend\n"
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct load_result r;
		char *copy = strdup(bad[i]);

		assert_true(load_result_init(&r));
		assert_false(load_result_read(&r, copy));
		load_result_fini(&r);
		free(copy);
	}
}

static void
sums(void **state)
{
	struct load_result a, b, sum;
	uint64_t errors = 0;

	(void)state;
	fill(&a, 2);
	fill(&b, 3);
	assert_true(load_result_init(&sum));
	assert_true(load_result_add(&sum, &a));
	assert_true(load_result_add(&sum, &b));
	for (int i = 0; i < LOAD_COUNTERS; i++) {
		assert_int_equal(sum.counters[i], a.counters[i] + b.counters[i]);
		errors += load_counter_names[i].error ? sum.counters[i] : 0;
	}
	assert_int_equal(load_result_errors(&sum), errors);
	assert_int_equal(sum.latency->count, a.latency->count + b.latency->count);
	assert_int_equal(sum.seconds[0].responses, 20);
	assert_int_equal(sum.seconds[0].latency->count, 20);
	assert_int_equal(sum.seconds_count, a.seconds_count > b.seconds_count ? a.seconds_count
	    : b.seconds_count);
	assert_int_equal(sum.duration_ns, a.duration_ns > b.duration_ns ? a.duration_ns
	    : b.duration_ns);
	assert_string_equal(sum.samples[0], "something \"is\" wrong?");
	load_result_fini(&a);
	load_result_fini(&b);
	load_result_fini(&sum);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_text),
		cmocka_unit_test(bad_text),
		cmocka_unit_test(sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
