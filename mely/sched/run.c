/* SPDX-License-Identifier: MIT */
/*
 * run.c: running a batch: NOTE(batch) in turn.c. Owner's thread only.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "core/core.h"
#include "core/hooks.h"
#include "sched/end.h"
#include "sched/run.h"

/* How a batch is run, in bits: see run. */
enum {
	PLAIN = 0,
	TIMED = 1,   /* the batch may have a limit in time */
	SAMPLED = 2, /* its first MELYINT_SAMPLED_MAX events are measured: A of NOTE(measure) */
	OBSERVED = 4 /* its events are shown to the observers: B of NOTE(observe) */
};

/* ---- the next event -------------------------------------------------------------------------- */

/* Pop one of heads or tails, whose weight is taken off the color when the batch ends. */
MELY_INLINE struct mely_event *
pop_weighed(struct melyint_core *core, struct mely_event **list)
{
	struct mely_event *ev;

	MELY_DEBUG_ASSERT(list == &core->batch.heads || list == &core->batch.tails);
	ev = melyint_evq_pop(list);
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
	/* acquire: pairs with the release in post.c:melyint_append_locked */
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

/* A call of a handler. */
struct call {
	void (*fn)(void *arg);
	void *arg;
};

/* The call of an event that is measured (A of NOTE(measure)), or whose delay is recorded (C of
 * NOTE(tally)). fn is NULL when the event was cancelled. */
static MELY_NOINLINE struct call
call_measured(struct melyint_core *core, struct mely_event *ev, bool sampled)
{
	/* Read everything before the event is given back: its handler may end then. */
	struct mely_handler *handler = ev->_handler;
	struct call call = {handler->fn, ev->_arg};
	unsigned flags = ev->_flags, weighing = MELY_LOAD(&core->rt->switches.weighing, relaxed);
	uint64_t stamp_ticks = ev->_stamp;

	MELY_DEBUG_ASSERT(sampled || (flags & (MELYINT_EV_SAMPLE | MELYINT_EV_STAMPED)));
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

/* The next call of the batch, after `ran` of its events; false: the batch has no more. Cancelled
 * events are dropped on the way. */
MELY_INLINE bool
next_call(struct melyint_core *core, struct call *call, unsigned how, uint32_t ran,
    struct melyint_observed *observed)
{
	bool sampled = (how & SAMPLED) && ran < MELYINT_SAMPLED_MAX;

	for (;;) {
		struct mely_event *ev = next_event(core);
		unsigned flags;

		if (ev == NULL)
			return false;
		MELY_PREFETCH(ev->_next);
		if (how & OBSERVED)
			melyint_observe_next(observed, ev);
		/* A of NOTE(tally). relaxed: a handler gets its number once */
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

/* ---- the run loop ---------------------------------------------------------------------------- */

/* Run up to limit events. Each caller inlines the loop with its own `how`, so that plain batches do
 * not pay for the other kinds. Returns the events run. */
MELY_INLINE uint32_t
run(struct melyint_core *core, unsigned how, uint32_t limit, struct melyint_observed *observed)
{
	const struct mely_runtime *rt = core->rt;
	struct call call;
	uint32_t ran = 0;

	while (ran < limit && next_call(core, &call, how, ran, observed)) {
		ran++;
		/* relaxed: for a thread that checks whether this core goes on */
		MELY_STORE(&core->tallies.begun, ran, relaxed);
		if (how & OBSERVED)
			melyint_observe_begin(core, observed, core->tallies.number);
		melyint_run_handler(call.fn, call.arg);
		if (how & OBSERVED)
			melyint_observe_end(core, observed);
		if ((how & TIMED) && rt->limits.batch_ticks != 0 &&
		    melyint_ticks() - MELY_LOAD(&core->pace.turn_ticks, relaxed) /* ours */ >=
		    rt->limits.batch_ticks)
			break;
	}
	return ran;
}

static MELY_NOINLINE uint32_t
run_timed(struct melyint_core *core, uint32_t limit)
{
	return run(core, TIMED, limit, NULL);
}

static MELY_NOINLINE uint32_t
run_observed(struct melyint_core *core, unsigned how, uint32_t limit)
{
	struct melyint_observed observed;
	uint32_t ran;

	MELY_ASSERT(core->sampling.observe != 0);
	melyint_observe_batch(core, &observed);
	/* B of NOTE(observe): the observers see its posts to its own color. */
	MELY_DEBUG_ASSERT(core->batch.direct == NULL && core->batch.color_id == MELYINT_NO_ID);
	ran = run(core, OBSERVED | how, limit, &observed);
	melyint_observe_batch_end(core, &observed);
	return ran;
}

/* ---- which batches are sampled and observed -------------------------------------------------- */

/* Between batches: a countdown that begins at 0 would go on for 2^32 batches. */
static void
assert_counts_down(const struct melyint_sampling *s)
{
	MELY_DEBUG_ASSERT(s->batches_left > 0 && (s->observe == 0 || s->plain_left > 0));
}

void
melyint_sampling_soon(struct melyint_core *core)
{
	struct melyint_sampling *s = &core->sampling;

	if (MELY_UNLIKELY(s->observe != 0))
		s->plain_left = 1;
	else
		s->batches_left = 1;
}

void
melyint_sampling_observe(struct melyint_core *core, bool on)
{
	struct melyint_sampling *s = &core->sampling;

	/* A batch right after a steal is due anyway; plain_left already holds the countdown. */
	if (s->away)
		return;
	if (on) {
		s->plain_left = s->batches_left;
		s->batches_left = 1;
	} else {
		s->batches_left = s->plain_left;
	}
	assert_counts_down(s);
}

/* Start the next countdown. True: the batch at hand is sampled. A and C of NOTE(measure). */
static bool
count_again(struct melyint_sampling *s)
{
	bool sampled = s->away ? s->away_measured : s->observe == 0 || --s->plain_left == 0;

	MELY_DEBUG_ASSERT(s->batches_left == 0);
	if (s->observe != 0) {
		/* Observers do not change which batches are sampled. */
		s->batches_left = s->observe_every;
		if (s->plain_left == 0)
			s->plain_left = MELYINT_SAMPLE_EVERY;
	} else {
		s->batches_left = s->away ? s->plain_left : MELYINT_SAMPLE_EVERY;
	}
	assert_counts_down(s);
	return sampled;
}

/* Run a batch that is sampled, observed, or the first of its color after a steal. */
static MELY_NOINLINE uint32_t
run_special(struct melyint_core *core, uint32_t limit)
{
	struct melyint_sampling *s = &core->sampling;
	unsigned how = count_again(s) ? SAMPLED | TIMED : TIMED;
	uint32_t ran;

	if (MELY_UNLIKELY(s->observe != 0))
		ran = run_observed(core, how, limit);
	else
		ran = run(core, how, limit, NULL);
	if (s->away)
		MELY_COUNT(&core->counters.stolen_events, ran);
	else if ((how & SAMPLED) && core->batch.own != NULL)
		core->batch.own->_flags |= MELYINT_EV_STAMPED; /* put_back stamps it */
	s->away = false;
	return ran;
}

/* ---- a batch --------------------------------------------------------------------------------- */

void
melyint_batch_run(struct melyint_core *core)
{
	uint32_t limit = melyint_batch_events(core), ran;

	MELY_DEBUG_ASSERT(core->batch.color != NULL && core->locked.has_batch);
	/* No other core can run or steal the color now. */
	MELY_DEBUG_ASSERT(MELY_PEEK(&core->batch.color->_owner) == core &&
	    MELY_PEEK(&core->batch.color->_state) == MELYINT_COLOR_RUNNING);
	assert_counts_down(&core->sampling);
	if (MELY_UNLIKELY(--core->sampling.batches_left == 0))
		ran = run_special(core, limit);
	else if (MELY_UNLIKELY(core->rt->limits.batch_ticks != 0))
		ran = run_timed(core, limit);
	else
		ran = run(core, PLAIN, limit, NULL);
	MELY_DEBUG_ASSERT(ran <= limit);
	core->batch.ran = ran;
	if (MELY_UNLIKELY(core->outbox.remote != 0))
		melyint_outbox_end_row(core);
	melyint_tally_flush(&core->tallies, ran);
	MELY_COUNT(&core->counters.batches, 1);
}
