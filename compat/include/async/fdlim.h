/* SPDX-License-Identifier: MIT */
/*
 * fdlim.h, dialect "async": how many descriptors the process may have. In main.
 */
#ifndef MELYCOMPAT_ASYNC_FDLIM_H
#define MELYCOMPAT_ASYNC_FDLIM_H

#include "sysconf.h"

#pragma GCC system_header

/** As high as async_init raises the soft limit; in fdlim_set: without a limit. */
#define FDLIM_MAX 0x18000

/** The soft limit, or the hard one; FDLIM_MAX when there is none, -1 with errno. */
inline int
fdlim_get(int hard)
{
	rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -1;
	rlim_t n = hard ? limit.rlim_max : limit.rlim_cur;
	return n > FDLIM_MAX ? FDLIM_MAX : (int)n;
}

/**
 * Set the soft limit, as far as the hard one allows (hard 0), both (1), or the hard one and with it
 * the soft one where that is above (-1). 0, or -1 with errno.
 */
inline int
fdlim_set(rlim_t n, int hard)
{
	rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -1;
	if (n >= FDLIM_MAX && hard)
		n = RLIM_INFINITY;
	if (hard)
		limit.rlim_max = n;
	if (hard >= 0)
		limit.rlim_cur = n;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit);
}

#endif
