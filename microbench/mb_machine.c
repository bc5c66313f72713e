/* SPDX-License-Identifier: MIT */
/*
 * mb_machine.c: clocks, processors and resident memory, as the microbenchmarks need them. Any
 * thread, but mb_ticks_per_s is first called before a second thread exists.
 */
#include "mb.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
mb_fail(const char *what, int errnum)
{
	if (errnum != 0)
		fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		    strerror(errnum));
	else
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	/* Other threads may be running: no destructors. */
	_exit(1);
}

double
mb_now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

double
mb_cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

void
mb_nap(double seconds)
{
	struct timespec ts;

	ts.tv_sec = (time_t)seconds;
	ts.tv_nsec = (long)((seconds - (double)ts.tv_sec) * 1e9);
	while (nanosleep(&ts, &ts) != 0 && errno == EINTR)
		;
}

double
mb_ticks_per_s(void)
{
	static double rate;
	double start;
	uint64_t ticks;

	if (rate == 0) {
		start = mb_now_s();
		ticks = mb_ticks();
		mb_nap(0.05);
		rate = (double)(mb_ticks() - ticks) / (mb_now_s() - start);
	}
	return rate;
}

int
mb_processors(int *cpu, int max)
{
	cpu_set_t set;
	int i, count = 0;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		mb_fail("sched_getaffinity", errno);
	for (i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &set))
			continue;
		if (count < max)
			cpu[count] = i;
		count++;
	}
	return count;
}

void
mb_pin_self(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		mb_fail("sched_setaffinity", errno);
}

double
mb_rss_bytes(void)
{
	char line[256];
	double kb = -1;
	FILE *f;

	/*
	 * VmRSS is summed from per-thread or per-processor counters and may be off by hundreds of
	 * kilobytes; smaps_rollup walks the pages.
	 */
	f = fopen("/proc/self/smaps_rollup", "r");
	if (f == NULL)
		f = fopen("/proc/self/status", "r");
	if (f == NULL)
		mb_fail("/proc/self/status", errno);
	while (kb < 0 && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "Rss: %lf", &kb) != 1 && sscanf(line, "VmRSS: %lf", &kb) != 1)
			kb = -1;
	}
	fclose(f);
	if (kb < 0)
		mb_fail("no resident size in /proc/self", 0);
	return kb * 1024;
}
