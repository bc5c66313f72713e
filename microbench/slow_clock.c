/* SPDX-License-Identifier: MIT */
/*
 * slow_clock.c: a clock that goes a hundred times slower, preloaded by microbench/lines: a program
 * under valgrind is about that much slower, and would do what it does every millisecond with each
 * request.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CLOCKS = 16, SLOWER = 100 };

#define S_NS INT64_C(1000000000)

int
clock_gettime(clockid_t id, struct timespec *t)
{
	static int64_t began_ns[CLOCKS];
	int64_t now_ns, first = 0;

	if (syscall(SYS_clock_gettime, id, t) != 0)
		return -1;
	if (id < 0 || id >= CLOCKS)
		return 0;
	now_ns = t->tv_sec * S_NS + t->tv_nsec;
	if (!__atomic_compare_exchange_n(&began_ns[id], &first, now_ns, 0, __ATOMIC_RELAXED,
	    __ATOMIC_RELAXED))
		now_ns = first + (now_ns - first) / SLOWER;
	t->tv_sec = now_ns / S_NS;
	t->tv_nsec = now_ns % S_NS;
	return 0;
}
