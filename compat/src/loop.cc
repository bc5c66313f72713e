/* SPDX-License-Identifier: MIT */
/*
 * loop.cc: how many workers there are, making the runtime, running and stopping it.
 *
 * NOTE(turns)
 *   The old runtime ran one event of a color per turn, and programs of few events show it: the
 *   order of their output. libmely runs up to a batch of 10 in a row, which is what makes it fast
 *   when there are many. So: one event per turn until a worker has run STRICT_EVENTS of them, and
 *   for good in a program that uses priorities, to which the order of the turns matters. Who sets
 *   MELY_BATCH gets that.
 */
#include "loop.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <signal.h>
#include <unistd.h>

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
std::atomic<bool> running;          /* amain has been entered and has not come back */
std::atomic<int> stopped;           /* workers that are to stop */
const dialect *program;             /* set before main */
bool batch_is_set;                  /* by MELY_BATCH; set before main */
std::mutex made_lock;
mely_runtime *made;                 /* under made_lock: perhaps not published yet */
pid_t made_by;                      /* the same */
std::mutex turns_lock;
bool strict;                        /* for good: NOTE(turns); under turns_lock */
std::atomic<bool> strict_seen;      /* the same, for a glance */
mely_counters counted[WORKERS_MAX]; /* when reset_runtime_stats was called; under counted_lock */
std::mutex counted_lock;

int
usable()
{
	int cores = config.cores != 0 ? config.cores : mely_cores_usable();

	if (cores <= WORKERS_MAX)
		return cores;
	return WORKERS_MAX;
}

/* Old programs print to standard error what others read. */
void
reports_only_on_demand()
{
	if (!program->reports && std::getenv("MELY_STALL_MS") == nullptr)
		config.stall_ms = 0;
	if (!program->reports && std::getenv("MELY_AGE_MS") == nullptr)
		config.age_ms = 0;
}

/* An event that the stop left over. */
void
handback(void *, mely_color *, mely_handler *handler, void *arg, mely_event *ev)
{
	if (ev != nullptr || timers_handback(handler->fn, arg))
		return;
	if (handler->fn == program->callbacks->posted && program->callbacks->owned(arg))
		program->callbacks->free(arg);
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
		die("the runtime can not be made: %s", std::strerror(-error));
	for (i = 0; i < workers; i++) {
		error = mely_color_of_id(rt, static_cast<uint32_t>(-(i + 1)), &pinned[i]);
		if (error == 0)
			error = mely_color_pin(pinned[i], i);
		if (error != 0)
			die("no color for worker %d: %s", i, std::strerror(-error));
	}
	return rt;
}

/* Made already, of this process or of the one that forked it. Under made_lock. */
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
			die("the runtime can not be renewed: %s", std::strerror(-error));
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
		(void)mely_config_init(&config); /* says itself what it can not read */
		workers = usable();
		batch_is_set = std::getenv("MELY_BATCH") != nullptr;
		program = of;
		reports_only_on_demand();
	}
	if (wanted > WORKERS_MAX)
		die("NB_THREADS is %d: there can be %d workers", wanted, WORKERS_MAX);
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
		return pinned[0]; /* any will do: whatever is asked of it says the same */
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
	say("a callback ended its thread; a worker is not the program's to end");
	std::abort();
}

/* ---- the life of the loop ---- */

/* In the child of a fork callbacks can be posted still, and priorities used. */
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

/* libmely, which has been made, takes its locks after these, as ever. */
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
		die("amain is running already");
	if (rt == nullptr) {
		rt = runtime_for_helpers();
		fork_safely();
		post_held(rt);
	}
	timers_start(rt);
	program->starting(rt);
	error = mely_run(rt);
	if (error != 0)
		die("the workers can not run: %s", std::strerror(-error));
	stopped.store(0, std::memory_order_relaxed); /* nobody runs */
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

void
workers_reset()
{
	guard locked(counted_lock);
	mely_runtime *rt = runtime();
	int i;

	for (i = 0; rt != nullptr && i < workers; i++)
		(void)mely_counters_read(rt, i, &counted[i], sizeof counted[i]);
}

void
worker_print(int worker)
{
	guard locked(counted_lock);
	mely_runtime *rt = runtime();
	mely_counters now = {}, then = counted[worker];

	if (rt != nullptr)
		(void)mely_counters_read(rt, worker, &now, sizeof now);
	say("worker %d: %llu events, %llu steals, %llu polls, %llu sleeps", worker,
	    static_cast<unsigned long long>(now.events - then.events),
	    static_cast<unsigned long long>(now.steals - then.steals),
	    static_cast<unsigned long long>(now.polls - then.polls),
	    static_cast<unsigned long long>(now.sleeps - then.sleeps));
}

}
