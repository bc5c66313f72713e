/* SPDX-License-Identifier: MIT */
/*
 * run.c: a core's turns under the other scheduler, in place of sched/turn.c and sched/run.c: one
 * lock per event, and the first event of the FIFO is the next, whatever its color. Owner's thread
 * only.
 *
 * NOTE(one)
 *   A. Taking an event makes its color RUNNING, which keeps thieves away from the color's other
 *      events; they stay in the FIFO. The event hangs on batch->tails until its handler is
 *      entered, an embedded one marked PRIVATE as in NOTE(batch), so that cancels are the same.
 *   B. What a handler posts to its own color goes to the FIFO, too: batch->heads and batch->own
 *      are always empty.
 *   C. The next turn makes the color QUEUED again, or IDLE.
 */
#include "look/watchdog/age.h"
#include "base/assert.h"
#include "base/clock.h"
#include "check/check.h"
#include "core/core.h"
#include "sched/end.h"
#include "sched/run.h"
#include "look/trace/observe.h"

/* ---- ending --------------------------------------------------------------------------------- */

/* The color was pinned to another core while it ran: it goes there, with all it has. */
static void
leave(struct melyint_core *core, struct mely_color *color, struct melyint_core *home)
{
	bool empty = melyint_fifo_count(color) == 0;

	melyint_core_unlink(core, color);
	/* relaxed: under the lock */
	MELY_STORE(&color->_state, empty ? MELYINT_COLOR_IDLE : MELYINT_COLOR_MOVING, relaxed);
	/* release: pairs with the acquire in melyint_color_lock */
	MELY_STORE(&color->_owner, home, release);
	if (!empty) {
		core->due.leaving = color;
		MELY_ADD(&core->rt->flow.arriving, 1, relaxed); /* under the lock */
	}
}

/* C of NOTE(one). Under the lock. */
static void
put_back(struct melyint_core *core)
{
	struct mely_color *color = core->batch.color;
	/* relaxed, all of these: under the lock */
	unsigned flags = MELY_LOAD(&color->_flags, relaxed);
	struct melyint_core *home = &core->rt->cores[flags >> MELYINT_COLOR_PIN_SHIFT];

	MELY_DEBUG_ASSERT(core->batch.tails == NULL);
	core->batch.color = NULL;
	core->batch.direct = NULL;
	core->batch.color_id = MELYINT_NO_ID;
	MELY_STORE(&core->shown.running, NULL, relaxed);
	MELY_STORE(&core->shown.current, NULL, relaxed);
	if (melyint_fifo_count(color) == 0 && (flags & MELYINT_COLOR_RELEASED)) {
		MELY_STORE(&color->_state, MELYINT_COLOR_IDLE, relaxed);
		core->due.released = color;
	} else if (MELY_UNLIKELY((flags & MELYINT_COLOR_PINNED) && home != core)) {
		leave(core, color, home);
	} else if (melyint_fifo_count(color) == 0) {
		MELY_STORE(&color->_state, MELYINT_COLOR_IDLE, relaxed);
	} else {
		MELY_STORE(&color->_state, MELYINT_COLOR_QUEUED, relaxed);
		melyint_core_count_waiting(core, color, 1);
	}
}

/* ---- taking --------------------------------------------------------------------------------- */

/* A of NOTE(one). Under the lock. */
static bool
take_next(struct melyint_core *core)
{
	struct mely_event *ev = core->ready.first;
	struct mely_color *color;

	if (ev == NULL)
		return false;
	color = MELY_LOAD(&ev->_color, relaxed); /* under the lock, as all below */
	MELY_DEBUG_ASSERT(MELY_LOAD(&color->_state, relaxed) == MELYINT_COLOR_QUEUED);
	melyint_core_count_waiting(core, color, -1u);
	melyint_fifo_remove(&core->ready, color, ev);
	MELY_PREFETCH(core->ready.first);
	MELY_STORE(&color->_state, MELYINT_COLOR_RUNNING, relaxed);
	if (!(ev->_flags & MELYINT_EV_POOLED))
		MELY_STORE(&ev->_state, MELYINT_EV_PRIVATE, relaxed);
	core->batch.tails = melyint_evq_append(NULL, ev);
	core->batch.color = color;
	core->batch.direct = color;
	core->batch.color_id = MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_OBJECT ?
	    MELYINT_NO_ID : color->_id;
	MELY_STORE(&core->shown.running_id, core->batch.color_id, relaxed);
	MELY_STORE(&core->shown.running, color, release); /* as in sched/turn.c:take */
	core->batch.ran = 0;
	if (core->ready.length == 0)
		MELY_COUNT(&core->hint.dry, 1);
	return true;
}

#include "sched/turn_frame.h" /* uses put_back, take_next */

/* ---- running -------------------------------------------------------------------------------- */

/* An event on its way into its handler: what has to be known of it afterwards. */
struct call {
	void (*fn)(void *arg);
	void *arg;
	unsigned flags;
	uint64_t stamp_ticks;
};

/* Enter the handler. B and C of NOTE(tally): in a sampled batch, or of a post whose delay is
 * wanted. */
static MELY_NOINLINE void
run_sampled(struct melyint_core *core, const struct call *call)
{
	bool sampled = core->sampling.batches_left == 0;
	uint64_t before;

	if (call->flags & MELYINT_EV_STAMPED) {
		melyint_tally_delay(&core->tallies, call->stamp_ticks);
		melyint_age_saw(core, call->stamp_ticks);
	}
	before = melyint_ticks();
	melyint_check_call(call->fn, call->arg);
	if (!sampled)
		return;
	melyint_tally_time(&core->tallies, melyint_ticks_to_ns(melyint_ticks() - before));
	core->sampling.batches_left = MELYINT_SAMPLE_EVERY;
}

/* NOTE(observe): is the event that was taken one that is to be told of? */
static MELY_NOINLINE bool
observe(struct melyint_core *core, struct melyint_observed *observed)
{
	if (--core->sampling.plain_in != 0)
		return false;
	core->sampling.plain_in = core->sampling.observe_every;
	melyint_observe_batch(core, observed);
	/* Before the event is given back: with its next post it has another time. */
	observed->began_ticks = melyint_observe_now(observed);
	return true;
}

void
melyint_batch_run(struct melyint_core *core)
{
	struct mely_event *ev = melyint_evq_pop(&core->batch.tails);
	struct mely_handler *handler = ev->_handler;
	struct call call = {handler->fn, ev->_arg, ev->_flags, ev->_stamp};
	struct melyint_observed observed;
	bool seen = MELY_UNLIKELY(core->sampling.observe != 0) && observe(core, &observed);

	/* A of NOTE(tally). relaxed: given once */
	if (MELY_UNLIKELY(MELY_LOAD(&handler->_number, relaxed) != core->tallies.number))
		melyint_tally_change(&core->tallies, handler, 0);
	melyint_check_next(ev);
	if (--core->sampling.batches_left == 0)
		melyint_handler_known(melyint_handler_number(handler), handler);
	if (call.flags != MELYINT_EV_POOLED && !melyint_event_enter(core, ev, call.flags)) {
		/* the next one, then */
		core->sampling.batches_left += core->sampling.batches_left == 0;
		core->sampling.ring = NULL;
		return;
	}
	if (call.flags & MELYINT_EV_POOLED)
		melyint_pool_put(&core->pool, ev);
	core->batch.ran = 1;
	MELY_STORE(&core->tallies.begun, 1, relaxed); /* as in sched/run.c:run */
	if (seen)
		melyint_observe_begin(core, &observed, (uint64_t)(uintptr_t)ev,
		    core->tallies.number, observed.began_ticks);
	if (MELY_UNLIKELY(core->sampling.batches_left == 0 || (call.flags & MELYINT_EV_STAMPED)))
		run_sampled(core, &call);
	else
		melyint_check_call(call.fn, call.arg);
	if (seen) {
		melyint_observe_end(core, &observed);
		melyint_observe_batch_end(core, &observed);
	}
	melyint_tally_flush(&core->tallies, 1);
	MELY_COUNT(&core->counters.batches, 1);
}
