/* SPDX-License-Identifier: MIT */
/*
 * clock.c: the rate of the cheap counter, measured once per process against the monotonic clock.
 */
#include <pthread.h>
#include <time.h>
#include <mely/runtime.h>

#include "base/clock.h"

/* Fixed point, 32 bits of fraction: written once under pthread_once, constant afterwards. */
static uint64_t ticks_per_ns_fp = 1ull << 32;
static uint64_t ns_per_tick_fp = 1ull << 32;

uint64_t
melyint_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t
mely_now_ns(void)
{
	return melyint_now_ns();
}

#ifdef MELYINT_TSC
/* Read both clocks at once. The closest of several readings wins, because the thread can lose its
 * processor between the two. */
static void
read_both(uint64_t *ns, uint64_t *ticks)
{
	uint64_t closest = UINT64_MAX;
	int i;

	for (i = 0; i < 5; i++) {
		uint64_t before = melyint_ticks(), now_ns = melyint_now_ns();
		uint64_t apart = melyint_ticks() - before;

		if (apart < closest) {
			closest = apart;
			*ns = now_ns;
			*ticks = before + apart / 2;
		}
	}
}
#endif

static void
measure_rate(void)
{
#ifdef MELYINT_TSC
	const uint64_t span_ns = 500000;
	uint64_t ns0 = 0, ticks0 = 0, ns1 = 0, ticks1 = 0;

	read_both(&ns0, &ticks0);
	while (melyint_now_ns() - ns0 < span_ns)
		melyint_cpu_relax();
	read_both(&ns1, &ticks1);
	if (ticks1 > ticks0) {
		ticks_per_ns_fp = ((ticks1 - ticks0) << 32) / (ns1 - ns0);
		ns_per_tick_fp = ((ns1 - ns0) << 32) / (ticks1 - ticks0);
	}
#endif
}

void
melyint_clock_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, measure_rate);
}

uint64_t
melyint_ns_to_ticks(uint64_t ns)
{
	return (uint64_t)(((unsigned __int128)ns * ticks_per_ns_fp) >> 32);
}

uint64_t
melyint_ticks_to_ns(uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks * ns_per_tick_fp) >> 32);
}
