/* SPDX-License-Identifier: MIT */
/*
 * cycle.c: the life cycle of a runtime: its threads start, cores run, a stop parks them.
 *
 * NOTE(stop)
 *   A. mely_stop stops all watchers and timers (on a drain, it posts the events of mely_drain_watch
 *      instead), sets the phase (release) and wakes every core. Each core reads the phase (acquire)
 *      between two turns. mely_stop waits for nothing.
 *   B. DRAINING: the cores go on; posts from outside are refused. A core with nothing to do, and
 *      every core once a millisecond, checks whether nothing is left anywhere (sched/drain.c) or
 *      the deadline has passed, and sets STOPPED.
 *   C. STOPPED: each core puts its batch back, and its thread ends. The thread in mely_run, or in
 *      the next pass of mely_run_once_for, joins them. From then on it alone touches the queues,
 *      and hands back what is left.
 *   D. The phase is IDLE again: posts are held in the queues until the next run.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "look/watchdog/age.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/threadmask.h"
#include "core/handlers.h"
#include "core/hooks.h"
#include "sched/loop.h"
#include "core/runtimes.h"
#include "color/misuse.h"
#include "life/life.h"
#include "io/state.h"
#include "look/watchdog/monitor.h"
#include "look/trace/observe.h"
#include "sched/park.h"
#include "look/watchdog/stall.h"
#include "sched/stuck.h"
#include "sched/wake.h"

MELY_TLS struct melyint_core *melyint_self;

/* ---- threads --------------------------------------------------------------------------------- */

/* This thread runs core from now on; NULL: none. */
static void
become(struct melyint_core *core)
{
	melyint_self = core;
	melyint_lock_waits.times = core != NULL ? &core->counters.lock_waits : NULL;
	melyint_lock_waits.ns = core != NULL ? &core->counters.lock_wait_ns : NULL;
}

/* The thread begins to run core, or leaves it: at its end, or between two passes. */
static void
attend(struct melyint_core *core, bool on)
{
	melyint_lock_take(&core->lock);
	core->locked.attended = on;
	if (on)
		melyint_stall_attend(core);
	melyint_lock_drop(&core->lock);
	become(on ? core : NULL);
	melyint_observe_attend(core, on);
	melyint_check_attend(on);
	if (on) {
		melyint_rise(core);
		melyint_stuck_begin(core);
	} else if (!core->pace.outside) { /* D of NOTE(outside) in sched/park.c */
		MELY_STORE(&core->hint.busy, 0, relaxed); /* a hint to other cores */
	}
}

/* ---- handlers that do not return ------------------------------------------------------------- */

/* An exception of C++, or pthread_exit, would leave the color running and the core without a
 * thread: the program ends, with the name of the handler. */
struct guard {
	const struct melyint_core *core;
	bool ended; /* the loop has returned */
};

static void
check_ended(struct guard *guard)
{
	if (MELY_LIKELY(guard->ended))
		return;
	/* relaxed: written by this thread */
	melyint_say("core %d: handler %s was left by an exception or by pthread_exit",
	    guard->core->index,
	    melyint_handler_name(MELY_LOAD(&guard->core->tallies.handler, relaxed)));
	abort();
}

static void
run_loop(struct melyint_core *core)
{
	struct guard guard MELY_CLEANUP(check_ended) = {core, false};

	melyint_core_loop(core);
	guard.ended = true;
}

static int
run_pass(struct melyint_core *core)
{
	struct guard guard MELY_CLEANUP(check_ended) = {core, false};
	int result = melyint_core_pass(core);

	guard.ended = true;
	return result;
}

/* ---- threads of the runtime ------------------------------------------------------------------ */

static void *
core_thread(void *arg)
{
	struct melyint_core *core = arg;
	char name[16];

	snprintf(name, sizeof name, "mely/%d", core->index);
	pthread_setname_np(pthread_self(), name);
	melyint_check_thread(true);
	melyint_topo_bind(core);
	attend(core, true);
	run_loop(core);
	attend(core, false);
	melyint_check_thread(false);
	return NULL;
}

/* Start cores 1 and up. Under life.lock. */
static int
cores_start(struct mely_runtime *rt)
{
	sigset_t mask, old;
	int error = 0;

	sigemptyset(&old);
	melyint_thread_mask(&mask);
	if (rt->config.stall_signal != 0)
		sigdelset(&mask, rt->config.stall_signal);
	pthread_sigmask(SIG_SETMASK, &mask, &old);
	rt->life.signals = old;
	for (rt->life.threads = 0; rt->life.threads < rt->cores_count - 1; rt->life.threads++) {
		struct melyint_core *core = &rt->cores[rt->life.threads + 1];

		error = -pthread_create(&core->fixed.thread, NULL, core_thread, core);
		if (error != 0) {
			melyint_say("core %d could not be started: %s", core->index,
			    strerror(-error));
			break;
		}
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

void
melyint_cores_join(struct mely_runtime *rt)
{
	for (; rt->life.threads > 0; rt->life.threads--) {
		struct melyint_core *core = &rt->cores[rt->life.threads];

		if (MELY_LIKELY(core != melyint_exit_core())) /* that thread stays in its handler */
			pthread_join(core->fixed.thread, NULL);
	}
}

/* ---- running --------------------------------------------------------------------------------- */

/* This thread becomes the one that attends core 0. It starts a run when none is in progress. */
static int
begin(struct mely_runtime *rt, bool once)
{
	int error = 0, phase;

	pthread_mutex_lock(&rt->life.lock);
	/* acquire: pairs with the store in the child of a fork */
	phase = MELY_LOAD(&rt->phase, acquire);
	if (phase == MELYINT_FORKED) {
		error = -ECHILD;
	} else if (rt->life.attended || (!once && rt->life.once_started)) {
		error = -EBUSY;
	} else if (phase == MELYINT_IDLE) {
		/* release: pairs with the acquire loads of posters and cores */
		MELY_STORE(&rt->phase, MELYINT_RUNNING, release);
		melyint_stall_begin(rt);
		melyint_age_begin(rt);
		melyint_exit_prepare(); /* before a handler of another core can exit */
		melyint_check_run_begin(rt);
		error = cores_start(rt);
		melyint_monitor_start(rt);
		rt->life.once_started = once;
	}
	if (error != -EBUSY && error != -ECHILD)
		rt->life.attended = true;
	pthread_mutex_unlock(&rt->life.lock);
	return error;
}

/* The phase is STOPPED, and core 0 is in no loop: end all other threads but the helpers. */
static void
end_threads(struct mely_runtime *rt)
{
	/* acquire: pairs with the release stores of the life cycle */
	MELY_ASSERT(MELY_LOAD(&rt->phase, acquire) == MELYINT_STOPPED);
	melyint_wake_all(rt);
	melyint_cores_join(rt);
	melyint_monitor_join(rt);
	melyint_stall_end(rt);
	melyint_age_end(rt);
	melyint_check_run_end(rt);
}

static void
become_idle(struct mely_runtime *rt)
{
	pthread_mutex_lock(&rt->life.lock);
	rt->life.once_started = false;
	/* release: pairs with the acquire loads of posters */
	MELY_STORE(&rt->phase, MELYINT_IDLE, release);
	pthread_mutex_unlock(&rt->life.lock);
}

/* C and D of NOTE(stop): core 0 has ended its loop. */
static void
finish(struct mely_runtime *rt)
{
	end_threads(rt);
	/* relaxed: this thread has seen the phase that published it */
	melyint_io_discard(rt, MELY_LOAD(&rt->life.drain_until_ns, relaxed));
	melyint_check_run_end(rt); /* for what helpers did meanwhile, too */
	/* relaxed: published by the phase. Events that were posted after a drain found nothing left
	 * are held for the next run. */
	if (!MELY_EXCHANGE(&rt->life.drained, false, relaxed))
		(void)melyint_handback_all(rt); /* what it posts is for the next run */
	melyint_io_begin_run(rt);
	become_idle(rt);
}

/* Not all cores could be started. The others end, and watchers and events wait for the next run.
 * False: a handler has requested a stop by then. */
static bool
abandon(struct mely_runtime *rt)
{
	int running = MELYINT_RUNNING;

	/* release: pairs with the acquire loads of the cores */
	if (!MELY_CAS(&rt->phase, &running, MELYINT_STOPPED, release))
		return false;
	melyint_exit_hold();
	end_threads(rt);
	become_idle(rt);
	return true;
}

static void
leave(struct mely_runtime *rt)
{
	pthread_mutex_lock(&rt->life.lock);
	MELY_ASSERT(rt->life.attended);
	rt->life.attended = false;
	pthread_mutex_unlock(&rt->life.lock);
}

int
mely_run(struct mely_runtime *rt)
{
	struct melyint_core *outer = melyint_self, *core;
	cpu_set_t old;
	bool restore;
	int error;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL)
		return -EINVAL;
	if (outer != NULL && outer->rt == rt)
		return -EBUSY;
	core = &rt->cores[0];
	error = begin(rt, false);
	if (error == -EBUSY || error == -ECHILD)
		return error;
	if (error != 0 && abandon(rt)) {
		leave(rt);
		return error;
	}
	restore = core->fixed.bound != NULL && sched_getaffinity(0, sizeof old, &old) == 0;
	if (error != 0) {
		(void)mely_stop(rt, MELY_STOP_DISCARD);
	} else {
		melyint_topo_bind(core);
		attend(core, true);
		run_loop(core);
		attend(core, false);
	}
	melyint_exit_hold();
	finish(rt);
	leave(rt);
	become(outer);
	if (restore)
		(void)sched_setaffinity(0, sizeof old, &old); /* if this fails, it stays bound */
	return error;
}

int
melyint_run_pass(struct mely_runtime *rt)
{
	struct melyint_core *outer = melyint_self, *core = &rt->cores[0];
	bool ended;
	int result;

	if (outer != NULL && outer->rt == rt)
		return -EBUSY;
	result = begin(rt, true);
	if (result == -EBUSY || result == -ECHILD)
		return result;
	if (result != 0 && abandon(rt)) {
		leave(rt);
		return result;
	}
	if (result != 0)
		(void)mely_stop(rt, MELY_STOP_DISCARD);
	attend(core, true);
	melyint_check_pass(rt, true);
	/* acquire, both: pairs with the release stores of the life cycle. The second one comes
	 * after the core has gone outside: B of NOTE(outside) in sched/park.c. */
	if (MELY_LOAD(&rt->phase, acquire) < MELYINT_STOPPED)
		result = run_pass(core);
	ended = MELY_LOAD(&rt->phase, acquire) == MELYINT_STOPPED;
	if (ended && core->pace.outside)
		melyint_come_inside(core);
	melyint_check_pass(rt, false);
	attend(core, false);
	if (ended) {
		melyint_exit_hold();
		finish(rt);
		result = result < 0 ? result : -ESHUTDOWN;
	}
	leave(rt);
	become(outer);
	return result;
}

/* ---- stopping -------------------------------------------------------------------------------- */

/* From RUNNING to the phase wanted. Under life.lock: even a drain that ends at once cannot end the
 * run, nor let another thread free the runtime, before the watchers have been stopped. */
static int
stop_running(struct mely_runtime *rt, int wanted)
{
	uint64_t deadline = rt->config.drain_deadline_ns;
	int running = MELYINT_RUNNING;

	/* acquire: pairs with the release stores of the life cycle */
	if (MELY_LOAD(&rt->phase, acquire) != MELYINT_RUNNING)
		return -EALREADY;
	/* relaxed: published by the phase */
	MELY_STORE(&rt->life.drain_until_ns,
	    deadline != 0 ? melyint_now_ns() + deadline : 0, relaxed);
	melyint_io_begin_stop(rt, wanted == MELYINT_DRAINING);
	/* release: pairs with the acquire loads of the cores; A of NOTE(stop). This fails only when
	 * the process exits: then the phase is STOPPED already. */
	return MELY_CAS(&rt->phase, &running, wanted, release) ? 0 : -EALREADY;
}

int
mely_stop(struct mely_runtime *rt, enum mely_stop_mode mode)
{
	int draining = MELYINT_DRAINING, error;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL)
		return -EINVAL;
	/* acquire: pairs with the store in the child of a fork */
	if (MELY_LOAD(&rt->phase, acquire) == MELYINT_FORKED)
		return -ECHILD;
	pthread_mutex_lock(&rt->life.lock);
	error = stop_running(rt,
	    mode == MELY_STOP_DISCARD ? MELYINT_STOPPED : MELYINT_DRAINING);
	/* release: as above */
	if (error != 0 && mode == MELY_STOP_DISCARD &&
	    MELY_CAS(&rt->phase, &draining, MELYINT_STOPPED, release))
		error = 0;
	if (error == 0)
		melyint_wake_all(rt);
	/* acquire: as in stop_running. An exit has stopped the cores, but no watchers. */
	if (MELY_LOAD(&rt->phase, acquire) == MELYINT_STOPPED && melyint_exits_here()) {
		melyint_io_begin_stop(rt, false);
		melyint_exit_release();
	}
	pthread_mutex_unlock(&rt->life.lock);
	return error;
}
