/* SPDX-License-Identifier: MIT */
/*
 * clock.h: the only access to the time. melyint_ticks reads the cheap counter of the hot path,
 * melyint_now_ns the monotonic clock. Any thread; conversions come after melyint_clock_init.
 */
#ifndef MELYINT_BASE_CLOCK_H
#define MELYINT_BASE_CLOCK_H

#include "base/compiler.h"

/* In the simulation a tick is a nanosecond of virtual time. */
#if defined(__x86_64__) && !defined(MELYINT_SIM)
#define MELYINT_TSC 1
#endif

/* Measure the rate, once per process; takes about 1 ms. */
void melyint_clock_init(void);
uint64_t melyint_now_ns(void);
uint64_t melyint_ns_to_ticks(uint64_t ns);
uint64_t melyint_ticks_to_ns(uint64_t ticks);

MELY_INLINE uint64_t
melyint_ticks(void)
{
#ifdef MELYINT_TSC
	/* Not __rdtsc: its header is 1.4 MB, and every file includes this one. */
	return __builtin_ia32_rdtsc();
#else
	return melyint_now_ns();
#endif
}

#endif
