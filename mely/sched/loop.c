/* SPDX-License-Identifier: MIT */
/*
 * loop.c: the main loop of a core. It takes one turn at a time. It polls once a round, that is,
 * after all that waited at the last poll had a turn, but not more often than every look_ticks and
 * not less often than every look_max_ticks. Every tick_ticks it enters libev and balances. With
 * nothing to run, it polls, then steals, then sleeps.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "core/hooks.h"
#include "sched/drain.h"
#include "sched/lend.h"
#include "sched/loop.h"
#include "sched/park.h"
#include "sched/run.h"
#include "sched/steal.h"
#include "sched/stuck.h"
#include "sched/victim.h"
#include "sched/wait.h"
#include "sched/waiting.h"
#include "sched/wake.h"

enum { AVERAGE_SHIFT = 3 };

/* Once a millisecond. */
static void
tick(struct melyint_core *core, uint64_t now)
{
	/* It polls, posts and steals. */
	MELY_DEBUG_ASSERT(melyint_self == core && !melyint_lock_held(&core->lock));
	core->pace.ticked_ticks = now;
	melyint_observe_look(core);
	/* B and C of NOTE(tally) */
	melyint_sampling_soon(core);
	core->tallies.stamp_in = 1;
	/* relaxed, both: a request that this core may see a little later; ours */
	if (MELY_UNLIKELY(MELY_LOAD(&core->rt->walks.begun, relaxed) !=
	    MELY_LOAD(&core->tallies.answer.to, relaxed)))
		melyint_waiting_answer(core);
	melyint_poller_tick(core);
	melyint_victim_price(core);
	melyint_stuck_look(core, now, false);
	melyint_age_count(core);
	melyint_balance(core, now);
	melyint_lend_look(core, now);
	if (now - core->pace.decayed_ticks >= core->rt->limits.decay_ticks) {
		core->pace.decayed_ticks = now;
		melyint_depot_decay(&core->rt->depot);
	}
	/* acquire: pairs with the release stores of the life cycle */
	if (MELY_LOAD(&core->rt->phase, acquire) == MELYINT_DRAINING)
		melyint_drain_look(core->rt);
}

static int
look(struct melyint_core *core, uint64_t now)
{
	unsigned doing = melyint_doing(&core->tallies, MELY_STATS_POLLING, now);
	int found;

	MELY_DEBUG_ASSERT(melyint_self == core && !melyint_lock_held(&core->lock));
	if (MELYINT_OBSERVED(poll))
		melyint_observe_poll(core);
	found = melyint_poller_look(core);
	if (MELYINT_OBSERVED(poll))
		melyint_observe_polled(core, core, found);
	(void)melyint_doing(&core->tallies, doing, melyint_ticks());
	core->pace.looked_ticks = now;
	/* ours; a hint is enough */
	core->pace.round_left = MELY_LOAD(&core->hint.waiting, relaxed);
	return found;
}

static MELY_NOINLINE void
look_around(struct melyint_core *core, uint64_t now)
{
	(void)look(core, now);
	if (now - core->pace.ticked_ticks >= core->rt->limits.tick_ticks)
		tick(core, now);
}

/* Keep the running average of a batch's time, by which others weigh the price of a wake-up. */
MELY_INLINE void
account(struct melyint_core *core, uint64_t ticks)
{
	/* relaxed: written by this thread, others read it as a hint */
	uint32_t average = MELY_LOAD(&core->hint.batch_ns, relaxed);
	uint64_t ns = melyint_ticks_to_ns(ticks);
	uint32_t sample = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;

	average += (sample >> AVERAGE_SHIFT) - (average >> AVERAGE_SHIFT);
	MELY_STORE(&core->hint.batch_ns, average, relaxed);
	core->pace.used_ns = sample;
}

MELY_INLINE void
run_batch(struct melyint_core *core)
{
	uint64_t now;

	MELY_DEBUG_ASSERT(core->batch.color != NULL);
	/* Other colors wait while this batch runs, possibly for long: C of NOTE(park). relaxed: a
	 * hint */
	if (MELY_UNLIKELY(MELY_LOAD(&core->rt->idle.domains, relaxed) > 0)) {
		if (core->others.owes_sentry)
			melyint_hand_over_sentry(core);
		if (MELY_LOAD(&core->hint.stealable, relaxed) != 0)
			melyint_offer_behind(core, core);
	}
	melyint_run_batch(core, melyint_batch_run);
	/* A handler that forked must not return in the child, which has no runtime. */
	if (MELY_UNLIKELY(melyint_self != core))
		melyint_bug(__FILE__, __LINE__, "a handler returned in the child of a fork");
	now = melyint_ticks();
	/* relaxed, both: ours; others read when the batch began */
	account(core, now - MELY_LOAD(&core->pace.turn_ticks, relaxed));
	MELY_STORE(&core->pace.turn_ticks, now, relaxed);
	if (MELY_UNLIKELY(--core->pace.round_left < 0 &&
	    now - core->pace.looked_ticks >= core->rt->limits.look_ticks) ||
	    MELY_UNLIKELY(now - core->pace.looked_ticks >= core->rt->limits.look_max_ticks))
		look_around(core, now);
}

/* Get work from elsewhere: what others hold back for us, what our own poller has, or a color of a
 * core that has too much. The core polls only before a steal, and not more often than a busy one
 * would; without a steal it sleeps next, which polls. */
static bool
find_work(struct melyint_core *core)
{
	uint64_t now;

	MELY_DEBUG_ASSERT(core->batch.color == NULL && core->batch.own == NULL);
	if (melyint_outbox_collect(core))
		return true;
	if (!melyint_steal_glance(core))
		return false;
	now = melyint_ticks();
	if (now - core->pace.looked_ticks >= core->rt->limits.look_ticks && look(core, now) > 0)
		return true;
	return melyint_steal_glanced(core);
}

static MELY_NOINLINE void
idle(struct melyint_core *core)
{
	/* relaxed, here and below: ours; others read when the batch began */
	uint64_t now = MELY_LOAD(&core->pace.turn_ticks, relaxed);

	(void)melyint_doing(&core->tallies, MELY_STATS_STEALING, now);
	if (!find_work(core)) {
		/* acquire: pairs with the release stores of the life cycle */
		if (MELY_LOAD(&core->rt->phase, acquire) == MELYINT_DRAINING)
			melyint_drain_look(core->rt);
		melyint_park(core);
		core->pace.looked_ticks = melyint_ticks();
	}
	now = melyint_ticks();
	(void)melyint_doing(&core->tallies, MELY_STATS_BUSY, now);
	MELY_STORE(&core->pace.turn_ticks, now, relaxed);
	/* ours; a hint is enough */
	core->pace.round_left = MELY_LOAD(&core->hint.waiting, relaxed);
	if (now - core->pace.ticked_ticks >= core->rt->limits.tick_ticks)
		tick(core, now);
}

/* The thread begins to run batches. Returns the time. */
static uint64_t
arrive(struct melyint_core *core)
{
	uint64_t now = melyint_ticks();

	MELY_ASSERT(melyint_self == core && core->batch.color == NULL);
	MELY_ASSERT(core->locked.attended); /* else an exit would not wait for the thread */
	(void)melyint_doing(&core->tallies, MELY_STATS_BUSY, now);
	MELY_STORE(&core->pace.turn_ticks, now, relaxed); /* as in run_batch */
	return now;
}

/* The thread stops running batches. */
static void
go(struct melyint_core *core)
{
	melyint_turn_end(core);
	/* What it kept would wait for the next run, where no other core sees it. */
	MELY_ASSERT(core->batch.color == NULL && melyint_outbox_length(&core->outbox) == 0);
	(void)melyint_doing(&core->tallies, MELY_STATS_AWAY, melyint_ticks());
}

void
melyint_core_loop(struct melyint_core *core)
{
	struct mely_runtime *rt = core->rt;

	(void)arrive(core);
	/* acquire: pairs with the release stores of the life cycle */
	while (MELY_LOAD(&rt->phase, acquire) < MELYINT_STOPPED) {
		if (!melyint_turn(core)) {
			idle(core);
			if (core->batch.color == NULL)
				continue;
		}
		run_batch(core);
	}
	go(core);
}

/* Run what waits now; the next pass runs what comes meanwhile. Returns the events run. */
static uint64_t
run_waiting(struct melyint_core *core)
{
	uint64_t ran = 0;
	uint32_t n = MELY_LOAD(&core->hint.waiting, relaxed); /* ours */

	if (core->batch.color != NULL) { /* stolen */
		run_batch(core);
		ran = core->batch.ran;
	}
	for (; n > 0 && melyint_turn(core); n--) {
		run_batch(core);
		ran += core->batch.ran;
	}
	melyint_turn_end(core);
	return ran;
}

/* A pass between two polls of the program's own loop: NOTE(outside) in park.c. */
static uint64_t
pass_outside(struct melyint_core *core, uint64_t now)
{
	uint64_t ran, pass_ns = 0;

	MELY_ASSERT(core->index == 0);
	melyint_come_inside(core);
	melyint_due_enter(core);
	core->pace.looked_ticks = now;
	if (now - core->pace.ticked_ticks >= core->rt->limits.tick_ticks)
		tick(core, now);
	ran = run_waiting(core);
	if (MELY_LOAD(&core->hint.waiting, relaxed) == 0 && find_work(core))
		ran += run_waiting(core);
	/* acquire: pairs with the release stores of the life cycle */
	if (MELY_LOAD(&core->rt->phase, acquire) == MELYINT_DRAINING)
		melyint_drain_look(core->rt);
	if (!melyint_go_outside(core, &pass_ns) && core->batch.color != NULL)
		ran += run_waiting(core);
	MELY_ASSERT(core->batch.color == NULL && core->pace.outside);
	melyint_due_leave(core, pass_ns);
	(void)melyint_doing(&core->tallies, MELY_STATS_AWAY, melyint_ticks());
	return ran;
}

int
melyint_core_pass(struct melyint_core *core)
{
	uint64_t now = arrive(core), ran;

	/* relaxed: this thread sets it */
	if (MELY_LOAD(&core->rt->flow.embedded, relaxed)) {
		ran = pass_outside(core, now);
	} else {
		look_around(core, now);
		melyint_poller_tick(core);
		ran = run_waiting(core);
		/* acquire: pairs with the release stores of the life cycle */
		if (MELY_LOAD(&core->rt->phase, acquire) == MELYINT_DRAINING)
			melyint_drain_look(core->rt);
		go(core);
	}
	return ran < INT32_MAX ? (int)ran : INT32_MAX;
}
