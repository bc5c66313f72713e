/* SPDX-License-Identifier: MIT */
/*
 * timers.cc: a table of timers and one timer of libmely, set to the first of them. When it expires,
 * `expire`, an event of a separate color, takes the due timers out of the table and posts an event
 * with the name of each timer to the timer's color. A new first timer resets libmely's timer; the
 * removal of the first timer does not: then expire finds nothing to do.
 */
#include "timers.h"

#include <cstring>
#include <mely/io.h>

#include "loop.h"
#include "post.h"
#include "quiet.h"
#include "say.h"

namespace melycompat {

namespace {

struct timers {
	timer_table table{false};
	/* Under the table's lock. */
	bool started = false;
	mely_watch watch = 0;    /* libmely's timer, set to armed_ns; 0: none */
	uint64_t armed_ns = 0;
	uint64_t armings = 0;    /* the number of the last arming: the argument of expire */
};

alignas(64) mely_color expire_color;

/* Created on first use, possibly before the constructors of this file; never destroyed: other
 * threads may outlive the exit functions. */
timers &
all()
{
	static timers *const t = new timers;

	return *t;
}

void expire(void *arming);

mely_handler expire_handler = MELY_HANDLER_WITH(expire, 0, 0, MELY_PRIORITY_MAX);

/* Under the lock. */
void
arm(timers &t)
{
	mely_runtime *rt = runtime();
	uint64_t due_ns = t.table.look_ns();
	int error;

	if (!t.started || due_ns == UINT64_MAX || (t.watch != 0 && t.armed_ns <= due_ns))
		return;
	if (t.watch != 0)
		/* If it is too late, expire runs once more. */
		(void)mely_watch_stop(rt, t.watch, nullptr, nullptr);
	t.armings++;
	t.armed_ns = due_ns;
	error = mely_timer_start(&expire_color, due_ns, 0, MELY_TIMER_WALL, &expire_handler,
	    reinterpret_cast<void *>(t.armings), &t.watch);
	if (error == 0)
		return;
	t.watch = 0;
	if (error != -ESHUTDOWN && error != -ECHILD)
		die("cannot set a timer: %s", std::strerror(-error));
}

void
run(void *name)
{
	(void)all().table.run(reinterpret_cast<uint64_t>(name));
}

void
expire(void *arming)
{
	timers &t = all();
	guard locked(t.table.lock);
	mely_runtime *rt = runtime();
	uint64_t now_ns = timer_now_ns(), name;
	job j;

	if (reinterpret_cast<uint64_t>(arming) == t.armings)
		t.watch = 0;
	while ((name = t.table.take_due(now_ns, UINT64_MAX, &j)) != 0)
		if (post_for(rt, j, run, reinterpret_cast<void *>(name)) == -ENOMEM)
			die("out of memory for an event");
	arm(t);
}

}

/* The child of a fork can still remove timers, so the fork holds the lock. */
static void
before_fork()
{
	quiet unseen;

	all().table.lock.lock();
}

static void
after_fork()
{
	quiet unseen;

	all().table.lock.unlock();
}

uint64_t
timer_add(uint64_t due_ns, const job &j)
{
	timers &t = all();

	(void)color_id(j.color); /* report an error before taking the lock */
	give(j.callback);
	guard locked(t.table.lock);
	uint64_t name = t.table.add(due_ns, j);
	arm(t);
	return name;
}

timer_removal
timer_remove(uint64_t name)
{
	return all().table.remove(name);
}

timer_table &
timers_held()
{
	return all().table;
}

void
timers_start(mely_runtime *rt)
{
	timers &t = all();
	guard locked(t.table.lock);

	if (!t.started && mely_color_init(&expire_color, rt) != 0)
		die("no color for the timers");
	/* At a fork libmely takes its locks after this one. */
	if (!t.started)
		(void)pthread_atfork(before_fork, after_fork, after_fork);
	t.started = true;
	t.watch = 0;
	arm(t);
}

bool
timers_handback(void (*fn)(void *arg), void *arg)
{
	if (fn == run)
		(void)timer_remove(reinterpret_cast<uint64_t>(arg));
	return fn == run || fn == expire;
}

}
