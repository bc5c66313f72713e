/* SPDX-License-Identifier: MIT */
/*
 * delays.cc: timers. Those of color 0 are in a separate table; passes run them, and the wait set
 * wakes the loop for the earliest. Those of other colors belong to the runtime (src/timers.h).
 * Before amain there are no workers, and passes run all timers.
 */
#include "delays.h"

#include <pthread.h>

#include "../src/loop.h"
#include "../src/quiet.h"
#include "../src/timers.h"
#include "posts.h"
#include "wait.h"

namespace melycompat {

namespace {

struct delays {
	timer_table table{true};
	uint64_t armed_ns = UINT64_MAX; /* the time when the wait set wakes up; under the lock */
};

/* Never destroyed: other threads may outlive the exit functions. */
delays &
all()
{
	static delays *const d = new delays;

	return *d;
}

/* As in src/timers.cc; its lock is taken after this one. */
void
before_fork()
{
	quiet unseen;

	all().table.lock.lock();
}

void
after_fork()
{
	quiet unseen;

	all().table.lock.unlock();
}

/* The earliest time of the timers that the runtime does not run yet, as it has not started. */
uint64_t
held_ns()
{
	timer_table &held = timers_held();

	if (runtime() != nullptr)
		return UINT64_MAX;
	guard locked(held.lock);
	return held.look_ns();
}

/* Under the lock. */
void
arm(delays &d)
{
	uint64_t first_ns = d.table.look_ns(), others_ns = held_ns();

	if (others_ns < first_ns)
		first_ns = others_ns;
	if (first_ns >= d.armed_ns || !wait_is_open())
		return;
	if (first_ns <= timer_now_ns()) {
		wait_soon();
		return;
	}
	d.armed_ns = first_ns;
	wait_until(first_ns);
}

/* Run the first timer of a table that is due and older than age_end. False: there is none. */
bool
run_first(timer_table &table, uint64_t now_ns, uint64_t age_end)
{
	int outer = color_in_acheck;
	uint64_t name;
	job j;

	{
		guard locked(table.lock);
		name = table.take_due(now_ns, age_end, &j);
	}
	if (name == 0)
		return false;
	color_in_acheck = j.color < 0 ? j.color : static_cast<int>(color_id(j.color));
	(void)table.run(name);
	color_in_acheck = outer;
	return true;
}

uint64_t
first_of(timer_table &table)
{
	guard locked(table.lock);

	return table.first_ns();
}

uint64_t
age_end(timer_table &table)
{
	guard locked(table.lock);

	return table.ages();
}

/* Before amain: run the timers of all colors, in the order of their times. */
void
run_all(timer_table &own, uint64_t now_ns, uint64_t own_end)
{
	timer_table &held = timers_held();
	uint64_t held_end = age_end(held);
	bool any = true;

	while (any && runtime() == nullptr) {
		if (first_of(held) < first_of(own))
			any = run_first(held, now_ns, held_end) || run_first(own, now_ns, own_end);
		else
			any = run_first(own, now_ns, own_end) || run_first(held, now_ns, held_end);
	}
}

}

uint64_t
delay_add(uint64_t due_ns, const job &j)
{
	delays &d = all();
	uint64_t name = 0;

	if (is_main(j.color))
		give(j.callback);
	if (!is_main(j.color)) {
		name = timer_add(due_ns, j);
		if (runtime() != nullptr)
			return name;
	}
	guard locked(d.table.lock);
	if (is_main(j.color))
		name = d.table.add(due_ns, j);
	arm(d);
	return name;
}

timer_removal
delay_remove(uint64_t name)
{
	return timer_table::bit_of(name) ? all().table.remove(name) : timer_remove(name);
}

void
delays_run(bool woken)
{
	delays &d = all();
	/* A timer without delay that one of these callbacks arms runs in the next pass. */
	uint64_t now_ns = timer_now_ns(), end = age_end(d.table);

	if (woken) {
		guard locked(d.table.lock);
		d.armed_ns = UINT64_MAX;
	}
	if (runtime() == nullptr)
		run_all(d.table, now_ns, end);
	while (run_first(d.table, now_ns, end))
		continue;
	guard locked(d.table.lock);
	arm(d);
	if (woken && d.armed_ns == UINT64_MAX)
		wait_until(UINT64_MAX);
}

void
delays_start()
{
	delays &d = all();
	guard locked(d.table.lock);

	d.armed_ns = UINT64_MAX;
	arm(d);
}

void
delays_fork_safely()
{
	(void)pthread_atfork(before_fork, after_fork, after_fork);
}

}
