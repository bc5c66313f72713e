/* SPDX-License-Identifier: MIT */
/*
 * sfs_profiler.h: the profiler of the originals, for programs that control it. It never runs here:
 * perf(1) and mely-gantt(1) profile a program without its help. Any thread.
 */
#ifndef MELYCOMPAT_ASYNC_SFS_PROFILER_H
#define MELYCOMPAT_ASYNC_SFS_PROFILER_H

#include "async.h"

#pragma GCC system_header

class sfs_profiler
{
public:
	/** The part of the profiler that a program can replace; never called. */
	class core_t
	{
	public:
		virtual ~core_t() {}
		virtual void profile_hook(const void *in) = 0;
		virtual void recharge() = 0;
		virtual void report() = 0;
		virtual void reset() = 0;
	};

	/** False: there is no profiler. */
	static bool enable() { return false; }

	/* Without effect. */
	static void disable() {}
	static void report() {}
	static void reset() {}
	static void recharge() {}
	static void init() {}
	static void set_interval(time_t) {}
	static void set_real_timer(bool) {}
	static void set_core(core_t *) {}
	static void enter_vomit_lib() {}
	static void exit_vomit_lib() {}
};

namespace sfs {
/** memcpy. */
inline void *
memcpy_p(void *to, const void *from, size_t n)
{
	return memcpy(to, from, n);
}
}

#endif
