/* SPDX-License-Identifier: MIT */
/*
 * run.c: the turns of a core in the libasync-smp scheduler, instead of sched/turn.c and
 * sched/run.c. One lock per event; the first event of the FIFO is the next, whatever its color.
 * Owner's thread only.
 *
 * NOTE(one)
 *   A. To take an event makes its color RUNNING, which keeps thieves away from the color's other
 *      events; they stay in the FIFO. The event hangs on batch->tails until its handler is entered,
 *      an embedded one marked PRIVATE as in NOTE(batch), so that cancels are the same.
 *   B. What a handler posts to its own color goes into the FIFO, too: batch->heads and batch->own
 *      are always empty.
 *   C. The next turn makes the color QUEUED again, or IDLE.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "core/hooks.h"
#include "core/worth.h"
#include "sched/end.h"
#include "sched/run.h"

/* ---- ending --------------------------------------------------------------------------------- */

/* The color was pinned to another core while it ran: it goes there with all its events. */
static void
leave(struct melyint_core *core, struct mely_color *color, struct melyint_core *home)
{
	bool empty = melyint_fifo_count(color) == 0;

	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock) && home != core);
	MELY_DEBUG_ASSERT(core->due.leaving == NULL); /* it would never arrive */
	melyint_core_unlink(core, color);
	melyint_color_become(color, empty ? MELYINT_COLOR_IDLE : MELYINT_COLOR_MOVING);
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

	MELY_DEBUG_ASSERT(core->batch.tails == NULL && core->due.released == NULL);
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_RUNNING &&
	    MELY_PEEK(&color->_owner) == core && MELY_PEEK(&core->shown.running) == color);
	core->batch.color = NULL;
	core->batch.direct = NULL;
	core->batch.color_id = MELYINT_NO_ID;
	MELY_STORE(&core->shown.running, NULL, relaxed);
	MELY_STORE(&core->shown.current, NULL, relaxed);
	if (melyint_fifo_count(color) == 0 && (flags & MELYINT_COLOR_RELEASED)) {
		melyint_color_become(color, MELYINT_COLOR_IDLE);
		core->due.released = color;
	} else if (MELY_UNLIKELY((flags & MELYINT_COLOR_PINNED) && home != core)) {
		leave(core, color, home);
	} else if (melyint_fifo_count(color) == 0) {
		melyint_color_become(color, MELYINT_COLOR_IDLE);
	} else {
		melyint_color_become(color, MELYINT_COLOR_QUEUED);
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

	/* No color runs here, so all in the FIFO wait. */
	MELY_DEBUG_ASSERT(core->ready.colors == MELY_PEEK(&core->hint.waiting));
	if (ev == NULL)
		return false;
	MELY_DEBUG_ASSERT(core->batch.tails == NULL);
	color = MELY_LOAD(&ev->_color, relaxed); /* under the lock, as all below */
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_owner) == core);
	melyint_core_count_waiting(core, color, -1u);
	melyint_fifo_remove(&core->ready, color, ev);
	MELY_PREFETCH(core->ready.first);
	melyint_color_become(color, MELYINT_COLOR_RUNNING);
	if (!(ev->_flags & MELYINT_EV_POOLED))
		MELY_STORE(&ev->_state, MELYINT_EV_PRIVATE, release); /* as in sched/turn.c */
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

bool
melyint_turn(struct melyint_core *core)
{
	return melyint_turn_frame(core, true, put_back, take_next);
}

void
melyint_turn_end(struct melyint_core *core)
{
	(void)melyint_turn_frame(core, false, put_back, take_next);
}

/* ---- which events are sampled and observed --------------------------------------------------- */

void
melyint_sampling_soon(struct melyint_core *core)
{
	core->sampling.batches_left = 1;
}

/* Here plain_left counts the events until the next one that the observers see. */
void
melyint_sampling_observe(struct melyint_core *core, bool on)
{
	if (on)
		core->sampling.plain_left = 1;
}

/* ---- running -------------------------------------------------------------------------------- */

/* A call of a handler, and what its event said: the handler may free the event. */
struct call {
	void (*fn)(void *arg);
	void *arg;
	unsigned flags;
	uint64_t stamp_ticks;
};

/* Run the handler of a sampled event, or of one whose delay is recorded: B and C of NOTE(tally). */
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
	melyint_run_handler(call->fn, call->arg);
	if (!sampled)
		return;
	melyint_tally_time(&core->tallies, melyint_ticks_to_ns(melyint_ticks() - before));
	core->sampling.batches_left = MELYINT_SAMPLE_EVERY;
}

/* NOTE(observe): do the observers see the event that was taken? */
static MELY_NOINLINE bool
observe(struct melyint_core *core, struct melyint_observed *observed, const struct mely_event *ev)
{
	MELY_DEBUG_ASSERT(core->sampling.plain_left > 0);
	if (--core->sampling.plain_left != 0)
		return false;
	core->sampling.plain_left = core->sampling.observe_every;
	melyint_observe_batch(core, observed);
	melyint_observe_next(observed, ev);
	return true;
}

void
melyint_batch_run(struct melyint_core *core)
{
	struct mely_event *ev = melyint_evq_pop(&core->batch.tails);
	struct mely_handler *handler = ev->_handler;
	struct call call = {handler->fn, ev->_arg, ev->_flags, ev->_stamp};
	struct melyint_observed observed;
	bool seen = MELY_UNLIKELY(core->sampling.observe != 0) &&
	    observe(core, &observed, ev);

	/* No other core can run or steal the color now, and it has one event: A of NOTE(one). */
	MELY_DEBUG_ASSERT(MELY_PEEK(&core->batch.color->_owner) == core &&
	    MELY_PEEK(&core->batch.color->_state) == MELYINT_COLOR_RUNNING);
	MELY_DEBUG_ASSERT(core->batch.tails == NULL && core->sampling.batches_left > 0);
	/* A of NOTE(tally). relaxed: a handler gets its number once */
	if (MELY_UNLIKELY(MELY_LOAD(&handler->_number, relaxed) != core->tallies.number))
		melyint_tally_change(&core->tallies, handler, 0);
	melyint_check_next(ev);
	if (--core->sampling.batches_left == 0)
		melyint_handler_known(melyint_handler_number(handler), handler);
	if (call.flags != MELYINT_EV_POOLED && !melyint_event_enter(core, ev, call.flags)) {
		/* Sample the next event instead. */
		core->sampling.batches_left += core->sampling.batches_left == 0;
		core->sampling.ring = NULL;
		return;
	}
	if (call.flags & MELYINT_EV_POOLED)
		melyint_pool_put(&core->pool, ev);
	core->batch.ran = 1;
	MELY_STORE(&core->tallies.begun, 1, relaxed); /* as in sched/run.c:run */
	if (seen)
		melyint_observe_begin(core, &observed, core->tallies.number);
	if (MELY_UNLIKELY(core->sampling.batches_left == 0 || (call.flags & MELYINT_EV_STAMPED)))
		run_sampled(core, &call);
	else
		melyint_run_handler(call.fn, call.arg);
	if (seen) {
		melyint_observe_end(core, &observed);
		melyint_observe_batch_end(core, &observed);
	}
	melyint_tally_flush(&core->tallies, 1);
	MELY_COUNT(&core->counters.batches, 1);
}
