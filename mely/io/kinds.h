/* SPDX-License-Identifier: MIT */
/*
 * kinds.h: what each kind of watcher (fd.c, child.c, timer.c, signal.c, work.c) offers to the rest
 * of the I/O: to the pollers, which find readiness, to control.c, which stops and suspends, and to
 * state.c, which begins and ends.
 *
 * The calls that stop follow mely_watch_stop(3); the watcher is not stopped yet. "Under its guard"
 * is explained in watch.h.
 */
#ifndef MELYINT_IO_KINDS_H
#define MELYINT_IO_KINDS_H

#include "io/state.h"
#include "io/watch.h"

struct melyint_poller;

/* ---- any kind: control.c --------------------------------------------------------------------- */

/* Under its guard, which this drops. id is the watcher's. */
int melyint_stop_kind(struct melyint_watch *w, mely_watch id, struct mely_color *done_color,
    struct mely_event *done);

/* ---- descriptors and children: fd.c, child.c ------------------------------------------------- */

/* The table of descriptors of one runtime. Only one thread uses io. */
void melyint_fd_init(struct melyint_io *io);
void melyint_fd_fini(struct melyint_io *io);

/* A poller has found these epoll events in a round; data is what the entry carries. Any core's
 * thread, in no handler. */
void melyint_fd_found(struct melyint_io *io, uint64_t data, uint32_t events, uint32_t round);

/* mely_fd_watch of a pidfd. */
int melyint_fd_watch_child(struct mely_color *color, int pidfd, pid_t pid,
    struct mely_handler *handler, void *arg, mely_watch *watch);
/* Reap a child that fd reports, for mely_child_status in the handler that follows. False: the child
 * lives. */
bool melyint_child_reap(pid_t pid, int fd);

/* Under its guard, which this drops. */
int melyint_fd_stop(struct melyint_watch *w, struct mely_color *done_color,
    struct mely_event *done);
/* Under its guard, which this may drop and take again. 0; -ENOENT: the child has ended. */
int melyint_fd_enable(struct melyint_watch *w, bool on);

/* ---- timers: timer.c ------------------------------------------------------------------------- */

/* Under its guard, which this drops. */
int melyint_timer_stop(struct melyint_watch *w, struct mely_color *done_color,
    struct mely_event *done);
/* A stop of the runtime. As melyint_timer_stop, but the timer stays armed until it is due or the
 * cores are parked. */
void melyint_timer_close(struct melyint_watch *w);
/* Under its guard, which this may drop and take again: make the heap follow the record, which has
 * changed or was stopped. A of NOTE(timers) */
void melyint_timer_settle(struct melyint_watch *w);
/* Under its guard, which this may drop and take again. */
void melyint_timer_enable(struct melyint_watch *w, bool on);

/* Under the poller's hold: post the events of the timers that are due. */
void melyint_timer_fire_due(struct melyint_poller *poller);
/* Under the poller's hold: the wall clock was set; arm its timers again. */
void melyint_timer_clock_set(struct melyint_poller *poller);

/* Is this the handler of the messages between cores, whose argument is a timer's record? */
bool melyint_timer_is_message(const struct mely_handler *handler);
/* With the cores parked, under its guard: disarm a stopped timer, and forget its message. */
void melyint_timer_disarm(struct melyint_watch *w);

/* ---- signals: signal.c ----------------------------------------------------------------------- */

/* Under no lock: the lock of the signals comes before the guard. */
int melyint_signal_stop(struct melyint_io *io, mely_watch id, struct mely_color *done_color,
    struct mely_event *done);
/* Under its guard. */
void melyint_signal_enable(struct melyint_watch *w, bool on);

/* Core 0, or the core that relieves it: post the events of the signals that came. */
void melyint_signal_deliver(struct melyint_io *io);
/* Has a signal come that was not delivered? A hint. */
bool melyint_signal_news(struct melyint_io *io);
/* In the child of a fork: no signal is watched any more. */
void melyint_signal_renew(struct melyint_io *io);

/* Core 0, about once a millisecond. */
MELY_INLINE void
melyint_signal_tick(struct melyint_io *io)
{
	/* relaxed: a hint, read again a millisecond later */
	if (MELY_UNLIKELY(MELY_LOAD(&io->signals, relaxed) != 0) && melyint_signal_news(io))
		melyint_signal_deliver(io);
}

/* ---- blocking work: work.c ------------------------------------------------------------------- */

int melyint_work_init(struct melyint_io *io);
/* With the cores parked: end the helpers and join them. */
void melyint_work_fini(struct melyint_io *io);
/* Under its guard, which this drops. */
int melyint_work_stop(struct melyint_watch *w, struct mely_color *done_color,
    struct mely_event *done);
/* At the end of a stop: hand back what has not begun; wait for what runs, until then (0: no
 * limit). */
void melyint_work_discard(struct melyint_io *io, uint64_t until_ns);
/* In the child of a fork: the helpers do not exist here; free what describes them. */
void melyint_work_forget(struct melyint_io *io);

#endif
