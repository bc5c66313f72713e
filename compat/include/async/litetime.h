/* SPDX-License-Identifier: MIT */
/*
 * litetime.h: the rest of the clock interface. The originals could get the time from a clock
 * daemon, or guess it between system calls; this library always reads the clock. Any thread.
 */
#ifndef MELYCOMPAT_ASYNC_LITETIME_H
#define MELYCOMPAT_ASYNC_LITETIME_H

#include "async.h"
#include "str.h"

#pragma GCC system_header

typedef enum {
	SFS_CLOCK_GETTIME = 0,
	SFS_CLOCK_MMAP = 1,
	SFS_CLOCK_TIMER = 2
} sfs_clock_t;

/** Store sfs_get_tsnow(force) of async.h in `*ts`. */
inline void
sfs_get_tsnow(struct timespec *ts, bool force = false)
{
	*ts = sfs_get_tsnow(force);
}

/** Choose a clock: accepted, without effect. */
inline void
sfs_set_clock(sfs_clock_t type, const str &arg = str(), bool lazy = false)
{
	(void)type, (void)arg, (void)lazy;
}

/** For programs with their own loop around the library's: without effect. */
inline void
sfs_set_global_timestamp()
{
}

inline void
sfs_leave_sel_loop()
{
}

#endif
