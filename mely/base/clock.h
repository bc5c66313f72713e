/* SPDX-License-Identifier: MIT */
/*
 * clock.h: the one way to the time. melyint_ticks is the cheap counter of the hot path,
 * melyint_now_ns the monotonic clock. Any thread.
 */
#ifndef MELYINT_BASE_CLOCK_H
#define MELYINT_BASE_CLOCK_H

#include "base/compiler.h"

/* In the simulation a tick is a nanosecond of virtual time. */
#if defined(__x86_64__) && !defined(MELYINT_SIM)
#define MELYINT_TSC 1
#include <x86intrin.h>
#endif

uint64_t melyint_now_ns(void);
/* Ticks in a given number of ns; the rate is measured once per process (about 1 ms). */
uint64_t melyint_ns_to_ticks(uint64_t ns);
uint64_t melyint_ticks_to_ns(uint64_t ticks);
void melyint_clock_init(void);

MELY_INLINE uint64_t
melyint_ticks(void)
{
#ifdef MELYINT_TSC
	return __rdtsc();
#else
	return melyint_now_ns();
#endif
}

#endif
