/* SPDX-License-Identifier: MIT */
/*
 * timers.h: timers by CLOCK_REALTIME, driven by the runtime. Any thread.
 */
#ifndef MELYCOMPAT_TIMERS_H
#define MELYCOMPAT_TIMERS_H

#include <cstdint>
#include <mely/runtime.h>

#include "job.h"
#include "timer_table.h"

namespace melycompat {

/** Arm a timer; returns its name, never 0 and never used twice. Held before amain. */
uint64_t timer_add(uint64_t due_ns, const job &j);
timer_removal timer_remove(uint64_t timer);

/** The table: before amain the caller may drive it. */
timer_table &timers_held();

/** In amain. */
void timers_start(mely_runtime *rt);

/** Drop an event that the stop handed back, if it is a timer's. False: it is not. */
bool timers_handback(void (*fn)(void *arg), void *arg);

}

#endif
