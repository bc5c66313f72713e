/* SPDX-License-Identifier: MIT */
/*
 * exit.c: exit(3) while a runtime runs, from a handler or from any other thread. An exit function
 * parks the cores before the program's exit functions destroy what handlers use. If the thread that
 * called exit is a core, it is in its handler and stays there; so does a handler that waits between
 * mely_wait_begin and mely_wait_end. Nothing is handed back, unless an exit function of the program
 * requests a stop: then mely_run returns, so that the function can join its thread.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <mely/runtime.h>

#include "base/assert.h"
#include "core/hooks.h"
#include "core/core.h"
#include "look/watchdog/monitor.h"
#include "sched/wake.h"
#include "core/runtimes.h"
#include "life/life.h"
#include "look/trace/tracer.h"
#include "look/live/private.h"

enum {
	REGISTRATIONS_MAX = 16,
	WAIT_MS = 2000 /* how long to wait for a core in a handler */
};

static _Atomic bool begun;       /* set once, by the thread that exits */
static _Atomic bool exiting;     /* as begun, when what follows is set */
static _Atomic bool released;    /* that thread has requested a stop; set once, by it */
static MELY_TLS bool exits_here; /* that thread is this one */
static struct melyint_core *exit_core; /* its core, or NULL; set before exiting */

static void
nap(void)
{
	const struct timespec ms = {0, 1000000};

	nanosleep(&ms, NULL);
}

static void
stop_cores(struct mely_runtime *rt)
{
	int phase = MELY_LOAD(&rt->phase, acquire); /* pairs with the life cycle's release stores */

	/* release: pairs with the acquire loads of the cores */
	while ((phase == MELYINT_RUNNING || phase == MELYINT_DRAINING) &&
	    !MELY_CAS(&rt->phase, &phase, MELYINT_STOPPED, release))
		;
	melyint_wake_all(rt);
}

static void
await_cores(struct mely_runtime *rt)
{
	int i, ms;

	if (MELY_LOAD(&rt->phase, acquire) != MELYINT_STOPPED) /* as above */
		return;
	for (i = 0; i < rt->cores_count; i++) {
		struct melyint_core *core = &rt->cores[i];
		bool attended = core != melyint_self;

		for (ms = 0; ms < WAIT_MS && attended; ms++) {
			melyint_lock_take(&core->lock);
			attended = core->locked.attended && !core->locked.waits;
			melyint_lock_drop(&core->lock);
			if (attended)
				nap();
		}
		if (attended && core != melyint_self)
			melyint_say("exit: core %d is still in a handler", core->index);
	}
}

/* For the color checker: what parked cores have run comes before the program's exit functions. */
static void
end_colors(struct mely_runtime *rt)
{
	melyint_check_exit(rt);
}

/* Last, so that until then the monitor reports which core does not park. */
static void
halt_monitor(struct mely_runtime *rt)
{
	melyint_monitor_halt(rt);
}

static void
park_all(void)
{
	struct melyint_check_where where;

	if (MELY_EXCHANGE(&begun, true, relaxed)) /* only once */
		return;
	exit_core = melyint_self;
	exits_here = true;
	/* release: pairs with the acquires of those who then read exit_core */
	MELY_STORE(&exiting, true, release);
	melyint_check_enter(&where);
	melyint_runtimes_each(stop_cores);
	melyint_runtimes_each(await_cores);
	melyint_runtimes_each(end_colors);
	melyint_runtimes_each(melyint_trace_exit);
	melyint_runtimes_each(halt_monitor);
	melyint_runtimes_each(melyint_live_exit);
	melyint_check_leave(&where);
}

void
melyint_exit_prepare(void)
{
	static _Atomic int registered MELY_LASTING;

	/* Exit functions run in reverse order, so each run registers again, to come before what the
	 * program has registered since. Relaxed: only a count. */
	if (MELY_ADD(&registered, 1, relaxed) < REGISTRATIONS_MAX && atexit(park_all) != 0)
		melyint_say("no memory for an exit function");
}

void
melyint_exit_hold(void)
{
	/* acquire, both: pair with the releases of the thread that exits */
	while (MELY_LOAD(&exiting, acquire) && !MELY_LOAD(&released, acquire))
		nap();
}

bool
melyint_exits_here(void)
{
	return exits_here;
}

void
melyint_exit_release(void)
{
	MELY_STORE(&released, true, release); /* pairs with melyint_exit_hold */
}

const struct melyint_core *
melyint_exit_core(void)
{
	return MELY_LOAD(&exiting, acquire) ? exit_core : NULL; /* pairs with park_all */
}

/* False: this thread is not a core. */
static bool
set_waits(bool waits)
{
	struct melyint_core *core = melyint_self;

	if (core == NULL)
		return false;
	melyint_lock_take(&core->lock);
	core->locked.waits = waits;
	melyint_lock_drop(&core->lock);
	return true;
}

void
mely_wait_begin(void)
{
	(void)set_waits(true);
}

void
mely_wait_end(void)
{
	/* If await_cores has seen the wait, the lock makes `exiting` visible here. */
	if (set_waits(false) && !exits_here) {
		/* acquire: as in melyint_exit_hold */
		while (MELY_LOAD(&exiting, acquire))
			nap();
	}
}
