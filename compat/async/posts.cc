/* SPDX-License-Identifier: MIT */
/*
 * posts.cc: events of color 0.
 *
 * NOTE(tickets)
 *   A callback of color 0 may call acheck, which must run what is posted to color 0. The runtime
 *   cannot do that, because it is running an event of this color already. So the jobs are in a
 *   queue here, and for each the runtime gets a ticket: an event with the job's function and
 *   priority that runs the first job of the queue. The tickets of jobs that acheck has run find
 *   the queue empty in the end.
 */
#include "posts.h"

#include <atomic>
#include <deque>
#include <mely/color.h>
#include <mutex>
#include <pthread.h>

#include "../src/handlers.h"
#include "../src/loop.h"
#include "../src/post.h"
#include "../src/quiet.h"
#include "loop.h"
#include "pass.h"
#include "wait.h"

namespace melycompat {

__thread int color_in_acheck = NO_COLOR;

namespace {

struct posts {
	std::mutex lock;
	std::deque<job> heads; /* both under the lock */
	std::deque<job> tails;
	std::atomic<size_t> length{0}; /* changed under the lock */
};

/* Never destroyed: other threads may outlive the exit functions. */
posts &
all()
{
	static posts *const p = new posts;

	return *p;
}

/* The child of a fork can still post, to no effect; so a fork must not leave the lock taken. */
void
before_fork()
{
	quiet unseen;

	all().lock.lock();
}

void
after_fork()
{
	quiet unseen;

	all().lock.unlock();
}

/* Take the first job out of the queue. */
bool
take_first(job *j)
{
	posts &p = all();
	guard locked(p.lock);
	std::deque<job> &from = p.heads.empty() ? p.tails : p.heads;

	if (from.empty())
		return false;
	*j = from.front();
	from.pop_front();
	p.length.store(p.heads.size() + p.tails.size(), std::memory_order_relaxed); /* a hint */
	return true;
}

void
ticket(void *)
{
	job j;

	if (!take_first(&j))
		return;
	take(j.callback);
	clock_refresh();
	j.ops->posted(j.callback);
}

void
ticket_run(void *)
{
}

bool
ticket_owned(const void *)
{
	return false;
}

const job_ops ticket_ops = {ticket, ticket_run, ticket_owned, ticket_run};

recent_handlers recent; /* for ticket */

void
post_ticket(const job &j, bool head)
{
	mely_runtime *rt = runtime();
	mely_handler *handler = handler_recent(recent, j.faddr);

	/* Fast path of the common case, in few instructions. */
	if (rt != nullptr && handler != nullptr && !head && j.priority == 0 &&
	    mely_post_id(rt, 0, handler, nullptr) == 0)
		return;
	if (j.priority == 0)
		handler_remember(recent, ticket, j.faddr);
	post({&ticket_ops, nullptr, j.faddr, 0, j.priority}, head, 0);
}

/* ---- functions instead of callbacks ---- */

struct plain_call {
	void (*fn)(void *arg);
	void *arg;
};

void
plain_run(void *arg)
{
	plain_call *call = static_cast<plain_call *>(arg);

	run_guarded([call] { call->fn(call->arg); });
}

void
plain_free(void *arg)
{
	delete static_cast<plain_call *>(arg);
}

void
plain_posted(void *arg)
{
	plain_run(arg);
	plain_free(arg);
}

bool
plain_owned(const void *)
{
	return true;
}

const job_ops plain_ops = {plain_posted, plain_run, plain_owned, plain_free};

struct work_call {
	void (*fn)(void *arg);
	void (*done)(void *arg);
	void *arg;
};

/* On a helper thread. */
void
work(void *arg)
{
	work_call *call = static_cast<work_call *>(arg);

	call->fn(call->arg);
	main_post(call->done, call->arg);
}

void
work_over(void *arg)
{
	delete static_cast<work_call *>(arg);
}

}

bool
is_main(int color)
{
	return color == 0 || (color > 0 && color_id(color) == 0);
}

bool
main_is_here()
{
	const mely_color *color = mely_current_color();

	if (color != nullptr)
		return !mely_color_is_object(color) && mely_color_id(color) == 0;
	return runtime() == nullptr;
}

void
posts_add(const job &j, bool head)
{
	posts &p = all();

	give(j.callback);
	{
		guard locked(p.lock);
		(head ? p.heads : p.tails).push_back(j);
		/* seq_cst: pairs with wait_for, which sets `blocked`, then reads the length */
		p.length.store(p.heads.size() + p.tails.size(), std::memory_order_seq_cst);
	}
	post_ticket(j, head);
	wait_nudge();
}

bool
posts_waiting()
{
	return all().length.load(std::memory_order_seq_cst) != 0; /* as above */
}

bool
posts_run()
{
	/* relaxed: jobs posted from now on wait for the next pass */
	size_t left = all().length.load(std::memory_order_relaxed);
	bool any = false;
	job j;

	for (; left > 0 && take_first(&j); left--) {
		any = true;
		take(j.callback);
		call_here(j);
	}
	return any;
}

void
call_here(const job &j)
{
	int outer = color_in_acheck;

	color_in_acheck = j.color < 0 ? j.color : static_cast<int>(color_id(j.color));
	j.ops->posted(j.callback);
	color_in_acheck = outer;
}

void
call_or_post(const job &j)
{
	if (is_main(j.color) || runtime() == nullptr)
		call_here(j);
	else
		post(j, false, 0);
}

void
main_post(void (*fn)(void *arg), void *arg)
{
	posts_add({&plain_ops, new plain_call{fn, arg}, reinterpret_cast<void *>(fn), 0, 0},
	    false);
}

int
main_work(mely_work_class work_class, void (*fn)(void *arg), void (*done)(void *arg), void *arg)
{
	static mely_handler over = MELY_HANDLER(work_over);
	work_call *call = new work_call{fn, done, arg};
	mely_runtime *rt = runtime_for_helpers();
	int error = mely_work(color_object(rt, 0), work_class, work, &over, call, nullptr);

	if (error != 0)
		delete call;
	return error;
}

void
posts_fork_safely()
{
	(void)pthread_atfork(before_fork, after_fork, after_fork);
}

}
