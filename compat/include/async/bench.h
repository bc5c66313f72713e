/* SPDX-License-Identifier: MIT */
/*
 * bench.h: measures how long code runs.
 */
#ifndef MELYCOMPAT_ASYNC_BENCH_H
#define MELYCOMPAT_ASYNC_BENCH_H

#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#pragma GCC system_header

#define TIME_LABEL "usec"

/** Microseconds since an arbitrary time; any thread. */
inline u_int64_t
get_time()
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u_int64_t)ts.tv_sec * 1000000 + (u_int64_t)ts.tv_nsec / 1000;
}

/** Run `code` `iterations` times and print the time on stdout. */
#define BENCH(iterations, code) \
	do { \
		u_int64_t bench_n_ = (iterations), bench_start_ = get_time(); \
		for (u_int64_t bench_i_ = 0; bench_i_ < bench_n_; bench_i_++) { \
			code; \
		} \
		bench_start_ = get_time() - bench_start_; \
		printf("%lu iterations in %lu " TIME_LABEL "\n", \
		    (unsigned long)bench_n_, (unsigned long)bench_start_); \
	} while (0)

#endif
