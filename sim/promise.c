/* SPDX-License-Identifier: MIT */
/*
 * promise.c: what the calls promise over a stretch of time, unlike the invariants of the moment in
 * invariant.c: a pinned color comes home, a timer is not forgotten, a drain leaves nothing that a
 * handler has posted, and a core that watches is one that is asleep and looks up. Each is checked
 * only where it is certain, so what two calls at once have made of it is left out.
 */
#include "world.h"

#include "core.h"
#include "shim.h"

enum {
	MS = 1000000000,
	LATE_MS = 5      /* a timer behind which all cores of its runtime sleep */
};

/* ---- pins ------------------------------------------------------------------------------------ */

uint32_t
promise_pin(struct world_color *wc)
{
	wc->pinned = 0;
	wc->pins++;
	wc->pin_calls++;
	return wc->pins == 1 ? wc->pin_calls : 0;
}

void
promise_pinned(struct world_color *wc, uint32_t call, int pinned)
{
	wc->pins--;
	if (wc->pins == 0 && call == wc->pin_calls) {
		wc->pinned = pinned;
		wc->since_pin = 0;
	}
}

/* What was taken as a batch runs where it was taken, no more. */
void
promise_begin(int color)
{
#ifndef MELYINT_LIBASYNC
	struct world_color *wc = &world.color[color];
	const struct runtime_plan *plan =
	    &world.program->runtime[world.program->color[color].runtime];

	if (wc->pinned == 0 || ++wc->since_pin <= (uint32_t)plan->batch_events)
		return;
	if (mely_current_core() + 1 != wc->pinned)
		sim_fail("color %d is pinned to core %d and runs on core %d", color,
		    wc->pinned - 1, mely_current_core());
#else
	(void)color;
#endif
}

/* ---- stops ----------------------------------------------------------------------------------- */

void
promise_post(int by, const struct world_color *wc, int step)
{
	struct world_runtime *wr =
	    &world.runtime[world.program->color[wc - world.color].runtime];

	if (by >= 0 && world.color[by].rt == wc->rt)
		return;
	wr->outside += (uint32_t)step;
	wr->outside_begun += step > 0;
}

/* A post from elsewhere that is admitted just before a drain may come when that is over already. It
 * is held then, or one more handler runs, whose posts are held. */
void
promise_stop(struct world_runtime *wr, enum mely_stop_mode mode)
{
	uint32_t begun = wr->outside_begun;

	wr->stopping = true;
	wr->lenient |= mode == MELY_STOP_DISCARD || wr->outside != 0;
	if (mely_stop(wr->rt, mode) != 0 || wr->outside_begun != begun)
		wr->lenient = true;
}

void
promise_handed_back(const struct world_runtime *wr, bool inside)
{
	if (inside && !wr->lenient)
		sim_fail("a drain has handed back what a handler had posted");
}

/* ---- when all threads wait ------------------------------------------------------------------- */

static void
check_timers(int runtime, uint64_t until_ps)
{
	uint64_t now_ps = sim_now_ps();
	int i;

	for (i = 0; i < world.program->timers; i++) {
		const struct world_timer *wt = &world.timer[i];
		uint64_t late_ps = wt->late_ps > now_ps ? wt->late_ps : now_ps;

		if (wt->started && !wt->busy && wt->awaited &&
		    world.program->color[wt->color].runtime == runtime &&
		    until_ps > late_ps && until_ps - late_ps > LATE_MS * (uint64_t)MS)
			sim_fail("timer %d is forgotten", i);
	}
}

static void
check_sleep(int runtime, const struct mely_runtime *rt, uint64_t until_ps)
{
	int i, watching = 0, busy = 0;

	for (i = 0; i < rt->cores_count; i++) {
		watching += rt->cores[i].sleep == MELYINT_WATCHING;
		busy += rt->cores[i].busy;
	}
	/* Who is between the two waits for a lock, and not for long. */
	if (rt->watchers != watching && until_ps - sim_now_ps() > MS)
		sim_fail("%d cores watch, the count says %d", watching, rt->watchers);
	if (busy == 0)
		check_timers(runtime, until_ps);
}

void
promise_still(uint64_t until_ps)
{
	int i;

	for (i = 0; i < world.program->runtimes; i++) {
		const struct world_runtime *wr = &world.runtime[i];

		if (wr->rt != NULL && wr->running && !wr->stopping &&
		    !world.program->runtime[i].once && wr->rt->phase == MELYINT_RUNNING)
			check_sleep(i, wr->rt, until_ps);
	}
}
