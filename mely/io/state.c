/* SPDX-License-Identifier: MIT */
/* io/state.c: see io/state.h. */
#include "io/state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "io/fd.h"
#include "io/poller.h"
#include "io/signal.h"
#include "sched/stuck.h"
#include "io/timer.h"
#include "io/watch.h"
#include "io/work.h"

uint32_t
melyint_io_pending(struct mely_runtime *rt)
{
	/* acquire: pairs with the release in work.c:count_down */
	return MELY_LOAD(&rt->io->pending, acquire);
}

static void
set_closing(struct melyint_io *io, bool closing)
{
	melyint_slots_close(&io->slots, closing);
	/* relaxed: a glance */
	MELY_STORE(&io->closing, closing, relaxed);
}

/* Every taken slot's id in turn; 0 at the end. */
static mely_watch
next_id(struct melyint_io *io, uint32_t *slot)
{
	while (*slot < melyint_slots_used(&io->slots)) {
		struct melyint_watch *w = melyint_slots_at(&io->slots, *slot);
		/* acquire: pairs with the release in melyint_slots_take */
		uint32_t gen = MELY_LOAD(&w->gen, acquire);

		++*slot;
		if ((gen & 1) == 1)
			return (mely_watch)gen << 32 | (*slot - 1);
	}
	return 0;
}

/* Under the guard, which it drops. A drain begins once: the event is posted once. */
static void
offer_close(struct melyint_watch *w)
{
	if (w->stage == MELYINT_STAGE_REST)
		melyint_watch_post(w);
	melyint_watch_drop(w);
}

static void
stop_one(struct mely_runtime *rt, mely_watch id, bool drain)
{
	struct melyint_watch *w = melyint_watch_hold(rt->io, id);

	if (w == NULL)
		return;
	if (w->stopped || w->kind == MELYINT_KIND_WORK) /* which goes on */
		melyint_watch_drop(w);
	else if (w->kind == MELYINT_KIND_DRAIN && drain)
		offer_close(w);
	else if (w->kind == MELYINT_KIND_TIMER)
		melyint_timer_close(w);
	else
		(void)melyint_stop_kind(w, id, NULL, NULL);
}

static void
stop_all(struct mely_runtime *rt, bool drain)
{
	mely_watch id;
	uint32_t slot = 0;

	while ((id = next_id(rt->io, &slot)) != 0)
		stop_one(rt, id, drain);
}

/* Is an event of the record queued? Nothing runs. */
static bool
queued(const struct melyint_watch *w)
{
	return mely_event_pending(&w->ev) || mely_event_pending(&w->over) ||
	    (w->kind == MELYINT_KIND_TIMER && mely_event_pending(&w->u.timer.message));
}

/* Nothing runs: what was stopped and is still referred to, by a loop or by an event that the end
 * of the run dropped, goes now; but a thread that is no core may be in the middle of a call. */
static void
sweep(struct mely_runtime *rt)
{
	struct melyint_io *io = rt->io;
	mely_watch id;
	uint32_t slot = 0;

	while ((id = next_id(io, &slot)) != 0) {
		struct melyint_watch *w = melyint_watch_hold(io, id);

		if (w == NULL)
			continue;
		if (w->stopped && !queued(w)) {
			if (w->kind == MELYINT_KIND_TIMER)
				melyint_timer_disarm(w);
			w->stage = MELYINT_STAGE_REST;
			w->refs = w->kind == MELYINT_KIND_TIMER ? w->u.timer.aside : 0;
		}
		melyint_watch_drop(w);
	}
}

int
melyint_io_unforked(const struct mely_runtime *rt)
{
	if (rt == NULL)
		return -EINVAL;
	/* relaxed: set before the child of a fork has another thread */
	return MELY_LOAD(&rt->phase, relaxed) == MELYINT_FORKED ? -ECHILD : 0;
}

int
melyint_io_usable(struct mely_runtime *rt)
{
	/* relaxed, both: a call that races with a fork or a stop may be either side of it; the
	 * table of slots decides: NOTE(closing) in slots.h */
	if (MELY_LOAD(&rt->phase, relaxed) == MELYINT_FORKED)
		return -ECHILD;
	return MELY_LOAD(&rt->io->closing, relaxed) ? -ESHUTDOWN : 0;
}

void
melyint_io_begin_run(struct mely_runtime *rt)
{
	/* relaxed: a thread of the run sees it by being started */
	if (MELY_LOAD(&rt->io->closing, relaxed))
		sweep(rt);
	MELY_STORE(&rt->io->discarding, false, relaxed); /* relaxed: as above */
	melyint_poller_begin_run(&rt->cores[0]);
	set_closing(rt->io, false);
}

void
melyint_io_begin_stop(struct mely_runtime *rt, bool drain)
{
	set_closing(rt->io, true);
	stop_all(rt, drain);
}

void
melyint_io_discard(struct mely_runtime *rt)
{
	/* relaxed: the cores are parked */
	MELY_STORE(&rt->io->discarding, true, relaxed);
	melyint_work_discard(rt->io);
}

bool
melyint_io_left_over(struct mely_handback *left)
{
	struct melyint_watch *w = left->arg;
	struct mely_handler *handler = left->handler;
	bool of_program = false;

	if (melyint_poller_is_inner(handler))
		return false;
	if (melyint_timer_is_message(handler)) {
		melyint_watch_guard(w);
		melyint_timer_disarm(w);
		melyint_watch_drop(w);
		return false;
	}
	if (!melyint_watch_is_ours(handler))
		return true;
	melyint_watch_guard(w);
	if (!w->stopped) { /* begin_stop has stopped all others */
		MELY_ASSERT(w->kind == MELYINT_KIND_WORK || w->kind == MELYINT_KIND_DRAIN);
		of_program = true;
		if (w->kind == MELYINT_KIND_WORK)
			left->left = MELY_LEFT_WORK_DONE;
		left->handler = w->user;
		left->arg = w->arg;
		left->event = NULL;
		w->stopped = true;
	}
	melyint_watch_lost(w, !of_program && melyint_watch_is_over(handler));
	return of_program;
}

/* ---- life ------------------------------------------------------------------------------------ */

static int
open_pollers(struct mely_runtime *rt)
{
	int i, r = 0;

	for (i = 0; i < rt->cores_count && r == 0; i++)
		r = melyint_poller_init(&rt->cores[i]);
	return r;
}

static void
close_pollers(struct mely_runtime *rt)
{
	int i;

	for (i = 0; i < rt->cores_count; i++)
		melyint_poller_fini(&rt->cores[i]);
}

static void
reset(struct melyint_io *io)
{
	melyint_slots_init(&io->slots);
	melyint_stable_init(&io->fds, sizeof(struct melyint_fd));
	/* relaxed, all: nobody else knows it yet */
	MELY_STORE(&io->pending, 0, relaxed);
	MELY_STORE(&io->discarding, false, relaxed);
	MELY_STORE(&io->closing, false, relaxed);
	MELY_STORE(&io->signals, 0, relaxed);
	MELY_STORE(&io->signals_seen, 0, relaxed);
}

int
melyint_io_init(struct mely_runtime *rt)
{
	struct melyint_io *io = calloc(1, sizeof(*io));
	int r;

	if (io == NULL)
		return -ENOMEM;
	io->rt = rt;
	reset(io);
	io->stuckfd = -1;
	rt->io = io;
	r = melyint_work_init(io);
	if (r == 0)
		r = melyint_stuck_init(rt);
	if (r == 0)
		r = open_pollers(rt);
	if (r < 0)
		melyint_io_fini(rt);
	return r;
}

void
melyint_io_fini(struct mely_runtime *rt)
{
	struct melyint_io *io = rt->io;

	if (io == NULL)
		return;
	/* relaxed: set before the child of a fork has another thread */
	if (MELY_LOAD(&rt->phase, relaxed) == MELYINT_FORKED) {
		melyint_signal_renew(io);
		melyint_work_forget(io);
	} else {
		melyint_work_fini(io);
		stop_all(rt, false); /* what a hand-back function has made meanwhile */
	}
	close_pollers(rt);
	melyint_stuck_fini(rt);
	melyint_slots_fini(&io->slots);
	melyint_stable_fini(&io->fds);
	free(io);
	rt->io = NULL;
}

int
melyint_io_renew(struct mely_runtime *rt)
{
	struct melyint_io *io = rt->io;
	int i, r;

	melyint_signal_renew(io);
	melyint_slots_fini(&io->slots);
	melyint_stable_fini(&io->fds);
	reset(io);
	melyint_work_forget(io);
	/* The timer is shared with the parent. */
	melyint_stuck_fini(rt);
	r = melyint_work_init(io);
	if (r == 0)
		r = melyint_stuck_init(rt);
	for (i = 0; i < rt->cores_count && r == 0; i++)
		r = melyint_poller_renew(&rt->cores[i]);
	return r;
}
