/* SPDX-License-Identifier: MIT */
/*
 * corebench.h: a stopwatch that the originals also ran in their loop. Here only the program's own
 * START_ACHECK_TIMER and STOP_ACHECK_TIMER use it. Color 0.
 */
#ifndef MELYCOMPAT_ASYNC_COREBENCH_H
#define MELYCOMPAT_ASYNC_COREBENCH_H

#include "bench.h"

#pragma GCC system_header

/** The current time, and its unit. */
#define corebench_get_time() get_time()
#define BENCH_TICK_TYPE "usec"

/** Whether the stopwatch is switched on, when it was started, and the sum of the times. */
extern bool do_corebench;
extern unsigned long long tia_tmp, time_in_acheck;

inline void
toggle_corebench(bool on)
{
	do_corebench = on;
}

#define START_ACHECK_TIMER() \
	do { \
		if (do_corebench) \
			tia_tmp = corebench_get_time(); \
	} while (0)
#define STOP_ACHECK_TIMER() \
	do { \
		if (do_corebench) \
			time_in_acheck += corebench_get_time() - tia_tmp; \
	} while (0)

#endif
