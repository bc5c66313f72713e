/* SPDX-License-Identifier: MIT */
/*
 * post.cc: posting callbacks, and what has to wait for amain.
 *
 * NOTE(held)
 *   Before amain there is no runtime, because a runtime does not outlive a fork, and programs fork
 *   then. What is posted goes into a plain list, under a lock; amain makes the runtime, hands it
 *   the list, and publishes it, all under the same lock. So whoever finds no runtime under the lock
 *   is in time for the list.
 */
#include "post.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "handlers.h"
#include "loop.h"
#include "quiet.h"
#include "say.h"

namespace melycompat {

namespace {

struct held_post {
	job j;
	bool head;
	int timeleft;
};

std::mutex held_lock;
std::vector<held_post> *held; /* under held_lock; NULL when there are none */

#if defined(__x86_64__) || defined(__i386__)
enum { CALIBRATE_NS = 1000000 };

/* How long a cycle of the time stamp counter is. */
double
cycle_ns()
{
	using clock = std::chrono::steady_clock;
	clock::time_point begin = clock::now(), end;
	unsigned long long first = __builtin_ia32_rdtsc(), last;

	do {
		end = clock::now();
		last = __builtin_ia32_rdtsc();
	} while (end - begin < std::chrono::nanoseconds(CALIBRATE_NS) || last == first);
	return std::chrono::duration<double, std::nano>(end - begin).count() /
	    static_cast<double>(last - first);
}
#else
double
cycle_ns()
{
	return 1;
}
#endif

/* A time-left is in cycles; of none, or a negative one, nothing is known. */
uint32_t
ns_of_cycles(int cycles)
{
	static const double ns = cycle_ns();

	return cycles <= 0 ? 0 : static_cast<uint32_t>(cycles * ns) + 1;
}

int
post_now(mely_runtime *rt, const job &j, bool head, int timeleft)
{
	mely_handler *handler = handler_for(j.ops->posted, j.faddr, j.priority);

	if (head)
		return mely_color_post_head(color_object(rt, j.color), handler, j.callback);
	if (timeleft > 0)
		return mely_color_post_timed(color_object(rt, j.color), handler, j.callback,
		    ns_of_cycles(timeleft));
	if (j.color < 0)
		return mely_color_post(color_object(rt, j.color), handler, j.callback);
	return mely_post(rt, color_id(j.color), handler, j.callback);
}

void
post_or_drop(mely_runtime *rt, const job &j, bool head, int timeleft)
{
	int error = post_now(rt, j, head, timeleft);

	if (__builtin_expect(error == 0, 1))
		return;
	if (error == -ENOMEM)
		die("out of memory for an event");
	/* The workers are stopping, or this is the child of a fork: it will not run. */
	j.free_if_owned();
}

/* NOTE(held). False: there is a runtime by now. */
bool
hold(const job &j, bool head, int timeleft)
{
	guard locked(held_lock);

	if (runtime() != nullptr)
		return false;
	if (held == nullptr)
		held = new std::vector<held_post>;
	held->push_back(held_post{j, head, timeleft});
	return true;
}

}

void
post(const job &j, bool head, int timeleft)
{
	mely_runtime *rt = runtime();

	if (__builtin_expect(j.priority != 0, 0))
		priorities_used();
	if (__builtin_expect(rt == nullptr, 0)) {
		(void)color_id(j.color); /* what is wrong is said here, not in amain */
		if (hold(j, head, timeleft))
			return;
		rt = runtime();
	}
	post_or_drop(rt, j, head, timeleft);
}

void
post_held(mely_runtime *rt)
{
	guard locked(held_lock);

	if (held != nullptr)
		for (const held_post &p : *held)
			post_or_drop(rt, p.j, p.head, p.timeleft);
	delete held;
	held = nullptr;
	/* release: pairs with the acquire in runtime(); under the lock: NOTE(held) */
	the_runtime.store(rt, std::memory_order_release);
}

bool
held_run(void (*run)(const job &j))
{
	guard locked(held_lock);
	std::vector<held_post> *taken = held;

	held = nullptr;
	locked.unlock();
	if (taken == nullptr)
		return false;
	for (int heads = 1; heads >= 0; heads--)
		for (const held_post &p : *taken)
			if (p.head == (heads == 1))
				run(p.j);
	delete taken;
	return true;
}

int
post_for(mely_runtime *rt, const job &j, void (*fn)(void *arg), void *arg)
{
	mely_handler *handler = handler_for(fn, j.faddr, j.priority);

	if (j.color < 0)
		return mely_color_post(color_object(rt, j.color), handler, arg);
	return mely_post(rt, color_id(j.color), handler, arg);
}

}
