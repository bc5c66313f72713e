/* SPDX-License-Identifier: MIT */
/*
 * litetime.h: what async.h does not have of the clock. The originals could get the time from a
 * clock daemon, or guess it between system calls; here there is one way. Any thread may call these.
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

/** The same as sfs_get_tsnow(force) of async.h, to `*ts`. */
inline void
sfs_get_tsnow(struct timespec *ts, bool force = false)
{
	*ts = sfs_get_tsnow(force);
}

/** Which clock to use: accepted, and of no effect. */
inline void
sfs_set_clock(sfs_clock_t type, const str &arg = str(), bool lazy = false)
{
	(void)type, (void)arg, (void)lazy;
}

/** For loops of a program's own around the library's: of no effect. */
inline void
sfs_set_global_timestamp()
{
}

inline void
sfs_leave_sel_loop()
{
}

#endif
