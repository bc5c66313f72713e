/* SPDX-License-Identifier: MIT */
/*
 * delays.h: timers of all colors, by the names that timecb_t * stands for.
 */
#ifndef MELYCOMPAT_ASYNC_DELAYS_H
#define MELYCOMPAT_ASYNC_DELAYS_H

#include <cstdint>

#include "../src/job.h"
#include "../src/timer_table.h"

namespace melycompat {

/** Arm and disarm. Any thread. */
uint64_t delay_add(uint64_t due_ns, const job &j);
timer_removal delay_remove(uint64_t name);

/** In a pass: call the due timers. woken: the deadline of the wait has passed. */
void delays_run(bool woken);

/** In amain, after timers_start: make a fork hold the lock of the timers. */
void delays_fork_safely();

/** The wait set has been made. */
void delays_start();

}

#endif
