/* SPDX-License-Identifier: MIT */
/*
 * due.c: a timerfd in the poller's set, which follows the first timer while the core's thread waits
 * in the program's own loop. All of it is under the poller's hold.
 */
#include "io/due.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/descriptor.h"
#include "base/clock.h"
#include "io/armed.h"
#include "io/kinds.h"

struct melyint_due {
	int timerfd;
	bool waiting;        /* the thread is in the program's loop: timerfd follows the timers */
	uint64_t pass_ns;    /* a pass is due by then, whatever the timers are */
	uint64_t set_ns;     /* what timerfd is set to; UINT64_MAX: to nothing */
};

static void
follow(struct melyint_poller *p)
{
	struct melyint_due *due = p->due;
	uint64_t at_ns = melyint_armed_first_ns(p);
	struct itimerspec when = {{0, 0}, {0, 0}};
	int r;

	MELY_DEBUG_ASSERT(due->waiting && melyint_lock_held(&p->hold));
	if (due->pass_ns < at_ns)
		at_ns = due->pass_ns;
	/* A time that has passed is set again: its report may have been read. */
	if (at_ns == due->set_ns && (at_ns == UINT64_MAX || at_ns > melyint_now_ns()))
		return;
	due->set_ns = at_ns;
	if (at_ns != UINT64_MAX) {
		at_ns = at_ns != 0 ? at_ns : 1; /* 0 would disarm it */
		when.it_value.tv_sec = (time_t)(at_ns / 1000000000);
		when.it_value.tv_nsec = (long)(at_ns % 1000000000);
	}
	r = timerfd_settime(due->timerfd, TFD_TIMER_ABSTIME, &when, NULL);
	MELY_DEBUG_ASSERT(r == 0); /* with these arguments */
}

void
melyint_due_armed(struct melyint_poller *p)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold));
	/* Another thread has armed it: the core's own is in the program's poll. */
	if (p->due->waiting)
		follow(p);
}

/* ---- the core's thread ----------------------------------------------------------------------- */

void
melyint_due_enter(struct melyint_core *core)
{
	struct melyint_poller *p = core->fixed.poller;

	MELY_DEBUG_ASSERT(core == melyint_self && core->batch.color == NULL);
	melyint_lock_take(&p->hold);
	p->due->waiting = false;
	p->woken = false;
	melyint_poller_collect(p, melyint_armed_first_ns(p) <= melyint_now_ns());
	melyint_lock_drop(&p->hold);
	melyint_signal_tick(core->rt->io);
}

void
melyint_due_leave(struct melyint_core *core, uint64_t pass_ns)
{
	struct melyint_poller *p = core->fixed.poller;

	MELY_DEBUG_ASSERT(core == melyint_self && core->batch.color == NULL);
	melyint_lock_take(&p->hold);
	MELY_DEBUG_ASSERT(!p->due->waiting); /* one enters, then leaves */
	/* A wake-up that was met in the pass no longer makes the set readable. */
	p->due->pass_ns = p->woken ? 0 : pass_ns;
	p->woken = false;
	p->due->waiting = true;
	follow(p);
	melyint_lock_drop(&p->hold);
}

uint64_t
melyint_due_at(struct melyint_core *core)
{
	struct melyint_poller *p = core->fixed.poller;
	uint64_t at_ns;

	melyint_lock_take(&p->hold);
	at_ns = melyint_armed_first_ns(p);
	if (p->due->pass_ns < at_ns)
		at_ns = p->due->pass_ns;
	melyint_lock_drop(&p->hold);
	return at_ns;
}

/* ---- life ------------------------------------------------------------------------------------ */

static int
open_timer(struct melyint_poller *p)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.u64 = MELYINT_POLL_DUE};
	struct melyint_due *due = calloc(1, sizeof(*due));
	int error = 0;

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold) && p->due == NULL);
	if (due == NULL)
		return -ENOMEM;
	due->pass_ns = due->set_ns = UINT64_MAX;
	due->timerfd = melyint_fd_high(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
	if (due->timerfd < 0)
		error = -errno;
	else if (epoll_ctl(p->epfd, EPOLL_CTL_ADD, due->timerfd, &ev) < 0)
		error = -errno;
	if (error != 0) {
		if (due->timerfd >= 0)
			close(due->timerfd);
		free(due);
		return error;
	}
	p->due = due;
	return 0;
}

int
melyint_due_open(struct melyint_core *core)
{
	struct melyint_poller *p = core->fixed.poller;
	int error = 0;

	MELY_ASSERT(core->index == 0); /* the program polls this core's set only */
	melyint_lock_take(&p->hold);
	if (p->due == NULL)
		error = open_timer(p);
	melyint_lock_drop(&p->hold);
	if (error == 0)
		melyint_poller_wake(core);
	return error;
}

void
melyint_due_free(struct melyint_poller *p)
{
	if (p->due == NULL)
		return;
	close(p->due->timerfd);
	free(p->due);
	p->due = NULL;
}
