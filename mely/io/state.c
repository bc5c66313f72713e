/* SPDX-License-Identifier: MIT */
/*
 * state.c: the life of a runtime's I/O: made, stopped with each stop, renewed after a fork, freed.
 * A stop closes the table of slots and stops every watcher. What still refers to a record then (an
 * event in a queue, a timer in a loop) is cleared when no core runs.
 */
#include "io/state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "io/kinds.h"
#include "io/poller.h"
#include "sched/stuck.h"

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
	/* relaxed: a hint */
	MELY_STORE(&io->closing, closing, relaxed);
}

/* The id of the next taken slot from *slot on; 0: none. */
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
	MELY_DEBUG_ASSERT(w->kind == MELYINT_KIND_DRAIN && melyint_watch_guarded(w));
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
	MELY_DEBUG_ASSERT(w->io == rt->io);
	if (w->stopped || w->kind == MELYINT_KIND_WORK) /* work goes on */
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

/* With no core running: is an event of the record queued? */
static bool
queued(const struct melyint_watch *w)
{
	return mely_event_pending(&w->ev) || mely_event_pending(&w->over) ||
	    (w->kind == MELYINT_KIND_TIMER && mely_event_pending(&w->u.timer.message));
}

/* With no core running: free the records that were stopped and are still referred to, by a loop or
 * by an event that the end of the run has dropped. An outside thread may be inside a call, and
 * keeps its refs. */
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
			MELY_ASSERT(w->kind != MELYINT_KIND_TIMER || w->refs >= w->u.timer.aside);
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
	/* relaxed, both: a call that races with a fork or a stop may come before or after it. The
	 * table of slots decides: NOTE(closing) in slots.c */
	if (MELY_LOAD(&rt->phase, relaxed) == MELYINT_FORKED)
		return -ECHILD;
	return MELY_LOAD(&rt->io->closing, relaxed) ? -ESHUTDOWN : 0;
}

void
melyint_io_begin_run(struct mely_runtime *rt)
{
	MELY_ASSERT(MELY_PEEK(&rt->phase) != MELYINT_RUNNING &&
	    MELY_PEEK(&rt->phase) != MELYINT_DRAINING);
	/* relaxed: the start of a thread of the run publishes it */
	if (MELY_LOAD(&rt->io->closing, relaxed))
		sweep(rt);
	/* relaxed: as above */
	MELY_STORE(&rt->io->discarding, false, relaxed);
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
melyint_io_discard(struct mely_runtime *rt, uint64_t until_ns)
{
	/* relaxed: the cores are parked */
	MELY_STORE(&rt->io->discarding, true, relaxed);
	melyint_work_discard(rt->io, until_ns);
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
	melyint_fd_init(io);
	/* relaxed, all: no other thread knows it yet */
	MELY_STORE(&io->pending, 0, relaxed);
	MELY_STORE(&io->discarding, false, relaxed);
	MELY_STORE(&io->closing, false, relaxed);
	MELY_STORE(&io->readers, 0, relaxed);
	MELY_STORE(&io->signals, 0, relaxed);
	MELY_STORE(&io->signals_seen, 0, relaxed);
}

int
melyint_io_init(struct mely_runtime *rt)
{
	struct melyint_io *io = calloc(1, sizeof(*io));
	int r;

	MELY_ASSERT(rt->io == NULL);
	if (io == NULL)
		return -ENOMEM;
	io->rt = rt;
	reset(io);
	rt->stuck.fd = -1;
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
		MELY_ASSERT(MELY_PEEK(&io->pending) == 0); /* each helper has posted */
		stop_all(rt, false); /* watchers that a hand-back function has made */
	}
	MELY_ASSERT(MELY_PEEK(&io->signals) == 0); /* or they are still in signal.c's lists */
	close_pollers(rt);
	melyint_stuck_fini(rt);
	melyint_slots_fini(&io->slots);
	melyint_fd_fini(io);
	free(io);
	rt->io = NULL;
}

int
melyint_io_renew(struct mely_runtime *rt)
{
	struct melyint_io *io = rt->io;
	int i, r;

	MELY_ASSERT(MELY_PEEK(&rt->phase) == MELYINT_FORKED);
	melyint_signal_renew(io);
	melyint_slots_fini(&io->slots);
	melyint_fd_fini(io);
	reset(io);
	melyint_work_forget(io);
	/* The parent shares its timer. */
	melyint_stuck_fini(rt);
	r = melyint_work_init(io);
	if (r == 0)
		r = melyint_stuck_init(rt);
	for (i = 0; i < rt->cores_count && r == 0; i++)
		r = melyint_poller_renew(&rt->cores[i]);
	return r;
}
