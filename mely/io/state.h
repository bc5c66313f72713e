/* SPDX-License-Identifier: MIT */
/*
 * state.h: the I/O of a runtime as its life cycle sees it.
 *
 * Order of the calls: init once the cores exist; begin_stop when a stop has begun; discard when it
 * ends, all cores parked, and left_over for each event still queued; then begin_run, for the next
 * run, or fini. renew stands for fini and init
 * in the child of a fork.
 */
#ifndef MELYINT_IO_STATE_H
#define MELYINT_IO_STATE_H

#include "core/core.h"
#include "io/slots.h"

struct melyint_watch;
struct melyint_work_pool;

struct melyint_io {
	struct mely_runtime *rt;    /* constant */
	struct melyint_slots slots;
	struct melyint_stable fds;  /* struct melyint_fd by descriptor; io/fd.c */
	struct melyint_work_pool *work; /* constant; work.c */
	/* helper work accepted whose completion has not been posted; anyone */
	_Atomic uint32_t pending;
	_Atomic bool discarding;    /* no new helper work; anyone */
	_Atomic bool closing;       /* as slots.closing, for a glance */
	_Atomic uint32_t signals;   /* watchers of signals; anyone */
	_Atomic uint32_t signals_seen; /* io/signal.c */
	int stuckfd;                /* constant: timerfd in every poller, or -1; stuck.c */
	uint64_t stuck_ticks;       /* constant: a core is stuck after that; 0: never */
	uint64_t pull_ticks;        /* constant: and after that its colors are pulled */
	_Atomic uint64_t stuck_until; /* until then stuckfd is armed; anyone */
};

int melyint_io_init(struct mely_runtime *rt);
void melyint_io_fini(struct mely_runtime *rt);

/* When a stop has ended and no core runs: watchers are accepted again, held for the next run. */
void melyint_io_begin_run(struct mely_runtime *rt);
/*
 * A stop has begun: every watcher is stopped and no new one accepted. Any one thread. What is
 * running runs to its end; queued readiness is cancelled, helper work goes on.
 * drain: handlers of mely_drain_watch are posted instead.
 */
void melyint_io_begin_stop(struct mely_runtime *rt, bool drain);
/* Helper work whose completion has not been posted: a drain waits for 0. Any thread. */
uint32_t melyint_io_pending(struct mely_runtime *rt);
/* At the end of a stop, cores parked: hand back work not begun, wait for what runs. */
void melyint_io_discard(struct mely_runtime *rt);
/*
 * At the end of a stop, cores parked: an event that is left over, with its handler and argument. If
 * it runs a handler of the program on behalf of the I/O, *left becomes what the program gave. False:
 * it is the library's own, and settled now; do not hand it back.
 */
bool melyint_io_left_over(struct mely_handback *left);

/* In the child of a fork: new pollers, no watchers, no helpers. 0 or a negative errno. */
int melyint_io_renew(struct mely_runtime *rt);

/* control.c: stop a watcher of any kind. Under its guard, which it drops; not stopped; id is its. As
 * mely_watch_stop. */
int melyint_stop_kind(struct melyint_watch *w, mely_watch id, struct mely_color *done_color,
    struct mely_event *done);

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
/* May rt take on watchers? 0, -ESHUTDOWN, -ECHILD. Any thread. */
int melyint_io_usable(struct mely_runtime *rt);

/* Is this thread in a handler of rt? */
MELY_INLINE bool
melyint_io_inside(const struct mely_runtime *rt)
{
	return melyint_self != NULL && melyint_self->rt == rt;
}

#endif
