/* SPDX-License-Identifier: MIT */
/*
 * mb_misses.c: the kernel's counter of cache misses. Most virtual machines have none.
 */
#include "mb_misses.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fd = -1;

void
mb_misses_start(void)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CACHE_MISSES;
	attr.inherit = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

double
mb_misses_read(void)
{
	uint64_t count;

	if (fd < 0 || read(fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
		return NAN;
	return (double)count;
}
