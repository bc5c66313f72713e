/* SPDX-License-Identifier: MIT */
/*
 * pace.c: the open loop. Pace gives all requests that are due to ready connections, then sets the
 * timer to the next one. The schedule is a matter of numbers: a timer that is late delays sends,
 * which the latencies show, but loses none.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/assertion.h"
#include "load/conn.h"
#include "load/pace.h"

/* Requests that are due within this time are sent together. */
#define TOGETHER_NS UINT64_C(50000)

static void pace_fn(void *arg);
static struct mely_handler pace_handler = MELY_HANDLER_WITH(pace_fn, 3000, 0, 0);

static uint64_t
due_ns(const struct load_core *core, uint64_t number)
{
	return (uint64_t)(core->first_ns + (double)number * core->interval_ns);
}

bool
load_core_take_due(struct load_core *core, uint64_t now, uint64_t *since)
{
	if (core->again_count > 0) {
		*since = core->again[--core->again_count];
		return true;
	}
	if (core->next_ns > now || core->next_ns >= core->run->end_ns)
		return false;
	*since = core->next_ns;
	core->next_ns = due_ns(core, ++core->next);
	if (now - *since > LOAD_LATE_NS)
		load_core_count(core, LOAD_late, 1, now);
	return true;
}

static void
arm(struct load_core *core, uint64_t now)
{
	uint64_t at = core->next_ns > now + TOGETHER_NS && core->again_count == 0
	    ? core->next_ns : now + TOGETHER_NS;
	struct itimerspec when = {
		.it_value = {(time_t)(at / 1000000000), (long)(at % 1000000000)}
	};

	core->armed = true;
	if (timerfd_settime(core->timer, TFD_TIMER_ABSTIME, &when, NULL) != 0)
		SWS_ASSERT(errno == 0);
}

static void
pace_fn(void *arg)
{
	struct load_core *core = arg;
	uint64_t now = mely_now_ns(), due;
	struct load_conn *conn;

	SWS_LOCAL_TAKE(core);
	core->armed = false;
	due = core->again_count;
	if (core->next_ns <= now)
		due += (uint64_t)((double)(now - core->next_ns) / core->interval_ns) + 1;
	for (; due > 0 && (conn = core->ready) != NULL; due--) {
		load_core_unready(core, conn);
		load_conn_wake(conn);
	}
	/* Without a ready connection, the next one to be ready takes what is due, and arms. */
	if (core->ready != NULL)
		arm(core, now);
	SWS_LOCAL_GIVE(core);
}

void
load_core_ready(struct load_core *core, struct load_conn *conn, uint64_t now)
{
	if (core->timer < 0 || conn->ready)
		return;
	conn->ready = true;
	conn->ready_next = NULL;
	conn->ready_prev = core->ready_end;
	*core->ready_end = conn;
	core->ready_end = &conn->ready_next;
	if (!core->armed)
		arm(core, now);
}

void
load_core_unready(struct load_core *core, struct load_conn *conn)
{
	if (!conn->ready)
		return;
	SWS_DEBUG_ASSERT(*conn->ready_prev == conn);
	*conn->ready_prev = conn->ready_next;
	if (conn->ready_next != NULL)
		conn->ready_next->ready_prev = conn->ready_prev;
	else
		core->ready_end = conn->ready_prev;
	conn->ready = false;
}

void
load_core_give_back(struct load_core *core, uint64_t since, uint64_t now)
{
	load_core_count(core, LOAD_retried, 1, now);
	if (core->run->options->requests > 0)
		core->budget++;
	if (core->timer < 0)
		return;
	if (core->again_count == core->again_size) {
		uint32_t size = core->again_size > 0 ? core->again_size * 2 : 64;
		uint64_t *grown = realloc(core->again, size * sizeof *grown);

		if (grown == NULL) {
			load_core_error(core, LOAD_broken, 1, "out of memory");
			load_core_settled(core, 1, now);
			return;
		}
		core->again = grown;
		core->again_size = size;
	}
	core->again[core->again_count++] = since;
	if (!core->armed && core->ready != NULL)
		arm(core, now);
}

/* ---- life ---------------------------------------------------------------------------------- */

int
load_pace_start(struct load_core *core)
{
	const struct load_run *run = core->run;

	if (run->options->rate <= 0)
		return 0;
	/* The requests of the cores take turns, and between them those of the slaves. */
	core->interval_ns = 1e9 / run->options->rate * run->options->cores;
	core->first_ns = (double)run->start_ns
	    + 1e9 / run->options->rate * (core->number + run->options->phase);
	core->next_ns = due_ns(core, 0);
	core->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (core->timer < 0)
		return -errno;
	return mely_fd_watch(core->color, core->timer, MELY_FD_READ | MELY_FD_EDGE, &pace_handler,
	    core, &core->timer_watch);
}

void
load_pace_fini(struct load_core *core)
{
	if (core->timer >= 0)
		close(core->timer);
	core->timer = -1;
}

uint64_t
load_pace_unsent(const struct load_core *core, uint64_t end)
{
	if (core->timer < 0 || core->budget == 0)
		return 0;
	return core->again_count + (core->next_ns >= end ? 0
	    : (uint64_t)((double)(end - 1 - core->next_ns) / core->interval_ns) + 1);
}
