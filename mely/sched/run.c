/* SPDX-License-Identifier: MIT */
/*
 * run.c: running a batch: NOTE(batch) in sched/turn.c. Owner's thread only.
 */
#include "look/watchdog/age.h"
#include "base/clock.h"
#include "check/check.h"
#include "core/core.h"
#include "sched/end.h"
#include "sched/run.h"
#include "look/trace/observe.h"

/* The first of heads or tails, whose weight is off the color when the batch is over. */
MELY_INLINE struct mely_event *
pop_weighed(struct melyint_core *core, struct mely_event **list)
{
	struct mely_event *ev = melyint_evq_pop(list);

	core->batch.gone += melyint_weight_of(ev);
	return ev;
}

/* B of NOTE(batch): the next event of the batch, or NULL. */
MELY_INLINE struct mely_event *
next_event(struct melyint_core *core)
{
	struct melyint_batch *batch = &core->batch;

	if (MELY_UNLIKELY(batch->heads != NULL))
		return pop_weighed(core, &batch->heads);
	/* acquire: pairs with the release in sched/post.c:melyint_append_locked */
	if (MELY_UNLIKELY(MELY_LOAD(&batch->color->_heads, acquire) != NULL)) {
		melyint_batch_take_heads(core);
		if (batch->heads != NULL)
			return pop_weighed(core, &batch->heads);
	}
	if (batch->tails != NULL)
		return pop_weighed(core, &batch->tails);
	if (batch->own != NULL && batch->all_taken)
		return melyint_evq_pop(&batch->own);
	return NULL;
}

/* B of NOTE(outbox). In the child of a fork the core is nobody's any more. */
static void
end_row(struct melyint_core *core)
{
	core->outbox.remote = 0;
	MELY_STORE(&core->outbox.open, false, relaxed); /* ours */
	if (!melyint_outbox_empty(&core->outbox) && melyint_self == core)
		melyint_outbox_deliver(core, core);
}

/* An event on its way into its handler. */
struct call {
	void (*fn)(void *arg);
	void *arg;
};

/* The call of an event that is to be measured, A of NOTE(measure), or whose delay is wanted, C of
 * NOTE(tally). Without a function: it has been cancelled. */
static MELY_NOINLINE struct call
call_measured(struct melyint_core *core, struct mely_event *ev, bool sampled)
{
	/* All of it before the event is given back: the handler may go with it. */
	struct mely_handler *handler = ev->_handler;
	struct call call = {handler->fn, ev->_arg};
	unsigned flags = ev->_flags, weighing = MELY_LOAD(&core->rt->switches.weighing, relaxed);
	uint64_t stamp_ticks = ev->_stamp;

	if (sampled || ((flags & MELYINT_EV_SAMPLE) &&
	    melyint_weight_unknown(core->rt, weighing, handler))) {
		melyint_sample_begin(core, handler, ev->_arg);
		call = (struct call){melyint_sample_run, core};
	}
	if (!melyint_event_enter(core, ev, flags)) {
		call.fn = NULL;
	} else if (flags & MELYINT_EV_STAMPED) {
		melyint_tally_delay(&core->tallies, stamp_ticks);
		melyint_age_saw(core, stamp_ticks);
	}
	if (flags & MELYINT_EV_POOLED)
		melyint_pool_put(&core->pool, ev);
	return call;
}

/* The next call of the batch, of which ran have run; false: it has none left. Events that have been
 * cancelled are dropped on the way. */
MELY_INLINE bool
next_call(struct melyint_core *core, struct call *call, uint32_t ran, bool sampled)
{
	for (;;) {
		struct mely_event *ev = next_event(core);
		unsigned flags;

		if (ev == NULL)
			return false;
		MELY_PREFETCH(ev->_next);
		/* A of NOTE(tally). relaxed: given once */
		if (MELY_UNLIKELY(MELY_LOAD(&ev->_handler->_number, relaxed) !=
		    core->tallies.number))
			melyint_tally_change(&core->tallies, ev->_handler, ran);
		melyint_check_next(ev);
		call->fn = ev->_handler->fn;
		call->arg = ev->_arg;
		flags = ev->_flags;
		if (MELY_LIKELY(flags == MELYINT_EV_POOLED && !sampled)) {
			melyint_pool_put(&core->pool, ev);
			return true;
		}
		if (MELY_UNLIKELY(sampled || (flags & (MELYINT_EV_SAMPLE | MELYINT_EV_STAMPED)))) {
			*call = call_measured(core, ev, sampled);
			if (call->fn == NULL)
				continue;
			return true;
		}
		if (!melyint_event_enter(core, ev, flags))
			continue;
		if (flags & MELYINT_EV_POOLED)
			melyint_pool_put(&core->pool, ev);
		return true;
	}
}

enum mode {
	PLAIN,
	TIMED,   /* the batch has a limit in time */
	SAMPLED  /* the same; and the first few events are measured: A of NOTE(measure) */
};

/* Run events until limit of them have run; ran have already. */
MELY_INLINE uint32_t
run(struct melyint_core *core, enum mode mode, uint32_t ran, uint32_t limit)
{
	const struct mely_runtime *rt = core->rt;
	struct call call;

	while (ran < limit &&
	    next_call(core, &call, ran, mode == SAMPLED && ran < MELYINT_SAMPLED_MAX)) {
		ran++;
		MELY_STORE(&core->tallies.begun, ran, relaxed); /* for who looks whether we go on */
		melyint_check_call(call.fn, call.arg);
		if (mode != PLAIN && rt->limits.batch_ticks != 0 &&
		    melyint_ticks() - MELY_LOAD(&core->pace.turn_ticks, relaxed) /* ours */ >=
		    rt->limits.batch_ticks)
			break;
	}
	return ran;
}

static MELY_NOINLINE uint32_t
run_timed(struct melyint_core *core)
{
	return run(core, TIMED, 0, melyint_batch_events(core));
}

/* The next call of a batch that is observed. */
MELY_INLINE bool
next_observed(struct melyint_core *core, struct call *call, struct melyint_observed *observed,
    uint32_t ran, bool sampled)
{
	struct mely_event *ev;

	while ((ev = next_event(core)) != NULL) {
		/* Both before the event is given back: with its next post it has another time, and
		 * its handler may go. */
		uint64_t now = melyint_observe_now(observed);
		unsigned flags = ev->_flags;

		/* A of NOTE(tally). relaxed: given once */
		if (MELY_LOAD(&ev->_handler->_number, relaxed) != core->tallies.number)
			melyint_tally_change(&core->tallies, ev->_handler, ran);
		melyint_check_next(ev);
		*call = (struct call){ev->_handler->fn, ev->_arg};
		if (MELY_UNLIKELY(sampled || (flags & (MELYINT_EV_SAMPLE | MELYINT_EV_STAMPED))))
			*call = call_measured(core, ev, sampled);
		else if (flags != MELYINT_EV_POOLED && !melyint_event_enter(core, ev, flags))
			call->fn = NULL;
		else if (flags & MELYINT_EV_POOLED)
			melyint_pool_put(&core->pool, ev);
		if (call->fn == NULL)
			continue;
		melyint_observe_begin(core, observed, (uint64_t)(uintptr_t)ev,
		    core->tallies.number, now);
		return true;
	}
	return false;
}

/* NOTE(observe). Which batches are measured, and how, stays as it would be. */
static MELY_NOINLINE uint32_t
run_observed(struct melyint_core *core)
{
	const struct mely_runtime *rt = core->rt;
	bool sampled = core->sampling.away ?
	    core->sampling.away_measured : --core->sampling.plain_in == 0;
	struct melyint_observed observed;
	struct call call;
	uint32_t ran = 0;

	if (core->sampling.plain_in == 0)
		core->sampling.plain_in = MELYINT_SAMPLE_EVERY;
	melyint_observe_batch(core, &observed);
	while (ran < melyint_batch_events(core) &&
	    next_observed(core, &call, &observed, ran, sampled && ran < MELYINT_SAMPLED_MAX)) {
		ran++;
		MELY_STORE(&core->tallies.begun, ran, relaxed); /* as in run */
		melyint_check_call(call.fn, call.arg);
		melyint_observe_end(core, &observed);
		if (rt->limits.batch_ticks != 0 && melyint_ticks() -
		    MELY_LOAD(&core->pace.turn_ticks, relaxed) /* ours */ >= rt->limits.batch_ticks)
			break;
	}
	melyint_observe_batch_end(core, &observed);
	if (core->sampling.away)
		MELY_COUNT(&core->counters.stolen_events, ran);
	else if (sampled && core->batch.own != NULL)
		core->batch.own->_flags |= MELYINT_EV_STAMPED; /* in put_back */
	core->sampling.away = false;
	core->sampling.batches_left = core->sampling.observe_every;
	return ran;
}

/* A and C of NOTE(measure), C of NOTE(tally). */
static MELY_NOINLINE uint32_t
run_sampled(struct melyint_core *core)
{
	uint32_t limit = melyint_batch_events(core), ran;

	if (MELY_UNLIKELY(core->sampling.observe != 0))
		return run_observed(core);
	if (!core->sampling.away) {
		core->sampling.batches_left = MELYINT_SAMPLE_EVERY;
		ran = run(core, SAMPLED, 0, limit);
		if (core->batch.own != NULL)
			core->batch.own->_flags |= MELYINT_EV_STAMPED; /* in put_back */
		return ran;
	}
	core->sampling.batches_left = core->sampling.batches_rest;
	ran = run(core, core->sampling.away_measured ? SAMPLED : TIMED, 0, limit);
	core->sampling.away = false;
	MELY_COUNT(&core->counters.stolen_events, ran);
	return ran;
}

void
melyint_batch_run(struct melyint_core *core)
{
	uint32_t ran;

	if (MELY_UNLIKELY(--core->sampling.batches_left == 0))
		ran = run_sampled(core);
	else if (MELY_UNLIKELY(core->rt->limits.batch_ticks != 0))
		ran = run_timed(core);
	else
		ran = run(core, PLAIN, 0, melyint_batch_events(core));
	core->batch.ran = ran;
	if (MELY_UNLIKELY(core->outbox.remote != 0))
		end_row(core);
	melyint_tally_flush(&core->tallies, ran);
	MELY_COUNT(&core->counters.batches, 1);
}
