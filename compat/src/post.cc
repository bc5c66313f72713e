/* SPDX-License-Identifier: MIT */
/*
 * post.cc: posting callbacks, and holding them before amain.
 *
 * NOTE(held)
 *   No runtime exists before amain, because a runtime does not survive a fork, and programs fork
 *   there. Posts go into a plain list, under a lock; amain creates the runtime, hands it the list,
 *   and publishes it, all under that lock. So a post that finds no runtime under the lock can still
 *   join the list.
 */
#include "post.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>

#include "handlers.h"
#include "loop.h"
#include "quiet.h"
#include "say.h"

namespace melycompat {

namespace {

struct held_post {
	job j;
	int timeleft;
	uint64_t number; /* of earlier posts */
};

struct held_posts {
	std::deque<held_post> heads, tails;
	uint64_t posted = 0;

	size_t size() const { return heads.size() + tails.size(); }
};

std::mutex held_lock;
held_posts *held; /* under held_lock; NULL without posts */

#if defined(__x86_64__) || defined(__i386__)
enum { CALIBRATE_NS = 1000000 };

/* The length of a cycle of the time stamp counter. */
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

/* A time-left is in cycles; 0 or less means unknown. */
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

	if (head && j.color >= 0)
		return mely_post_head_id(rt, color_id(j.color), handler, j.callback);
	if (head)
		return mely_post_head(color_object(rt, j.color), handler, j.callback);
	if (timeleft > 0)
		return mely_post_timed(color_object(rt, j.color), handler, j.callback,
		    ns_of_cycles(timeleft));
	if (j.color < 0)
		return mely_post(color_object(rt, j.color), handler, j.callback);
	return mely_post_id(rt, color_id(j.color), handler, j.callback);
}

void
post_or_drop(mely_runtime *rt, const job &j, bool head, int timeleft)
{
	int error = post_now(rt, j, head, timeleft);

	if (__builtin_expect(error == 0, 1))
		return;
	if (error == -ENOMEM)
		die("out of memory for an event");
	/* The workers are stopping, or this is the child of a fork: the callback will not run. */
	j.free_if_owned();
}

/* NOTE(held). False: a runtime exists. */
bool
hold(const job &j, bool head, int timeleft)
{
	guard locked(held_lock);

	if (runtime() != nullptr)
		return false;
	if (held == nullptr)
		held = new held_posts;
	(head ? held->heads : held->tails).push_back(held_post{j, timeleft, held->posted++});
	return true;
}

/* Post the held callbacks in order. Under held_lock. */
void
hand_over(mely_runtime *rt)
{
	while (held->size() != 0) {
		bool head = held->tails.empty() || (!held->heads.empty() &&
		    held->heads.front().number < held->tails.front().number);
		std::deque<held_post> &from = head ? held->heads : held->tails;

		post_or_drop(rt, from.front().j, head, from.front().timeleft);
		from.pop_front();
	}
}

/* Take the first held post out, for acheck. */
bool
take_held(job *j)
{
	guard locked(held_lock);

	if (held == nullptr || held->size() == 0)
		return false;
	std::deque<held_post> &from = held->heads.empty() ? held->tails : held->heads;
	*j = from.front().j;
	from.pop_front();
	return true;
}

size_t
held_count()
{
	guard locked(held_lock);

	return held != nullptr ? held->size() : 0;
}

}

void
post(const job &j, bool head, int timeleft)
{
	mely_runtime *rt = runtime();

	if (__builtin_expect(j.priority != 0, 0))
		priorities_used();
	if (__builtin_expect(rt == nullptr, 0)) {
		(void)color_id(j.color); /* report an error here, not in amain */
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
		hand_over(rt);
	delete held;
	held = nullptr;
	/* release: pairs with the acquire in runtime(); under the lock: NOTE(held) */
	the_runtime.store(rt, std::memory_order_release);
}

bool
held_run(void (*run)(const job &j))
{
	size_t left = held_count(); /* later posts wait for the next call */
	bool any = false;
	job j;

	/* One at a time: a callback may call amain or acheck, which runs the others. */
	for (; left > 0 && take_held(&j); left--) {
		any = true;
		run(j);
	}
	return any;
}

int
post_for(mely_runtime *rt, const job &j, void (*fn)(void *arg), void *arg)
{
	mely_handler *handler = handler_for(fn, j.faddr, j.priority);

	if (j.color < 0)
		return mely_post(color_object(rt, j.color), handler, arg);
	return mely_post_id(rt, color_id(j.color), handler, arg);
}

}
