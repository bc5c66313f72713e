/* SPDX-License-Identifier: MIT */
/*
 * loop.cc: the number of workers; creating, running and stopping the runtime.
 *
 * NOTE(turns)
 *   The old runtime ran one event of a color per turn, and programs with few events show this in
 *   the order of their output. libmely runs a batch of up to 10 events, which is faster when many
 *   are pending. So a worker runs one event per turn until it has run STRICT_EVENTS. In a program
 *   that uses priorities, to which the order of the turns matters, this is permanent. MELY_BATCH
 *   overrides both.
 */
#include "loop.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <signal.h>
#include <unistd.h>
#include <mely/stats.h>

#include "handlers.h"
#include "job.h"
#include "post.h"
#include "quiet.h"
#include "say.h"
#include "timers.h"

namespace melycompat {

enum {
	STRICT_EVENTS = 4096,
	BATCH_EVENTS = 10
};

std::atomic<mely_runtime *> the_runtime;
__thread unsigned events_left = STRICT_EVENTS;

namespace {

mely_config config;                 /* set before main */
int workers;                        /* set before main */
mely_color *pinned[WORKERS_MAX];    /* set before the runtime is published */
std::atomic<bool> running;          /* a thread is in amain */
std::atomic<int> stopped;           /* calls of loop_stop_one */
const dialect *program;             /* set before main */
bool batch_is_set;                  /* by MELY_BATCH; set before main */
std::mutex made_lock;
mely_runtime *made;                 /* under made_lock: possibly not published yet */
pid_t made_by;                      /* under made_lock */
std::mutex turns_lock;
bool strict;                        /* permanent: NOTE(turns); under turns_lock */
std::atomic<bool> strict_seen;      /* a copy, readable without the lock */
mely_counters counted[WORKERS_MAX]; /* at the last reset_runtime_stats; under counted_lock */
std::mutex counted_lock;

int
usable()
{
	int cores = config.cores != 0 ? config.cores : mely_cores_usable();

	if (cores <= WORKERS_MAX)
		return cores;
	return WORKERS_MAX;
}

/* Other programs may read the standard error of an old program. */
void
reports_only_on_demand()
{
	if (!program->reports && std::getenv("MELY_STALL_MS") == nullptr)
		config.stall_ms = 0;
	if (!program->reports && std::getenv("MELY_AGE_MS") == nullptr)
		config.age_ms = 0;
}

/* An event that the stop handed back. */
void
handback(void *, const mely_handback *left)
{
	if (left->event != nullptr || timers_handback(left->handler->fn, left->arg))
		return;
	if (left->handler->fn == program->callbacks->posted &&
	    program->callbacks->owned(left->arg))
		program->callbacks->free(left->arg);
}

mely_runtime *
make()
{
	mely_runtime *rt;
	int error, i;

	config.cores = workers;
	config.priority_rule = MELY_PRIORITY_LAST_POST;
	config.handback = handback;
	if (!batch_is_set)
		config.batch_events = 1; /* NOTE(turns) */
	error = mely_runtime_new(&rt, &config);
	if (error != 0)
		die("cannot create the runtime: %s", std::strerror(-error));
	for (i = 0; i < workers; i++) {
		error = mely_color_of_id(rt, static_cast<uint32_t>(-(i + 1)), &pinned[i]);
		if (error == 0)
			error = mely_color_pin(pinned[i], i);
		if (error != 0)
			die("no color for worker %d: %s", i, std::strerror(-error));
	}
	return rt;
}

/* Already created, by this process or the one that forked it. Under made_lock. */
mely_runtime *
made_here()
{
	int error;

	if (made != nullptr && made_by == getpid())
		return made;
	if (made == nullptr) {
		made = make();
	} else {
		error = mely_runtime_renew(made);
		if (error != 0)
			die("cannot renew the runtime: %s", std::strerror(-error));
	}
	made_by = getpid();
	return made;
}

/* Under turns_lock. */
void
set_batch(uint32_t events)
{
	mely_runtime *rt = runtime();

	if (rt != nullptr && !batch_is_set)
		(void)mely_set_batch(rt, events);
}

}

void
loop_init(int wanted, const dialect *of)
{
	static bool begun; /* before main: one thread */

	if (!begun) {
		begun = true;
		signal(SIGPIPE, SIG_IGN);
		(void)mely_config_init(&config); /* prints its own errors */
		workers = usable();
		batch_is_set = std::getenv("MELY_BATCH") != nullptr;
		program = of;
		reports_only_on_demand();
	}
	if (wanted > WORKERS_MAX)
		die("NB_THREADS: %d workers are more than %d", wanted, WORKERS_MAX);
	if (wanted > 0)
		workers = wanted;
}

mely_runtime *
runtime_for_helpers()
{
	guard locked(made_lock);
	mely_runtime *rt = runtime();

	return rt != nullptr ? rt : made_here();
}

int
loop_workers()
{
	return workers;
}

uint32_t
color_id(int color)
{
	if (__builtin_expect(color >= 0, 1))
		return static_cast<uint32_t>(color % COLORS_MAX);
	if (color < -workers)
		die("color %d: there are %d workers", color, workers);
	return static_cast<uint32_t>(color);
}

mely_color *
color_object(mely_runtime *rt, int color)
{
	uint32_t id = color_id(color);
	mely_color *object;
	int error;

	if (color < 0)
		return pinned[-(color + 1)];
	error = mely_color_of_id(rt, id, &object);
	if (error == -ECHILD)
		return pinned[0]; /* any color: each call on it returns -ECHILD, too */
	if (error != 0)
		die("no memory for color %d", color);
	return object;
}

/* ---- turns ---- */

void
strict_is_over()
{
	guard locked(turns_lock);

	if (!strict)
		set_batch(BATCH_EVENTS);
}

void
priorities_used()
{
	/* relaxed: it only saves the lock */
	if (strict_seen.load(std::memory_order_relaxed))
		return;
	guard locked(turns_lock);
	strict = true;
	set_batch(1);
	strict_seen.store(runtime() != nullptr, std::memory_order_relaxed);
}

void
thread_may_not_exit()
{
	say("a callback ended its thread, but the thread belongs to the runtime");
	std::abort();
}

/* ---- the life of the loop ---- */

/* The child of a fork can still post callbacks and use priorities. */
static void
before_fork()
{
	quiet unseen;

	made_lock.lock();
	turns_lock.lock();
}

static void
after_fork()
{
	quiet unseen;

	turns_lock.unlock();
	made_lock.unlock();
}

/* libmely registered its fork handlers first, so it takes its locks after these. */
static void
fork_safely()
{
	handlers_fork_safely();
	(void)pthread_atfork(before_fork, after_fork, after_fork);
}

void
loop_run()
{
	mely_runtime *rt = runtime();
	int error;

	/* acq_rel: one amain at a time; pairs with the release below */
	if (running.exchange(true, std::memory_order_acq_rel))
		die("amain is already running");
	if (rt == nullptr) {
		rt = runtime_for_helpers();
		fork_safely();
		post_held(rt);
	}
	timers_start(rt);
	program->starting(rt);
	error = mely_run(rt);
	if (error != 0)
		die("cannot run the workers: %s", std::strerror(-error));
	stopped.store(0, std::memory_order_relaxed); /* no worker runs */
	running.store(false, std::memory_order_release); /* pairs with the exchange above */
}

void
loop_stop_one()
{
	mely_runtime *rt = runtime();

	/* relaxed: a count; mely_stop orders the rest */
	if (rt != nullptr && stopped.fetch_add(1, std::memory_order_relaxed) + 1 == workers)
		(void)mely_stop(rt, MELY_STOP_DISCARD);
}

/* ---- looking at it ---- */

/* What the worker has counted; zeros where the runtime does not exist or memory is short. */
static mely_counters
counters_of(int worker)
{
	mely_runtime *rt = runtime();
	mely_counters counters = {};
	mely_stats *stats;

	if (rt == nullptr || mely_stats_take(rt, MELY_STATS_COUNTERS, 0, &stats) != 0)
		return counters;
	if (worker < mely_cores(rt))
		counters = mely_stats_core_row(stats, static_cast<uint32_t>(worker))->counters;
	mely_stats_free(stats);
	return counters;
}

void
workers_reset()
{
	guard locked(counted_lock);
	int i;

	for (i = 0; i < workers; i++)
		counted[i] = counters_of(i);
}

void
worker_print(int worker)
{
	guard locked(counted_lock);
	mely_counters now = counters_of(worker), then = counted[worker];

	say("worker %d: %llu events, %llu steals, %llu polls, %llu sleeps", worker,
	    static_cast<unsigned long long>(now.events - then.events),
	    static_cast<unsigned long long>(now.steals - then.steals),
	    static_cast<unsigned long long>(now.polls - then.polls),
	    static_cast<unsigned long long>(now.sleeps - then.sleeps));
}

}
