/* SPDX-License-Identifier: MIT */
/*
 * clock.c: the two clocks agree, never go back, and convert both ways without overflow.
 */
#include <time.h>

#include "unit.h"
#include "base/clock.h"

static void
never_goes_back(void **state)
{
	uint64_t ns = melyint_now_ns(), ticks = melyint_ticks();
	int i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		uint64_t ns_now = melyint_now_ns(), ticks_now = melyint_ticks();

		assert_true(ns_now >= ns);
		assert_true(ticks_now >= ticks);
		ns = ns_now;
		ticks = ticks_now;
	}
}

static void
is_monotonic_time(void **state)
{
	struct timespec a, b;
	uint64_t ns;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &a);
	ns = melyint_now_ns();
	clock_gettime(CLOCK_MONOTONIC, &b);
	assert_true(ns >= (uint64_t)a.tv_sec * 1000000000u + (uint64_t)a.tv_nsec);
	assert_true(ns <= (uint64_t)b.tv_sec * 1000000000u + (uint64_t)b.tv_nsec);
}

static void
conversions(void **state)
{
	static const uint64_t spans[] = {0, 1, 17, 1000, 1000000, 1000000000, 3600000000000u,
	    UINT64_C(1000000000) * 86400 * 365};
	size_t i;

	(void)state;
	melyint_clock_init();
	for (i = 0; i < sizeof spans / sizeof spans[0]; i++) {
		uint64_t back = melyint_ticks_to_ns(melyint_ns_to_ticks(spans[i]));
		uint64_t slack = spans[i] / 1000 + 2;

		assert_true(back + slack >= spans[i] && back <= spans[i] + slack);
	}
}

/* Both clocks advance equally over a sleep; 10 % allows for the measured rate. */
static void
rates_agree(void **state)
{
	struct timespec nap = {0, 50000000};
	uint64_t ns, ticks, span;

	(void)state;
	melyint_clock_init();
	ns = melyint_now_ns();
	ticks = melyint_ticks();
	nanosleep(&nap, NULL);
	span = melyint_ticks_to_ns(melyint_ticks() - ticks);
	ns = melyint_now_ns() - ns;
	/* ns was read outside the span of ticks, so it is longer, except for the rate's error. */
	assert_true(span <= ns + ns / 10);
	assert_true(span >= 50000000 * 9 / 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_goes_back),
		cmocka_unit_test(is_monotonic_time),
		cmocka_unit_test(conversions),
		cmocka_unit_test(rates_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
