/* SPDX-License-Identifier: MIT */
/*
 * runtime.c: a runtime is made, described, switched while it runs, and freed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/worth.h"
#include "look/watchdog/age.h"
#include "base/assert.h"
#include "base/clock.h"
#include "core/hooks.h"
#include "color/misuse.h"
#include "color/names_marks.h"
#include "color/table.h"
#include "core/runtimes.h"
#include "life/life.h"
#include "io/state.h"
#include "look/watchdog/monitor.h"
#include "look/trace/observe.h"
#include "look/live/private.h"
#include "life/settings.h"
#include "sched/steal.h"
#include "look/watchdog/spare.h"
#include "look/watchdog/stall.h"
#include "sched/victim.h"
#include "core/weight.h"

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
		/* In the child of a fork a stock may have been in the middle of a change: leave it.
		 * acquire: pairs with the store in the child */
		if (MELY_LOAD(&rt->phase, acquire) != MELYINT_FORKED)
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
	rt->limits.outbox_after = MELYINT_OUTBOX_AFTER;
	rt->limits.outbox_full = MELYINT_OUTBOX_FULL;
	melyint_steal_settle(rt);
	/* relaxed: no other thread knows the runtime yet */
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

/* The program may use the memory of its strings again. live.c copies config.socket. */
static int
copy_strings(struct mely_config *config)
{
	const char *trace = config->trace, *topology = config->topology;

	config->trace = trace != NULL ? strdup(trace) : NULL;
	config->topology = topology != NULL ? strdup(topology) : NULL;
	return (trace != NULL) == (config->trace != NULL) &&
	    (topology != NULL) == (config->topology != NULL) ? 0 : -ENOMEM;
}

static void
free_strings(struct mely_config *config)
{
	free((char *)config->trace);
	free((char *)config->topology);
}

/* What weighs on a color's worth to a thief. */
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

/* Set what follows from the switches. Under life.lock, so that of two threads that turn switches at
 * once the later one sees both; or before another thread knows the runtime. */
static void
switched(struct mely_runtime *rt)
{
	/* relaxed, all: switches; events that were posted before keep their weight */
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

	if (out == NULL)
		return -EINVAL;
	error = melyint_settings_take(&own, config);
	if (error != 0)
		return error;
	melyint_clock_init();
	rt = aligned_alloc(MELY_CACHE_LINE, sizeof *rt);
	if (rt == NULL)
		return -ENOMEM;
	memset(rt, 0, sizeof *rt);
	settle(rt, &own);
	error = copy_strings(&rt->config);
	if (error == 0)
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
		error = melyint_spare_new(rt);
	if (error == 0)
		error = melyint_io_init(rt);
	if (error == 0)
		error = melyint_live_new(rt);
	if (error != 0) {
		melyint_io_fini(rt);
		melyint_spare_free(rt);
		melyint_age_free(rt);
		melyint_stall_free(rt);
		melyint_monitor_free(rt);
		melyint_colorext_free(rt->colorext);
		melyint_colortab_free(rt->colors);
		melyint_runtime_unknown(rt);
		cores_free(rt);
		free_strings(&rt->config);
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
	const struct melyint_core *exits = melyint_exit_core();
	bool busy;

	if (rt == NULL)
		return 0;
	pthread_mutex_lock(&rt->life.lock);
	busy = rt->life.attended || (exits != NULL && exits->rt == rt);
	rt->life.attended = true; /* what a hand-back function calls finds it busy */
	pthread_mutex_unlock(&rt->life.lock);
	if (busy)
		return -EBUSY;
	/* acquire: pairs with the store in the child of a fork */
	if (MELY_LOAD(&rt->phase, acquire) != MELYINT_FORKED) {
		(void)mely_stop(rt, MELY_STOP_DISCARD); /* passes leave the other cores running */
		melyint_cores_join(rt);
		melyint_monitor_join(rt);
		melyint_stall_end(rt);
		melyint_age_end(rt);
		melyint_check_run_end(rt);
		/* No post of the program from here on. release: as in cycle.c */
		MELY_STORE(&rt->phase, MELYINT_STOPPED, release);
		melyint_io_begin_stop(rt, false);
		melyint_io_discard(rt, 0);
		melyint_check_run_end(rt);
		/* Handing back may end watchers, and so post the library's own events. */
		while (melyint_handback_all(rt))
			;
	}
	melyint_io_fini(rt);
	melyint_runtimes_remove(rt);
	melyint_trace_end(rt);
	melyint_spare_free(rt);
	melyint_age_free(rt);
	melyint_stall_free(rt);
	melyint_monitor_free(rt);
	melyint_live_free(rt);
	melyint_colorext_free(rt->colorext);
	melyint_colortab_free(rt->colors);
	melyint_runtime_unknown(rt);
	cores_free(rt);
	free_strings(&rt->config);
	pthread_mutex_destroy(&rt->walks.lock);
	pthread_mutex_destroy(&rt->life.lock);
	free(rt);
	return 0;
}

/* ---- while it exists ------------------------------------------------------------------------- */

int
mely_cores(const struct mely_runtime *rt)
{
	melyint_examine_runtime(__func__, rt);
	return rt != NULL ? rt->cores_count : 0;
}

int
mely_runtime_describe(const struct mely_runtime *rt, char *buf, size_t size)
{
	char settings[1024];
	int length;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL || (buf == NULL && size > 0))
		return -EINVAL;
	length = melyint_settings_describe(&rt->config, settings, sizeof settings);
	return snprintf(buf, size, "%d cores (%s), %s, %s%s%s", rt->cores_count, rt->life.why_cores,
	    !rt->limits.bound ? "not pinned" : rt->config.pinning == MELY_PIN_YES ? "pinned" :
	    "pinned to caches",
	    rt->config.pollers == 1 ? "one poller" : "a poller per core", length > 0 ? ";" : "",
	    settings);
}

int
mely_set_stealing(struct mely_runtime *rt, unsigned bits)
{
	melyint_examine_runtime(__func__, rt);
	if (rt == NULL || !melyint_settings_allow("stealing", bits))
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
	melyint_examine_runtime(__func__, rt);
	if (rt == NULL || !melyint_settings_allow("batch_events", events))
		return -EINVAL;
	MELY_STORE(&rt->switches.batch_events, events, relaxed); /* a switch */
	return 0;
}

size_t
mely_trim(struct mely_runtime *rt)
{
	melyint_examine_runtime(__func__, rt);
	if (rt == NULL || (melyint_self != NULL && melyint_self->rt == rt))
		return 0;
	return melyint_colortab_trim(rt) + melyint_depot_trim(&rt->depot);
}
