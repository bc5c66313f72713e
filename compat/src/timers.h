/* SPDX-License-Identifier: MIT */
/*
 * timers.h: timers by CLOCK_REALTIME. Any thread.
 */
#ifndef MELYCOMPAT_TIMERS_H
#define MELYCOMPAT_TIMERS_H

#include <cstdint>
#include <ctime>
#include <mely/runtime.h>

#include "job.h"

namespace melycompat {

/** Nanoseconds since 1970 of a time, which need not be normal; times before are 0. */
uint64_t timer_ns(time_t sec, long long nsec);
uint64_t timer_now_ns();

/** Arm a timer; its name, never 0 and never used twice. Held before amain. */
uint64_t timer_add(uint64_t due_ns, const job &j);

enum timer_removal {
	TIMER_REMOVED,         /**< it will not be called; its callback is freed */
	TIMER_RUNS_ELSEWHERE,  /**< it is being called by another thread */
	TIMER_INVALID          /**< it has been called, or calls this, or there never was one */
};
timer_removal timer_remove(uint64_t timer);

/** In amain. */
void timers_start(mely_runtime *rt);

/** Of what a stop left over: was it a timer's event? Then it is dropped. */
bool timers_handback(void (*fn)(void *arg), void *arg);

}

#endif
