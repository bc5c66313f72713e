/* SPDX-License-Identifier: MIT */
/*
 * runtime.c: the life of a runtime: make, run, stop, free.
 *
 * NOTE(stop)
 *   A. mely_stop closes the I/O's watchers, sets the phase (release) and wakes every core, so that
 *      each looks at the phase (acquire) between two turns. It waits for nothing.
 *   B. DRAINING: cores go on; outside posts are refused. A core with nothing to do looks whether
 *      nothing is left anywhere (drain.c), or the deadline has come, and sets STOPPED.
 *   C. STOPPED: each core puts its batch back and its thread ends. The thread in mely_run joins
 *      them; from then on it alone touches the queues. What is left is handed back.
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
#include "check/check.h"
#include "color/misuse.h"
#include "color/names_marks.h"
#include "color/table.h"
#include "sched/loop.h"
#include "core/runtimes.h"
#include "life/life.h"
#include "io/state.h"
#include "look/watchdog/monitor.h"
#include "look/trace/observe.h"
#include "sched/park.h"
#include "look/live/live.h"
#include "life/settings.h"
#include "sched/steal.h"
#include "look/watchdog/stall.h"
#include "sched/stuck.h"
#include "sched/victim.h"
#include "core/weight.h"

MELY_TLS struct melyint_core *melyint_self;

enum {
	LOOK_NS = 50000,
	LOOK_MAX_NS = 500000,
	TICK_NS = 1000000,
	DECAY_NS = 50000000,
	STEAL_NS_FIRST = 500, /* until steals have been measured */
	AGED_NS = 1000000,
	SOON_NS = 5000
};

/* ---- making ---------------------------------------------------------------------------------- */

static int
core_init(struct mely_runtime *rt, int index)
{
	struct melyint_core *core = &rt->cores[index];

	core->rt = rt;
	core->index = index;
	core->fixed.pu = -1;
	core->batch.color_id = MELYINT_NO_ID;
	melyint_tallies_init(&core->tallies);
	core->pace.spin_ns = rt->limits.spin_ns_max;
	core->sampling.batches_left = 1;
	core->others.glances = calloc((size_t)rt->cores_count, sizeof core->others.glances[0]);
	if (core->others.glances == NULL)
		return -ENOMEM;
	melyint_lock_init(&core->lock);
	melyint_pool_init(&core->pool, &rt->depot);
	melyint_color_setup(&core->self_color, core, 0, MELYINT_COLOR_OBJECT |
	    MELYINT_COLOR_PINNED | (unsigned)index << MELYINT_COLOR_PIN_SHIFT);
	return 0;
}

static int
cores_new(struct mely_runtime *rt)
{
	size_t bytes = (size_t)rt->cores_count * sizeof rt->cores[0];
	int i, error = 0;

	rt->cores = aligned_alloc(MELY_CACHE_LINE, bytes);
	if (rt->cores == NULL)
		return -ENOMEM;
	memset(rt->cores, 0, bytes);
	melyint_depot_init(&rt->depot, (uint32_t)rt->cores_count);
	for (i = 0; i < rt->cores_count && error == 0; i++)
		error = core_init(rt, i);
	return error;
}

static void
cores_free(struct mely_runtime *rt)
{
	int i;

	if (rt->cores == NULL)
		return;
	for (i = 0; i < rt->cores_count; i++) {
		melyint_pool_fini(&rt->cores[i].pool);
		free(rt->cores[i].others.glances);
		melyint_tallies_fini(&rt->cores[i].tallies);
		melyint_core_free_worthy(&rt->cores[i]);
	}
	melyint_topo_free(rt);
	melyint_depot_trim(&rt->depot);
	free(rt->cores);
}

static void
settle(struct mely_runtime *rt, const struct mely_config *config)
{
	int i;

	rt->config = *config;
	rt->limits.batch_ticks = melyint_ns_to_ticks(config->batch_us * 1000ull);
	rt->limits.look_ticks = melyint_ns_to_ticks(LOOK_NS);
	rt->limits.look_max_ticks = melyint_ns_to_ticks(LOOK_MAX_NS);
	rt->limits.tick_ticks = melyint_ns_to_ticks(TICK_NS);
	rt->limits.decay_ticks = melyint_ns_to_ticks(DECAY_NS);
	rt->limits.aged_ticks = melyint_ns_to_ticks(AGED_NS);
	rt->limits.soon_ticks = melyint_ns_to_ticks(SOON_NS);
#ifdef MELYINT_LIBASYNC
	melyint_steal_settle(rt);
#endif
	/* relaxed: nobody else knows the runtime yet */
	MELY_STORE(&rt->switches.batch_events, config->batch_events, relaxed);
	MELY_STORE(&rt->switches.stealing, (config->stealing & MELY_STEAL_ON) != 0, relaxed);
	MELY_STORE(&rt->switches.heuristics, config->stealing, relaxed);
	for (i = 0; i < MELY_DISTANCES; i++)
		MELY_STORE(&rt->steal_ns[i],
		    config->steal_ns != 0 ? config->steal_ns : STEAL_NS_FIRST, relaxed);
	pthread_mutex_init(&rt->life.lock, NULL);
	pthread_mutex_init(&rt->walks.lock, NULL);
	rt->life.made_ns = melyint_now_ns();
}

/* What counts where colors are stolen. */
static unsigned
weighing_of(unsigned heuristics)
{
	unsigned weighing;

	if (heuristics & MELY_STEAL_PENALTY)
		weighing = heuristics & MELY_STEAL_LEARN ? MELYINT_WEIGH_PENALTY_LEARNED :
		    MELYINT_WEIGH_PENALTY;
	else if (heuristics & MELY_STEAL_TIME_LEFT)
		weighing = MELYINT_WEIGH_TIME;
	else
		return MELYINT_WEIGH_NOT;
	return weighing + (heuristics & MELY_STEAL_MEASURE ? 1 : 0);
}

/* What follows from the switches. Under life_lock, so that of two who turn switches at once the
 * later one has seen both; or nobody else knows the runtime. */
static void
switched(struct mely_runtime *rt)
{
	/* relaxed, all: switches; what was posted before counts as it did */
	unsigned weighing = MELYINT_WEIGH_NOT;
	int i;

	if (rt->cores_count > 1 && MELY_LOAD(&rt->switches.stealing, relaxed) != 0)
		weighing = weighing_of(MELY_LOAD(&rt->switches.heuristics, relaxed));
	MELY_STORE(&rt->switches.weighing, weighing, relaxed);
	for (i = 0; i < rt->cores_count; i++)
		melyint_victim_price(&rt->cores[i]);
}

int
mely_runtime_new(struct mely_runtime **out, const struct mely_config *config)
{
	struct mely_config own;
	struct mely_runtime *rt;
	int error;

	if (config == NULL) {
		/* What it could not read it has said; the defaults stand. */
		(void)mely_config_init(&own);
		config = &own;
	}
	error = melyint_settings_check(config);
	if (error != 0)
		return error;
	melyint_clock_init();
	rt = aligned_alloc(MELY_CACHE_LINE, sizeof *rt);
	if (rt == NULL)
		return -ENOMEM;
	memset(rt, 0, sizeof *rt);
	settle(rt, config);
	error = melyint_topo_count(rt);
	if (error == 0)
		error = cores_new(rt);
	if (error == 0)
		melyint_runtime_known(rt);
	if (error == 0)
		error = melyint_topo_place(rt);
	if (error == 0)
		switched(rt);
	if (error == 0)
		error = melyint_colortab_new(rt, &rt->colors);
	if (error == 0)
		error = melyint_colorext_new(&rt->colorext);
	if (error == 0)
		error = melyint_monitor_new(rt);
	if (error == 0)
		error = melyint_stall_new(rt);
	if (error == 0)
		error = melyint_age_new(rt);
	if (error == 0)
		error = melyint_io_init(rt);
	if (error == 0)
		error = melyint_live_new(rt);
	if (error != 0) {
		melyint_age_free(rt);
		melyint_stall_free(rt);
		melyint_monitor_free(rt);
		melyint_colorext_free(rt->colorext);
		melyint_colortab_free(rt->colors);
		melyint_runtime_unknown(rt);
		cores_free(rt);
		free(rt);
		return error;
	}
	melyint_fork_prepare();
	melyint_runtimes_add(rt);
	melyint_trace_begin(rt);
	melyint_live_begin(rt);
	*out = rt;
	return 0;
}

int
mely_runtime_free(struct mely_runtime *rt)
{
	bool busy;

	if (rt == NULL)
		return 0;
	pthread_mutex_lock(&rt->life.lock);
	busy = rt->life.attended;
	pthread_mutex_unlock(&rt->life.lock);
	if (busy)
		return -EBUSY;
	/* acquire: pairs with the store in the child of a fork */
	if (MELY_LOAD(&rt->phase, acquire) != MELYINT_FORKED) {
		(void)mely_stop(rt, MELY_STOP_DISCARD); /* where mely_run_once left cores running */
		melyint_cores_join(rt);
		melyint_monitor_join(rt);
		melyint_stall_end(rt);
		melyint_age_end(rt);
		melyint_check_run_end(rt);
		melyint_io_begin_stop(rt, false);
		melyint_io_discard(rt);
		melyint_check_run_end(rt);
		melyint_handback_all(rt);
	}
	melyint_io_fini(rt);
	melyint_runtimes_remove(rt);
	melyint_trace_end(rt);
	melyint_age_free(rt);
	melyint_stall_free(rt);
	melyint_monitor_free(rt);
	melyint_live_free(rt);
	melyint_colorext_free(rt->colorext);
	melyint_colortab_free(rt->colors);
	melyint_runtime_unknown(rt);
	cores_free(rt);
	pthread_mutex_destroy(&rt->walks.lock);
	pthread_mutex_destroy(&rt->life.lock);
	free(rt);
	return 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

void
melyint_thread_mask(sigset_t *mask)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
	size_t i;

	sigfillset(mask);
	for (i = 0; i < sizeof own / sizeof own[0]; i++)
		sigdelset(mask, own[i]);
}

/* This thread is core, or none. */
static void
become(struct melyint_core *core)
{
	melyint_self = core;
	melyint_lock_waits.times = core != NULL ? &core->counters.lock_waits : NULL;
	melyint_lock_waits.ns = core != NULL ? &core->counters.lock_wait_ns : NULL;
}

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
		melyint_monitor_awake(core);
		melyint_stuck_begin(core);
	} else if (!core->pace.outside) { /* D of NOTE(outside) in sched/park.c */
		MELY_STORE(&core->hint.busy, 0, relaxed); /* others' glances */
	}
}

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
	melyint_core_loop(core);
	attend(core, false);
	melyint_check_thread(false);
	return NULL;
}

/* Start cores 1 and up. Under life_lock. */
static int
cores_start(struct mely_runtime *rt)
{
	sigset_t mask, old;
	int error = 0;

	melyint_thread_mask(&mask);
	if (rt->config.stall_signal != 0)
		sigdelset(&mask, rt->config.stall_signal);
	pthread_sigmask(SIG_SETMASK, &mask, &old);
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
	for (; rt->life.threads > 0; rt->life.threads--)
		pthread_join(rt->cores[rt->life.threads].fixed.thread, NULL);
}

/* ---- running --------------------------------------------------------------------------------- */

/* Take the runtime for a run. */
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

/* C and D of NOTE(stop). The phase is STOPPED, core 0 has ended its loop. */
static void
finish(struct mely_runtime *rt)
{
	melyint_wake_all(rt);
	melyint_cores_join(rt);
	melyint_monitor_join(rt);
	melyint_stall_end(rt);
	melyint_age_end(rt);
	melyint_check_run_end(rt);
	melyint_io_discard(rt);
	melyint_check_run_end(rt); /* of what helpers still did, too */
	/* relaxed: published by the phase. What has come since a drain found nothing is held. */
	if (!MELY_EXCHANGE(&rt->life.drained, false, relaxed))
		melyint_handback_all(rt);
	melyint_io_begin_run(rt);
	pthread_mutex_lock(&rt->life.lock);
	rt->life.once_started = false;
	/* release: pairs with the acquire loads of posters */
	MELY_STORE(&rt->phase, MELYINT_IDLE, release);
	pthread_mutex_unlock(&rt->life.lock);
}

static void
leave(struct mely_runtime *rt)
{
	pthread_mutex_lock(&rt->life.lock);
	rt->life.attended = false;
	pthread_mutex_unlock(&rt->life.lock);
}

int
mely_run(struct mely_runtime *rt)
{
	struct melyint_core *outer = melyint_self, *core = &rt->cores[0];
	cpu_set_t old;
	bool restore;
	int error;

	if (outer != NULL && outer->rt == rt)
		return -EBUSY;
	error = begin(rt, false);
	if (error == -EBUSY || error == -ECHILD)
		return error;
	restore = core->fixed.pu >= 0 && sched_getaffinity(0, sizeof old, &old) == 0;
	if (error != 0) {
		(void)mely_stop(rt, MELY_STOP_DISCARD);
	} else {
		melyint_topo_bind(core);
		attend(core, true);
		melyint_core_loop(core);
		attend(core, false);
	}
	melyint_exit_hold();
	finish(rt);
	leave(rt);
	become(outer);
	if (restore)
		(void)sched_setaffinity(0, sizeof old, &old); /* a failure leaves it bound */
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
	if (result != 0)
		(void)mely_stop(rt, MELY_STOP_DISCARD);
	attend(core, true);
	melyint_check_pass(rt, true);
	/* acquire, both: pairs with the release stores of the life cycle. The second one comes
	 * after the core has gone outside: B of NOTE(outside) in sched/park.c. */
	if (MELY_LOAD(&rt->phase, acquire) < MELYINT_STOPPED)
		result = melyint_core_pass(core);
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

/* RUNNING to the phase wanted. Under life_lock: a drain that is over at once can not end the run,
 * or free the runtime, before the watchers have been closed. */
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
	/* release: pairs with the acquire loads of the cores; A of NOTE(stop). It can only fail
	 * because the process exits. */
	return MELY_CAS(&rt->phase, &running, wanted, release) ? 0 : -EALREADY;
}

int
mely_stop(struct mely_runtime *rt, enum mely_stop_mode mode)
{
	int draining = MELYINT_DRAINING, error;

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
	pthread_mutex_unlock(&rt->life.lock);
	return error;
}

/* ---- small things ---------------------------------------------------------------------------- */

int
mely_cores(const struct mely_runtime *rt)
{
	return rt->cores_count;
}

int
mely_runtime_describe(const struct mely_runtime *rt, char *buf, size_t size)
{
	char settings[1024];
	int length = melyint_settings_describe(&rt->config, settings, sizeof settings);

	return snprintf(buf, size, "%d cores (%s), %s, %s%s%s", rt->cores_count, rt->life.why_cores,
	    rt->limits.pinned ? "pinned" : "not pinned",
	    rt->config.pollers == 1 ? "one poller" : "a poller per core", length > 0 ? ";" : "",
	    settings);
}

int
mely_set_stealing(struct mely_runtime *rt, unsigned bits)
{
	if (!melyint_settings_allow("stealing", bits))
		return -EINVAL;
	pthread_mutex_lock(&rt->life.lock);
	MELY_STORE(&rt->switches.stealing, (bits & MELY_STEAL_ON) != 0, relaxed); /* a switch */
	MELY_STORE(&rt->switches.heuristics, bits, relaxed); /* switches */
	switched(rt);
	pthread_mutex_unlock(&rt->life.lock);
	return 0;
}

int
mely_set_batch(struct mely_runtime *rt, uint32_t events)
{
	if (!melyint_settings_allow("batch_events", events))
		return -EINVAL;
	MELY_STORE(&rt->switches.batch_events, events, relaxed); /* a switch */
	return 0;
}

size_t
mely_trim(struct mely_runtime *rt)
{
	if (melyint_self != NULL && melyint_self->rt == rt)
		return 0;
	return melyint_colortab_trim(rt) + melyint_depot_trim(&rt->depot);
}
