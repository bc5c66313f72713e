/* SPDX-License-Identifier: MIT */
/*
 * embed.c: a runtime inside the program's own loop: NOTE(outside) in sched/park.c. The program
 * polls core 0's epoll set with its own descriptors, and makes a pass when it is readable.
 */
#include <errno.h>
#include <poll.h>
#include <time.h>

#include "base/clock.h"
#include "io/due.h"
#include "color/misuse.h"
#include "life/life.h"

/* Core 0 is to go outside after each pass. */
static int
embed(struct mely_runtime *rt)
{
	int error;

	/* acquire: pairs with the store in the child of a fork */
	if (MELY_LOAD(&rt->phase, acquire) == MELYINT_FORKED)
		return -ECHILD;
	pthread_mutex_lock(&rt->life.lock);
	error = melyint_due_open(&rt->cores[0]);
	/* relaxed: a switch for the thread that makes the passes; a hint to others */
	if (error == 0)
		MELY_STORE(&rt->flow.embedded, true, relaxed);
	pthread_mutex_unlock(&rt->life.lock);
	return error;
}

int
mely_backend_fd(struct mely_runtime *rt)
{
	int error;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL)
		return -EINVAL;
	error = embed(rt);
	return error == 0 ? rt->cores[0].fixed.poller->epfd : error;
}

uint64_t
mely_next_timeout(struct mely_runtime *rt)
{
	struct melyint_core *core;
	uint64_t at_ns, now_ns;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL)
		return 0;
	core = &rt->cores[0];
	/* relaxed: a post that comes later makes the descriptor readable */
	if (MELY_LOAD(&core->locked.sleep, relaxed) != MELYINT_OUTSIDE)
		return 0;
	at_ns = melyint_due_at(core);
	if (at_ns == UINT64_MAX)
		return MELY_FOREVER;
	now_ns = melyint_now_ns();
	return at_ns > now_ns ? at_ns - now_ns : 0;
}

static void
await(struct mely_runtime *rt, uint64_t timeout_ns)
{
	struct pollfd p = {.fd = rt->cores[0].fixed.poller->epfd, .events = POLLIN};
	struct timespec ts = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};

	/* An error is a signal: the pass that follows finds nothing. */
	(void)ppoll(&p, 1, timeout_ns != MELY_FOREVER ? &ts : NULL, NULL);
}

int
mely_run_once_for(struct mely_runtime *rt, uint64_t timeout_ns)
{
	int result;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL)
		return -EINVAL;
	/* relaxed: written by this thread */
	if (timeout_ns > 0 && !MELY_LOAD(&rt->flow.embedded, relaxed) &&
	    (melyint_self == NULL || melyint_self->rt != rt)) {
		result = embed(rt);
		if (result != 0)
			return result;
	}
	result = melyint_run_pass(rt);
	if (result == 0 && timeout_ns > 0) {
		await(rt, timeout_ns);
		result = melyint_run_pass(rt);
	}
	return result;
}
