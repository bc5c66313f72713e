/* SPDX-License-Identifier: MIT */
/* timer.h: timers, for the I/O's other files. */
#ifndef MELYINT_IO_TIMER_H
#define MELYINT_IO_TIMER_H

#include "io/poller.h"
#include "io/watch.h"

/* Holding the poller: the wall clock was set; look at its timers again. */
void melyint_timer_clock_set(struct melyint_poller *poller);

/* Stop a timer. Under its guard, which it drops; not stopped. As mely_watch_stop. */
int melyint_timer_stop(struct melyint_watch *w, struct mely_color *done_color,
    struct mely_event *done);
/* Under its guard, which may be dropped meanwhile; not stopped: resume or suspend it. */
void melyint_timer_enable(struct melyint_watch *w, bool on);
/* A stop of the runtime: stop a timer, but leave it in its loop until it is due or the cores are
 * parked. Under its guard, which it drops; not stopped. */
void melyint_timer_close(struct melyint_watch *w);

/* Is it the handler of the messages between cores, whose argument is a timer's record? */
bool melyint_timer_is_message(const struct mely_handler *handler);

/* Nothing running: take a stopped timer out of its loop, and its message to be gone. */
void melyint_timer_disarm(struct melyint_watch *w);

#endif
