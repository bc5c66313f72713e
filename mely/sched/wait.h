/* SPDX-License-Identifier: MIT */
/*
 * wait.h: what the scheduler asks of the I/O: to poll, to sleep, to wake a core. A seam: room io
 * defines the functions.
 */
#ifndef MELYINT_SCHED_WAIT_H
#define MELYINT_SCHED_WAIT_H

#include "core/core.h"

/* Owner: poll without waiting and post what is ready. Returns the number of events found. */
int melyint_poller_look(struct melyint_core *core);
/* Owner, at least once a millisecond while busy: run timers that are due, post signals. */
void melyint_poller_tick(struct melyint_core *core);
/*
 * Owner: wait for a descriptor, a timer, a signal, a wake-up or the timeout (UINT64_MAX: none), and
 * post what came. May return early. A wake-up sent before the call makes it return at once.
 */
void melyint_poller_sleep(struct melyint_core *core, uint64_t timeout_ns);
/* Any thread, also in a signal handler: end a sleep. One write. */
void melyint_poller_wake(struct melyint_core *core);
/* Another core, self: poll and tick on core's behalf. False: another core does so already. */
bool melyint_poller_relieve(struct melyint_core *self, struct melyint_core *core);
/* Does the handler of the single poller run in this color? NOTE(single) in io/single.c. */
bool melyint_poller_uses(const struct melyint_core *core, const struct mely_color *color);

/* NOTE(outside) in park.c: core 0's thread, back from the program's own loop: collect everything
 * that is ready and due. */
void melyint_due_enter(struct melyint_core *core);
/* On the way to that loop: the program makes a pass at pass_ns at the latest; 0: at once,
 * UINT64_MAX: when something comes. */
void melyint_due_leave(struct melyint_core *core, uint64_t pass_ns);

/* The helper work whose completion is not yet posted: a drain waits for 0. Any thread. */
uint32_t melyint_io_pending(struct mely_runtime *rt);

#endif
