/* SPDX-License-Identifier: MIT */
/*
 * timers.cc: all timers of the program, in one order.
 *
 * NOTE(timers)
 *   The old libraries keep their timers in one tree, so that those of one time run in the order in
 *   which they were armed, and programs rely on it. So do we: a map by time and age, under a lock,
 *   and one timer of libmely, set to the first of them.
 *   A. A timer WAITS in the map; when its time has come `expire`, an event of a color of its own,
 *      takes it out and posts an event to its color: it is DUE. That event makes it RUN; when the
 *      callback has returned, its place is free.
 *   B. What the event carries is the timer's name: place and generation. A timer that is removed
 *      while it is DUE gives its place a new generation, so its event finds nothing; whoever has
 *      removed it frees the callback. So a removal is exact from any color, but for one that RUNS.
 *   C. libmely's timer is set anew when an earlier one comes, never when the first goes: then
 *      expire finds nothing to do.
 */
#include "timers.h"

#include <cstring>
#include <deque>
#include <map>
#include <mely/io.h>
#include <mutex>
#include <pthread.h>

#include "loop.h"
#include "post.h"
#include "say.h"

namespace melycompat {

static_assert(sizeof(void *) == 8, "a timer's name has to fit into a pointer");

namespace {

enum { PLACE_BITS = 24 };

enum state { FREE, WAITS, DUE, RUNS };

struct place {
	uint64_t generation = 1;
	state stage = FREE;
	job j = {};
	uint64_t due_ns = 0;
	uint64_t age = 0;
	pthread_t runner = {};   /* while it RUNS */
	uint32_t next_free = 0;
};

/* All under the lock. */
struct timers {
	std::mutex lock;
	std::deque<place> places;
	uint32_t first_free = 0; /* index + 1 */
	std::map<std::pair<uint64_t, uint64_t>, uint32_t> order; /* (due, age): place */
	uint64_t ages = 0;
	bool started = false;
	mely_watch watch = 0;    /* libmely's timer, set to armed_ns; 0: none */
	uint64_t armed_ns = 0;
	uint64_t armings = 0;    /* which one it is: the argument of expire */
};

alignas(64) mely_color expire_color;

/* Made when it is needed, which may be before this file's own start; never destroyed: other threads
 * may outlive the exit functions. */
timers &
all()
{
	static timers *const t = new timers;

	return *t;
}

uint64_t
name_of(const timers &t, uint32_t index)
{
	return t.places[index].generation << PLACE_BITS | (index + 1);
}

/* The place that a name means, if it still does; else NULL. */
place *
find(timers &t, uint64_t name)
{
	uint32_t index = static_cast<uint32_t>(name & ((1u << PLACE_BITS) - 1)) - 1;

	if (index >= t.places.size())
		return nullptr;
	place *p = &t.places[index];
	return p->stage != FREE && p->generation == name >> PLACE_BITS ? p : nullptr;
}

uint32_t
place_new(timers &t)
{
	uint32_t index = t.first_free;

	if (index != 0) {
		t.first_free = t.places[index - 1].next_free;
		return index - 1;
	}
	if (t.places.size() + 1 >= 1u << PLACE_BITS)
		fatal("%zu timers are too many", t.places.size());
	t.places.emplace_back();
	return static_cast<uint32_t>(t.places.size() - 1);
}

void
place_free(timers &t, place *p, uint64_t name)
{
	p->stage = FREE;
	p->generation++;
	p->next_free = t.first_free;
	t.first_free = static_cast<uint32_t>(name & ((1u << PLACE_BITS) - 1));
}

void expire(void *arming);
void run(void *name);

mely_handler expire_handler = MELY_HANDLER_WITH(expire, 0, 0, MELY_PRIORITY_MAX);

/* C of NOTE(timers). */
void
arm(timers &t)
{
	mely_runtime *rt = runtime();
	int error;

	if (!t.started || t.order.empty())
		return;
	uint64_t due_ns = t.order.begin()->first.first;
	if (t.watch != 0 && t.armed_ns <= due_ns)
		return;
	if (t.watch != 0)
		(void)mely_timer_stop(rt, t.watch); /* if it is too late, expire comes once more */
	t.armings++;
	t.armed_ns = due_ns;
	error = mely_timer_start(&expire_color, due_ns, 0, MELY_TIMER_WALL, &expire_handler,
	    reinterpret_cast<void *>(t.armings), &t.watch);
	if (error == 0)
		return;
	t.watch = 0;
	if (error != -ESHUTDOWN && error != -ECHILD)
		fatal("a timer can not be set: %s", std::strerror(-error));
}

/* A of NOTE(timers). */
void
expire(void *arming)
{
	timers &t = all();
	std::lock_guard<std::mutex> guard(t.lock);
	mely_runtime *rt = runtime();
	uint64_t now_ns = timer_now_ns();

	if (reinterpret_cast<uint64_t>(arming) == t.armings)
		t.watch = 0;
	while (!t.order.empty() && t.order.begin()->first.first <= now_ns) {
		uint32_t index = t.order.begin()->second;
		place &p = t.places[index];

		t.order.erase(t.order.begin());
		p.stage = DUE;
		if (post_for(rt, p.j, run, reinterpret_cast<void *>(name_of(t, index))) == -ENOMEM)
			fatal("out of memory for an event");
	}
	arm(t);
}

void
run(void *arg)
{
	timers &t = all();
	uint64_t name = reinterpret_cast<uint64_t>(arg);
	std::unique_lock<std::mutex> guard(t.lock);
	place *p = find(t, name);

	if (p == nullptr) /* B of NOTE(timers) */
		return;
	p->stage = RUNS;
	p->runner = pthread_self();
	job j = p->j;
	guard.unlock();
	j.ops->run(j.callback);
	j.free_if_owned();
	guard.lock();
	place_free(t, p, name);
}

}

uint64_t
timer_now_ns()
{
	timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return timer_ns(now.tv_sec, now.tv_nsec);
}

uint64_t
timer_ns(time_t sec, long long nsec)
{
	__int128 ns = static_cast<__int128>(sec) * 1000000000 + nsec;

	if (ns < 0)
		return 0;
	return ns > INT64_MAX ? INT64_MAX : static_cast<uint64_t>(ns);
}

uint64_t
timer_add(uint64_t due_ns, const job &j)
{
	timers &t = all();

	(void)color_id(j.color); /* what is wrong is said without the lock */
	std::lock_guard<std::mutex> guard(t.lock);
	uint32_t index = place_new(t);
	place &p = t.places[index];
	p.stage = WAITS;
	p.j = j;
	p.due_ns = due_ns;
	p.age = t.ages++;
	t.order.emplace(std::make_pair(due_ns, p.age), index);
	arm(t);
	return name_of(t, index);
}

timer_removal
timer_remove(uint64_t name)
{
	timers &t = all();
	std::unique_lock<std::mutex> guard(t.lock);
	place *p = find(t, name);

	if (p == nullptr)
		return TIMER_INVALID;
	if (p->stage == RUNS)
		return pthread_equal(p->runner, pthread_self()) ?
		    TIMER_INVALID : TIMER_RUNS_ELSEWHERE;
	if (p->stage == WAITS)
		t.order.erase(std::make_pair(p->due_ns, p->age));
	job j = p->j;
	place_free(t, p, name);
	guard.unlock();
	j.free_if_owned();
	return TIMER_REMOVED;
}

void
timers_start(mely_runtime *rt)
{
	timers &t = all();
	std::lock_guard<std::mutex> guard(t.lock);

	if (!t.started && mely_color_init(&expire_color, rt) != 0)
		fatal("no color for the timers");
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
