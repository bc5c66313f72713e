/* SPDX-License-Identifier: MIT */
/*
 * promise.c: checks what the calls promise over time (invariant.c checks what holds at one moment):
 * a pinned color returns to its core, a timer expires, a drain leaves no event that a handler
 * posted, and a sentry is a core that sleeps and wakes in time. A promise is checked only where it
 * is certain: not where two calls overlap.
 */
#include "world.h"

#include "core/core.h"
#include "io/poller.h"
#include "io/state.h"
#include "shim.h"
#include "io/watch.h"

enum {
	MS = 1000000000,
	LATE_MS = 2,     /* a timer may be late by this while all cores of its runtime sleep */
	STUCK_MS_MAX = 5,
	SLEEPS_MAX = 100, /* times that all cores of an idle runtime fall asleep */
	LOOKS_MAX = 40   /* 1 ms apart: late timer of a stuck core, while another core sleeps */
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

/* A pinned color may still finish a batch on its old core, but nothing after that. */
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

/* A stop ends the watchers before it returns, and before the phase says so. */
void
promise_watcher(int color)
{
	if (world.color[color].rt->phase >= MELYINT_DRAINING)
		sim_fail("a watcher of color %d runs although the runtime is stopping", color);
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

/* A post from elsewhere that is admitted just before a drain may arrive after the drain ends. Then
 * the event is held, or one more handler runs and its posts are held. */
void
promise_stop(struct world_runtime *wr, enum mely_stop_mode mode)
{
	uint32_t begun = wr->outside_begun, runs = wr->runs, drain_ns =
	    world.program->runtime[wr - world.runtime].drain_ns;
	int error;

	wr->stopping = true;
	wr->drain_to_ps = 0; /* that of the last run */
	if (drain_ns != 0 && wr->drain_from_ps == 0)
		wr->drain_from_ps = sim_now_ps() + (drain_ns - 1) * 1000ull;
	wr->lenient |= mode == MELY_STOP_DISCARD || wr->outside != 0;
	wr->stops++;
	error = mely_stop(wr->rt, mode);
	wr->stops--;
	if (error != 0 || wr->outside_begun != begun || wr->runs != runs)
		wr->lenient = true;
	else if (drain_ns != 0)
		wr->drain_to_ps = sim_now_ps() + drain_ns * 1000ull;
}

void
promise_handed_back(const struct world_runtime *wr, bool inside)
{
	if (inside && !wr->lenient && (wr->drain_from_ps == 0 || sim_now_ps() < wr->drain_from_ps))
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

/* Read the table directly: the library's own lookup is an interleaving point. */
static const struct melyint_watch *
record_of(const struct mely_runtime *rt, mely_watch id)
{
	const struct melyint_stable *records = &rt->io->slots.mem.records;
	const char *first = records->chunks[0];

	if ((uint32_t)id >= MELYINT_STABLE_FIRST || first == NULL)
		return NULL;
	return (const void *)(first + (uint32_t)id * records->record_size);
}

/* An idle core must run a timer that is due on a core that a handler occupies. */
static void
check_stuck(int runtime, const struct mely_runtime *rt)
{
	uint64_t now_ps = sim_now_ps();
	int i;

	for (i = 0; i < world.program->timers; i++) {
		struct world_timer *wt = &world.timer[i];
		const struct melyint_watch *w;

		if (!wt->started || wt->busy || !wt->awaited || wt->id == 0 ||
		    world.program->color[wt->color].runtime != runtime || wt->late_ps > now_ps) {
			wt->looks = 0;
			continue;
		}
		if (now_ps - wt->looked_ps < MS / 2)
			continue;
		wt->looked_ps = now_ps;
		w = record_of(rt, wt->id);
		if (w == NULL || w->stage != MELYINT_STAGE_REST || !w->u.timer.armed)
			wt->looks = 0;
		else if (++wt->looks > LOOKS_MAX)
			sim_fail("timer %d waits for core %d, which a handler keeps", i,
			    w->u.timer.core);
	}
}

/* Cores that sleep while no handler runs and no timer is armed need not wake. What counts is how
 * often all were asleep again: while one of them was awake, but its thread did not run, the others
 * looked after it. */
static void
check_rest(struct world_runtime *wr)
{
	const struct mely_runtime *rt = wr->rt;
	uint64_t sleeps = 0;
	bool armed = false;
	int i;

	for (i = 0; i < rt->cores_count; i++) {
		sleeps += rt->cores[i].counters.sleeps;
		armed |= rt->cores[i].fixed.poller->armed != 0;
	}
	if (armed || wr->idle_moment != world.moments || wr->idle_sleeps == 0) {
		wr->idle_moment = world.moments;
		wr->idle_sleeps = sleeps;
		wr->idle_wakes = 0;
	} else if (sleeps != wr->idle_sleeps) {
		wr->idle_sleeps = sleeps;
		if (++wr->idle_wakes <= SLEEPS_MAX)
			return;
		sim_fail("the cores of an idle runtime wake again and again");
	}
}

static void
check_sleep(int runtime, const struct mely_runtime *rt, uint64_t until_ps)
{
	int i, watching = 0, busy = 0;

	for (i = 0; i < rt->cores_count; i++) {
		watching += rt->cores[i].locked.sleep == MELYINT_SENTRY;
		busy += rt->cores[i].hint.busy;
	}
	/* A core between the two steps waits for a lock, only briefly. */
	if (rt->idle.sentries != watching && until_ps - sim_now_ps() > MS)
		sim_fail("%d cores watch, the count says %d", watching, rt->idle.sentries);
	if (busy != 0)
		world.runtime[runtime].idle_sleeps = 0;
	if (busy == 0) {
		check_timers(runtime, until_ps);
		check_rest(&world.runtime[runtime]);
	} else if (busy < rt->cores_count && rt->config.stuck_ms != 0 &&
	    rt->config.stuck_ms <= STUCK_MS_MAX) {
		check_stuck(runtime, rt);
	}
}

/* A core without work looks at the deadline of a drain every other millisecond. One that has looked
 * just before may be slow to fall asleep. */
static void
check_deadline(struct world_runtime *wr)
{
	const struct mely_runtime *rt = wr->rt;
	int i;

	if (wr->drain_to_ps == 0 || sim_now_ps() < wr->drain_to_ps) {
		wr->drain_late_ps = 0;
		return;
	}
	if (wr->drain_late_ps == 0)
		wr->drain_late_ps = sim_now_ps();
	if (sim_now_ps() < wr->drain_late_ps + LATE_MS * 3ull * MS)
		return;
	for (i = 0; i < rt->cores_count; i++) {
		if (!rt->cores[i].hint.busy)
			sim_fail("a drain goes on %d ms after its deadline, and core %d sleeps",
			    3 * LATE_MS, i);
	}
}

void
promise_still(uint64_t until_ps)
{
	int i;

	for (i = 0; i < world.program->runtimes; i++) {
		struct world_runtime *wr = &world.runtime[i];

		if (wr->rt != NULL && wr->rt->phase == MELYINT_DRAINING &&
		    !world.program->runtime[i].once)
			check_deadline(wr);
		if (wr->rt != NULL && wr->running && !wr->stopping &&
		    !world.program->runtime[i].once && wr->rt->phase == MELYINT_RUNNING)
			check_sleep(i, wr->rt, until_ps);
	}
}
