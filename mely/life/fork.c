/* SPDX-License-Identifier: MIT */
/*
 * fork.c: what a fork leaves of a runtime.
 *
 * Before the fork, a handler takes all locks of all runtimes, when no color is on its way from one
 * core to another. So the child finds the queues whole, and every color in one of them. In the
 * child only the forking thread exists: it is no longer a core, and every runtime is marked FORKED,
 * so that its calls return -ECHILD. mely_runtime_renew makes a runtime usable again, with empty
 * queues and new pollers.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "look/watchdog/age.h"
#include "base/assert.h"
#include "core/hooks.h"
#include "color/misuse.h"
#include "color/names_marks.h"
#include "color/table.h"
#include "core/core.h"
#include "core/worth.h"
#include "io/state.h"
#include "look/watchdog/monitor.h"
#include "core/runtimes.h"
#include "life/life.h"
#include "look/trace/tracer.h"
#include "look/live/private.h"
#include "look/watchdog/spare.h"
#include "look/watchdog/stall.h"

static struct mely_runtime *runtimes; /* the first of the list, which is locked around a fork */

/* ---- around the fork ------------------------------------------------------------------------- */

static void
lock_all(void)
{
	struct mely_runtime *rt;
	int i;

	runtimes = melyint_runtimes_lock();
	for (rt = runtimes; rt != NULL; rt = rt->life.next) {
		pthread_mutex_lock(&rt->life.lock);
		melyint_colortab_lock(rt->colors);
		for (i = 0; i < rt->cores_count; i++)
			melyint_lock_take(&rt->cores[i].lock);
		melyint_lock_take(&rt->depot.lock);
		melyint_colorext_lock(rt->colorext);
	}
	melyint_dumpsig_lock();
	melyint_events_lock();
}

/* Is a color in no queue, known only to the thread that moves it? Under all locks. */
static bool
any_moving(void)
{
	struct mely_runtime *rt;
	int i;

	for (rt = runtimes; rt != NULL; rt = rt->life.next) {
		/* relaxed, both: changed under a core's lock */
		if (MELY_LOAD(&rt->flow.arriving, relaxed) != 0)
			return true;
		for (i = 0; i < rt->cores_count; i++)
			if (MELY_LOAD(&rt->cores[i].hint.moving, relaxed) != 0)
				return true;
	}
	return false;
}

static void
unlock_all(bool child)
{
	struct mely_runtime *rt;
	int i;

	melyint_events_unlock();
	melyint_dumpsig_unlock();
	for (rt = runtimes; rt != NULL; rt = rt->life.next) {
		melyint_colorext_unlock(rt->colorext);
		melyint_lock_drop(&rt->depot.lock);
		for (i = rt->cores_count - 1; i >= 0; i--)
			melyint_lock_drop(&rt->cores[i].lock);
		melyint_colortab_unlock(rt->colors);
		pthread_mutex_unlock(&rt->life.lock);
		/* release: pairs with the acquire loads of every entry */
		if (child)
			MELY_STORE(&rt->phase, MELYINT_FORKED, release);
	}
	melyint_runtimes_unlock();
}

static void
before_fork(void)
{
	melyint_check_fork(true, false);
	lock_all();
	/* A thread that moves a color waits for nothing but these locks. */
	while (any_moving()) {
		unlock_all(false);
		sched_yield();
		lock_all();
	}
}

static void
after_in_parent(void)
{
	unlock_all(false);
	melyint_check_fork(false, false);
}

/* A handler has forked: its core's thread may be bound, and blocks all signals unless it is in
 * mely_run. The child gets back what the program has set. */
static void
unbind_child(const struct melyint_core *core)
{
	const struct mely_runtime *rt = core->rt;

	if (core->index != 0)
		pthread_sigmask(SIG_SETMASK, &rt->life.signals, NULL);
	if (rt->limits.bound && CPU_COUNT(&rt->unbound) > 0)
		(void)sched_setaffinity(0, sizeof rt->unbound, &rt->unbound);
}

static void
after_in_child(void)
{
	unlock_all(true);
	if (melyint_self != NULL)
		unbind_child(melyint_self);
	melyint_runtimes_each(melyint_trace_fork);
	melyint_check_fork(false, true);
	melyint_stall_fork();
	melyint_self = NULL;
	/* The core may be freed before this thread waits for a lock again. */
	melyint_lock_waits = (struct melyint_lock_waits){NULL, NULL};
}

static void
install(void)
{
	if (pthread_atfork(before_fork, after_in_parent, after_in_child) != 0)
		melyint_say("no memory for the fork handlers; do not fork");
}

void
melyint_fork_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
}

/* ---- renewal --------------------------------------------------------------------------------- */

static void
drop_event(struct mely_event *ev)
{
	if (ev->_flags & MELYINT_EV_POOLED)
		melyint_event_free(ev);
	else
		MELY_STORE(&ev->_state, MELYINT_EV_IDLE, relaxed); /* one thread */
}

static void
drop_list(struct mely_event *events)
{
	while (events != NULL)
		drop_event(melyint_evq_pop(&events));
}

static void
drop_color(struct mely_color *color)
{
	/* relaxed, all: one thread */
	drop_list(melyint_evq_join(MELY_LOAD(&color->_heads, relaxed), color->_tails));
	MELY_STORE(&color->_heads, NULL, relaxed);
	color->_tails = NULL;
	if (!(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_RELEASED))
		memset(&color->_u, 0, sizeof color->_u);
	MELY_STORE(&color->_state, MELYINT_COLOR_IDLE, relaxed);
}

/* Forget a batch that a thread of the parent was running. Its lists may be torn, so its embedded
 * events keep their state, and its pooled ones are lost. */
static void
drop_batch(struct melyint_core *core)
{
	struct melyint_batch *batch = &core->batch;

	if (batch->color != NULL)
		drop_color(batch->color);
	batch->heads = batch->tails = batch->own = NULL;
	memset(&core->outbox, 0, sizeof core->outbox); /* its pooled events are lost, too */
	batch->color = NULL;
	batch->direct = NULL;
	batch->color_id = MELYINT_NO_ID;
	batch->gone = 0;
	core->due.leaving = core->due.released = NULL;
	core->due.unmarked = 0;
	core->sampling.batches_left = core->sampling.plain_left = 1;
	core->sampling.away = false;
	core->others.relieved = NULL;
	core->others.owes_sentry = false;
	core->locked.waiters = NULL;
	core->locked.has_batch = core->locked.attended = false;
	core->locked.waits = core->locked.searching = core->pace.outside = false;
	melyint_tallies_rest(&core->tallies);
	/* relaxed, all: one thread */
	MELY_STORE(&core->shown.running, NULL, relaxed);
	MELY_STORE(&core->shown.current, NULL, relaxed);
	MELY_STORE(&core->locked.sleep, MELYINT_AWAKE, relaxed);
	MELY_STORE(&core->hint.moving, 0, relaxed);
	MELY_STORE(&core->hint.busy, 0, relaxed);
	MELY_STORE(&core->loan.load, 0, relaxed);
	MELY_STORE(&core->loan.lends_to, NULL, relaxed);
	MELY_STORE(&core->loan.borrows, false, relaxed);
}

int
mely_runtime_renew(struct mely_runtime *rt)
{
	int i, error;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL)
		return -EINVAL;
	/* acquire: pairs with the store in after_in_child */
	if (MELY_LOAD(&rt->phase, acquire) != MELYINT_FORKED)
		return -EINVAL;
	for (i = 0; i < rt->cores_count; i++) {
		struct melyint_core *core = &rt->cores[i];
		struct mely_color *color;

		drop_batch(core);
		melyint_core_forget_worthy(core);
		melyint_lock_take(&core->lock); /* no other thread wants it; for assertions */
		while ((color = melyint_coreq_first(&core->ready)) != NULL) {
			melyint_core_unlink(core, color);
			drop_color(color);
		}
		melyint_lock_drop(&core->lock);
		/* A thread that does not exist here may have been changing the stock. */
		melyint_pool_init(&core->pool, &rt->depot);
	}
	melyint_colortab_renew(rt->colors);
	melyint_marks_renew(rt->colorext);
	rt->life.left = NULL;
	/* A thread that does not exist here may hold it. */
	pthread_mutex_init(&rt->walks.lock, NULL);
	rt->life.threads = 0;
	rt->life.attended = rt->life.once_started = false;
	/* relaxed, all: one thread */
	for (i = 0; i < rt->domains_count; i++) {
		MELY_STORE(&rt->domains[i].sleepers, 0, relaxed);
		MELY_STORE(&rt->domains[i].searching, 0, relaxed);
	}
	MELY_STORE(&rt->idle.domains, 0, relaxed);
	MELY_STORE(&rt->idle.sentries, 0, relaxed);
	MELY_STORE(&rt->flow.arriving, 0, relaxed);
	MELY_STORE(&rt->flow.embedded, false, relaxed);
	MELY_AND(&rt->flow.direct, MELYINT_DIRECT_MARKS, relaxed); /* no trim is under way */
	error = melyint_io_renew(rt);
	if (error == 0)
		error = melyint_monitor_renew(rt);
	if (error == 0)
		error = melyint_stall_renew(rt);
	if (error == 0)
		error = melyint_age_renew(rt);
	if (error == 0)
		error = melyint_spare_renew(rt);
	if (error == 0)
		MELY_STORE(&rt->phase, MELYINT_IDLE, release); /* as in cycle.c */
	if (error == 0)
		melyint_live_renew(rt);
	return error;
}
