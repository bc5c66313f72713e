/* SPDX-License-Identifier: MIT */
/* timer.h: timers, for the I/O's other files. */
#ifndef MELYINT_IO_TIMER_H
#define MELYINT_IO_TIMER_H

#include "io/poller.h"
#include "io/watch.h"

/* Holding the poller: the wall clock was set; look at its timers again. */
void melyint_timer_clock_set(struct melyint_poller *poller);

/* A stop of the runtime: stop it, but leave it in its loop, until it is due or nothing runs. */
void melyint_timer_close(struct melyint_io *io, mely_watch timer);

/* Is it the handler of the messages between cores, whose argument is a timer's record? */
bool melyint_timer_is_message(const struct mely_handler *handler);

/* Nothing running: take a stopped timer out of its loop, and its message to be gone. */
void melyint_timer_disarm(struct melyint_watch *w);

#endif
