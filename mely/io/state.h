/* SPDX-License-Identifier: MIT */
/*
 * state.h: the I/O of a runtime as its life cycle sees it.
 *
 * Order of the calls: init once the cores exist; begin_stop when a stop has begun; discard when it
 * ends, with all cores parked, and left_over for each event still queued; then begin_run, for the
 * next run, or fini. In the child of a fork, renew replaces fini and init.
 */
#ifndef MELYINT_IO_STATE_H
#define MELYINT_IO_STATE_H

#include "core/core.h"
#include "sched/wait.h"
#include "io/slots.h"

struct melyint_work_pool;

struct melyint_io {
	struct mely_runtime *rt;    /* constant */
	struct melyint_slots slots;
	struct melyint_stable fds;  /* struct melyint_fd by descriptor; fd.c */
	struct melyint_work_pool *work; /* constant; work.c */
	/* helper work that was accepted and whose completion was not posted; any thread */
	_Atomic uint32_t pending;
	_Atomic bool discarding;    /* no new helper work; any thread */
	_Atomic bool closing;       /* a copy of slots.closing, read as a hint by any thread */
	_Atomic uint32_t readers;   /* outside threads: B of NOTE(slotmem) */
	_Atomic uint32_t signals;   /* watchers of signals; any thread */
	_Atomic uint32_t signals_seen; /* signal.c */
};

int melyint_io_init(struct mely_runtime *rt);
void melyint_io_fini(struct mely_runtime *rt);

/* After a stop, with no core running: accept watchers again, for the next run. */
void melyint_io_begin_run(struct mely_runtime *rt);
/*
 * A stop has begun: stop every watcher and refuse new ones. Any one thread. A running handler runs
 * to its end; queued readiness is cancelled; helper work goes on. drain: post the handlers of
 * mely_drain_watch instead of stopping their watchers.
 */
void melyint_io_begin_stop(struct mely_runtime *rt, bool drain);
/* At the end of a stop, with the cores parked: hand back work that has not begun; wait for what
 * runs, until then (0: for ever). */
void melyint_io_discard(struct mely_runtime *rt, uint64_t until_ns);
/*
 * At the end of a stop, with the cores parked: an event that is left over, with its handler and
 * argument. If it runs a handler of the program on behalf of the I/O, *left becomes what the
 * program gave. False: the event is the library's own and settled now; do not hand it back.
 */
bool melyint_io_left_over(struct mely_handback *left);

/* In the child of a fork: new pollers, no watchers, no helpers. 0 or a negative error. */
int melyint_io_renew(struct mely_runtime *rt);

/*
 * control.c: all watchers, timers and work of one color, in time proportional to their number. A
 * list for each color (bycolor.c) is under the lock of the table of slots, which these take. Any
 * thread that holds no guard.
 *
 * of_color  call fn with the id of each; fn may stop it
 * stop_all  stop each, as mely_watch_stop without done
 * await     post ended to color when all have ended: no handler of theirs, nor fn of work, runs or
 *           will run. 0; -ENOENT: there are none, nothing is posted; -EALREADY: another event
 *           waits. ended is not queued, and stays valid until it is entered.
 */
void melyint_watches_of_color(struct melyint_io *io, struct mely_color *color,
    void (*fn)(void *arg, mely_watch id), void *arg);
void melyint_watches_stop_all(struct melyint_io *io, struct mely_color *color);
int melyint_watches_await(struct melyint_io *io, struct mely_color *color,
    struct mely_event *ended);

/* 0; -EINVAL without a runtime, -ECHILD in the child of a fork. Any thread. */
int melyint_io_unforked(const struct mely_runtime *rt);
/* Does rt accept watchers? 0, -ESHUTDOWN, -ECHILD. Any thread; the table of slots decides. */
int melyint_io_usable(struct mely_runtime *rt);

/* Is the caller in a handler of rt? */
MELY_INLINE bool
melyint_io_inside(const struct mely_runtime *rt)
{
	return melyint_self != NULL && melyint_self->rt == rt;
}

#endif
