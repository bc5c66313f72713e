/* SPDX-License-Identifier: MIT */
/*
 * poller.c: the poller of a core.
 *
 * NOTE(two places to wait)
 *   The epoll set of a core holds its descriptors and its wake-up eventfd, all edge-triggered.
 *   The eventfd is never read: each write is a new edge. The libev loop of the core has the epoll
 *   set as one watcher, so that a core may wait in either. Waiting in the set is one system call
 *   that also returns what is ready. Waiting in the loop takes a second call for that, and the
 *   nested set makes the kernel's wake-up more expensive. So a core waits
 *     in the set   for any time, when no timer is armed;
 *     in the set   for at most BRISK_NS, when timers are armed and its last wait was short: timers
 *                  are late by no more than that, and a server between two requests pays what a
 *                  bare epoll loop pays;
 *     in the loop  otherwise, until the first timer is due.
 *   Signals do not pass through libev: its handler would write to its loop only while a thread
 *   waits inside (signal.c).
 *
 * NOTE(memory of libev)
 *   libev ends the program when it gets no memory. So its loop has two watchers only, both made
 *   with it: the set, and a timer that limits the wait. Both are active and pending at once before
 *   the loop is used, and then libev has what it will ever need. While the loop is made, libev may
 *   take what was put aside for it (loopmem.c). The program's timers are in a heap that needs no
 *   memory (armed.c).
 *
 * NOTE(hold)
 *   A thread that uses the timers, or waits, holds the poller: the owner while it looks,
 *   ticks or sleeps; another core that relieves an owner whose handler does not return (NOTE(stuck)
 *   in sched/stuck.c); and any thread that arms or disarms a timer (timer.c). Only the owner's
 *   sleep is long. An owner that is awake never waits for the hold: if another thread has it, that
 *   thread serves the poller. Order: hold before a watcher's guard; a thread with a guard only
 *   tries.
 *
 * NOTE(fork)
 *   in_loop tells a forked child whether another thread was inside libev at the time of the
 *   fork. If so, the child leaves its copy alone, and only that loop's descriptor leaks.
 */
#include "io/poller.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/descriptor.h"
#include "base/clock.h"
#include "core/hooks.h"
#include "io/armed.h"
#include "io/due.h"
#include "io/kinds.h"
#include "io/loopmem.h"
#include "sched/post.h"

enum {
	BRISK_NS = 1000000,
	TICK_NS = 250000,    /* least time between two checks of the timers */
	EXACT_NS = 20000000, /* shorter waits are given to the kernel in ns, longer ones in ms */
	LONGEST_MS = 3600000
};

/* ---- libev ----------------------------------------------------------------------------------- */

static void
on_release(struct ev_loop *loop)
{
	struct melyint_poller *p = ev_userdata(loop);

	MELY_DEBUG_ASSERT(p->loop == loop && melyint_lock_held(&p->hold));
	/* relaxed, here and below: read in the child of a fork only, NOTE(fork) */
	MELY_STORE(&p->in_loop, false, relaxed);
}

static void
on_acquire(struct ev_loop *loop)
{
	struct melyint_poller *p = ev_userdata(loop);

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold) && !MELY_PEEK(&p->in_loop));
	MELY_STORE(&p->in_loop, true, relaxed);
	/* The wait may have been long: C of NOTE(tally). */
	melyint_self->tallies.clock_ticks = melyint_ticks();
}

static void
on_nested(struct ev_loop *loop, struct ev_io *io, int revents)
{
	struct melyint_poller *p = io->data;

	(void)loop;
	(void)revents;
	MELY_DEBUG_ASSERT(p->loop == loop && melyint_lock_held(&p->hold));
	p->nested_ready = true;
}

static void
on_limit(struct ev_loop *loop, struct ev_timer *timer, int revents)
{
	(void)loop;
	(void)timer;
	(void)revents;
}

/* ---- polling --------------------------------------------------------------------------------- */

static void
clock_was_set(struct melyint_poller *p)
{
	uint64_t expirations;

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold) && p->clockfd >= 0);
	/* A read that fails with ECANCELED says that the clock was set. */
	if (read(p->clockfd, &expirations, sizeof(expirations)) < 0)
		melyint_timer_clock_set(p);
}

/* An entry of the library's own. */
static void
found_own(struct melyint_poller *p, uint64_t what, bool asleep)
{
	switch (what) {
	case MELYINT_POLL_WAKE:
		if (!asleep)
			p->woken = true;
		break;
	case MELYINT_POLL_SIGNAL:
		melyint_signal_deliver(p->core->rt->io);
		break;
	case MELYINT_POLL_CLOCK:
		clock_was_set(p);
		break;
	case MELYINT_POLL_DUE:
	case MELYINT_POLL_STUCK:
		break; /* its only purpose is to wake the core: NOTE(stuck) in sched/stuck.c */
	default:
		MELY_ASSERT(what == MELYINT_POLL_INNER);
		(void)melyint_post(p->inner_color, &p->inner, MELYINT_POST_INTERNAL);
	}
}

/* Wait to the ns. -ENOSYS: the kernel cannot. */
static int
wait_exactly(int epfd, struct epoll_event *found, uint64_t timeout_ns)
{
#ifdef SYS_epoll_pwait2
	static _Atomic bool missing; /* any thread */
	struct timespec ts = {0, (long)timeout_ns};
	int n;

	MELY_DEBUG_ASSERT(ts.tv_nsec > 0 && ts.tv_nsec < 1000000000);
	/* relaxed, both: a thread that does not see it yet finds out by itself */
	if (MELY_LOAD(&missing, relaxed))
		return -ENOSYS;
	n = (int)syscall(SYS_epoll_pwait2, epfd, found, MELYINT_POLL_BATCH, &ts, NULL, 0);
	melyint_check_signals();
	/* A filter of system calls may refuse it with any error. */
	if (n >= 0 || errno == EINTR)
		return n;
	MELY_STORE(&missing, true, relaxed);
#else
	(void)epfd;
	(void)found;
	(void)timeout_ns;
#endif
	return -ENOSYS;
}

/* Rounds timeouts up. */
static int
wait_set(int epfd, struct epoll_event *found, uint64_t timeout_ns)
{
	int timeout_ms = -1, n;

	if (timeout_ns == 0) {
		timeout_ms = 0;
	} else if (timeout_ns < EXACT_NS) {
		n = wait_exactly(epfd, found, timeout_ns);
		if (n != -ENOSYS)
			return n;
		timeout_ms = (int)(timeout_ns / 1000000 + 1);
	} else if (timeout_ns < UINT64_MAX) {
		timeout_ns = timeout_ns / 1000000 + 1;
		/* It may return early. */
		timeout_ms = timeout_ns < LONGEST_MS ? (int)timeout_ns : LONGEST_MS;
	}
	MELY_DEBUG_ASSERT((timeout_ms < 0) == (timeout_ns == UINT64_MAX));
	return epoll_wait(epfd, found, MELYINT_POLL_BATCH, timeout_ms);
}

static int
gather(struct melyint_poller *p, uint64_t timeout_ns, bool asleep)
{
	struct melyint_io *io = p->core->rt->io;
	uint32_t round = 0;
	int i, n;

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold));
	if (MELY_LIKELY(p->fds_epfd == p->epfd))
		round = melyint_poller_begin_round(p);
	n = wait_set(p->epfd, p->found, timeout_ns);
	MELY_COUNT(&melyint_self->counters.polls, 1);
	if (n > 0)
		melyint_self->tallies.clock_ticks = melyint_ticks(); /* as in on_acquire */
	for (i = 0; i < n; i++) {
		uint64_t data = p->found[i].data.u64;

		if (MELY_LIKELY(data >> 32 != 0))
			melyint_fd_found(io, data, p->found[i].events, round);
		else
			found_own(p, data, asleep);
	}
	if (round != 0)
		melyint_poller_end_round(p, round);
	return n < 0 ? 0 : n;
}

int
melyint_poller_look(struct melyint_core *core)
{
	struct melyint_poller *p = core->fixed.poller;
	int found;

	MELY_DEBUG_ASSERT(core == melyint_self);
	/* relaxed: the next poll finds a descriptor that comes later */
	if (MELY_LOAD(&p->fds, relaxed) == 0 || !melyint_lock_try(&p->hold))
		return 0;
	found = gather(p, 0, false);
	melyint_lock_drop(&p->hold);
	return found;
}

void
melyint_poller_collect(struct melyint_poller *p, bool timers)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold) && p->core == melyint_self);
	(void)gather(p, 0, true);
	if (timers)
		melyint_timer_fire_due(p);
}

void
melyint_poller_tick(struct melyint_core *core)
{
	struct melyint_poller *p = core->fixed.poller;

	MELY_DEBUG_ASSERT(core == melyint_self);
	if (melyint_lock_try(&p->hold)) {
		if (p->armed != 0 &&
		    melyint_ticks() - p->ran_ticks >= melyint_ns_to_ticks(TICK_NS)) {
			if (MELYINT_OBSERVED(poll))
				melyint_observe_poll(core);
			melyint_timer_fire_due(p);
			if (MELYINT_OBSERVED(poll))
				melyint_observe_polled(core, core, 0);
		}
		melyint_lock_drop(&p->hold);
	}
	if (core->index == 0)
		melyint_signal_tick(core->rt->io);
}

bool
melyint_poller_relieve(struct melyint_core *self, struct melyint_core *core)
{
	struct melyint_poller *p = core->fixed.poller;

	int found = 0;

	MELY_DEBUG_ASSERT(self == melyint_self && self != core);
	if (!melyint_lock_try(&p->hold))
		return false;
	if (MELYINT_OBSERVED(poll))
		melyint_observe_poll(self);
	/* relaxed, both: the next relief finds what comes later. Core 0 serves the signals, for
	 * which no descriptor is counted. */
	if (MELY_LOAD(&p->fds, relaxed) != 0 || (core->index == 0 &&
	    MELY_LOAD(&core->rt->io->signals, relaxed) != 0))
		found = gather(p, 0, false);
	if (p->armed != 0)
		melyint_timer_fire_due(p);
	if (p->due != NULL && p->woken) {
		/* Give the wake-up back: the core's thread may be in the program's poll. */
		p->woken = false;
		melyint_poller_wake(core);
	}
	melyint_lock_drop(&p->hold);
	if (MELYINT_OBSERVED(poll))
		melyint_observe_polled(self, core, found);
	MELY_COUNT(&self->counters.polls_taken, 1);
	return true;
}

/* ---- sleeping -------------------------------------------------------------------------------- */

/* How long to wait: no longer than until the first timer is due. */
static uint64_t
until_first(const struct melyint_poller *p, uint64_t timeout_ns)
{
	uint64_t first_ns = melyint_armed_first_ns(p), now_ns = melyint_now_ns();

	if (first_ns <= now_ns)
		return 0;
	return first_ns - now_ns < timeout_ns ? first_ns - now_ns : timeout_ns;
}

static void
sleep_in_loop(struct melyint_poller *p, uint64_t timeout_ns)
{
	uint64_t began = melyint_ticks();

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold) && melyint_self->rt == p->core->rt);
	MELY_DEBUG_ASSERT(p->armed != 0 && !ev_is_active(&p->limit));
	timeout_ns = until_first(p, timeout_ns);
	p->nested_ready = false;
	MELY_STORE(&p->in_loop, true, relaxed);
	ev_now_update(p->loop);
	ev_timer_set(&p->limit, (double)timeout_ns / 1e9, 0.);
	ev_timer_start(p->loop, &p->limit);
	ev_run(p->loop, EVRUN_ONCE);
	ev_timer_stop(p->loop, &p->limit);
	MELY_STORE(&p->in_loop, false, relaxed);
	melyint_timer_fire_due(p);
	if (p->nested_ready)
		gather(p, 0, true);
	p->brisk = melyint_ticks() - began < melyint_ns_to_ticks(BRISK_NS);
}

static void
sleep_in_set(struct melyint_poller *p, uint64_t timeout_ns)
{
	bool came;

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold));
	if (p->armed == 0) {
		gather(p, timeout_ns, true);
		return;
	}
	came = gather(p, timeout_ns < BRISK_NS ? timeout_ns : BRISK_NS, true) > 0;
	if (timeout_ns >= BRISK_NS)
		p->brisk = came;
	if (melyint_ticks() - p->ran_ticks >= melyint_ns_to_ticks(BRISK_NS))
		melyint_timer_fire_due(p);
}

void
melyint_poller_sleep(struct melyint_core *core, uint64_t timeout_ns)
{
	struct melyint_poller *p = core->fixed.poller;

	MELY_DEBUG_ASSERT(core == melyint_self);
	melyint_lock_take(&p->hold);
	if (p->woken) {
		p->woken = false;
		timeout_ns = 0;
	}
	if (p->armed == 0 || p->brisk || timeout_ns <= BRISK_NS)
		sleep_in_set(p, timeout_ns);
	else
		sleep_in_loop(p, timeout_ns);
	MELY_DEBUG_ASSERT(!MELY_PEEK(&p->in_loop)); /* NOTE(fork) */
	melyint_lock_drop(&p->hold);
}

void
melyint_poller_wake(struct melyint_core *core)
{
	uint64_t one = 1;
	int error = errno;

	/* Can fail only when the counter is full, which takes 2^64 wake-ups. */
	if (write(core->fixed.poller->wakefd, &one, sizeof(one)) < 0)
		errno = error;
}

/* ---- life ------------------------------------------------------------------------------------ */

int
melyint_poller_watch_clock(struct melyint_poller *p)
{
	struct itimerspec never = {{0, 0}, {0, 0}};
	struct epoll_event ev = {.events = EPOLLIN};
	int fd;

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold));
	if (p->clockfd >= 0)
		return 0;
	fd = melyint_fd_high(timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK));
	if (fd < 0)
		return -errno;
	/* Far in the future, but armed: a jump of the clock cancels it and makes it readable. */
	never.it_value.tv_sec = (time_t)INT64_MAX / 2000000000;
	ev.data.u64 = MELYINT_POLL_CLOCK;
	if (timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) < 0 ||
	    epoll_ctl(p->epfd, EPOLL_CTL_ADD, fd, &ev) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	p->clockfd = fd;
	/* relaxed: as in melyint_poller_look; it counts as a descriptor from now on */
	MELY_ADD(&p->fds, 1, relaxed);
	return 0;
}

static int
add(int epfd, int fd, uint32_t events, uint64_t what)
{
	struct epoll_event ev = {.events = events};

	ev.data.u64 = what;
	return epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

static int
add_stuckfd(struct melyint_poller *p, int fd)
{
	/* One sleeper is enough. */
	int r = add(p->epfd, fd, EPOLLIN | EPOLLET | EPOLLEXCLUSIVE, MELYINT_POLL_STUCK);

	/* Where the flag is unknown (before Linux 4.5, in a sandbox) all sleepers wake. */
	return r == -EINVAL ? add(p->epfd, fd, EPOLLIN | EPOLLET, MELYINT_POLL_STUCK) : r;
}

/* NOTE(memory of libev) */
static int
make_loop(struct melyint_poller *p)
{
	int held[MELYINT_STREAMS];

	melyint_fd_hold_streams(held);
	p->loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV | EVFLAG_NOINOTIFY |
	    EVFLAG_NOSIGMASK | EVFLAG_NOTIMERFD);
	melyint_fd_free_streams(held);
	if (p->loop == NULL)
		return -ENOMEM;
	ev_set_userdata(p->loop, p);
	ev_io_init(&p->nested, on_nested, p->epfd, EV_READ);
	p->nested.data = p;
	ev_timer_init(&p->limit, on_limit, -1., 0.); /* due at once */
	melyint_lock_take(&p->hold);
	ev_io_start(p->loop, &p->nested);
	ev_timer_start(p->loop, &p->limit);
	ev_feed_event(p->loop, &p->nested, EV_READ);
	ev_run(p->loop, EVRUN_NOWAIT);
	MELY_ASSERT(p->nested_ready && !ev_is_active(&p->limit));
	melyint_lock_drop(&p->hold);
	ev_set_loop_release_cb(p->loop, on_release, on_acquire);
	/* libev stops it when the kernel has no memory for it. */
	return ev_is_active(&p->nested) ? 0 : -ENOMEM;
}

static int
open_loop(struct melyint_poller *p)
{
	struct melyint_loopmem memory;
	int r;

	MELY_ASSERT(p->loop == NULL && p->epfd >= 0); /* the loop watches the set */
	r = melyint_loopmem_begin(&memory, p->epfd);
	if (r < 0)
		return r;
	r = make_loop(p);
	melyint_loopmem_end();
	return r;
}

static void
close_all(struct melyint_poller *p)
{
	/* Only in the child of a fork a thread that no longer exists may hold it. */
	MELY_ASSERT(MELY_PEEK(&p->hold.held) == 0 ||
	    MELY_PEEK(&p->core->rt->phase) == MELYINT_FORKED);
	/* relaxed: true only in the child of a fork, which has one thread. NOTE(fork) */
	if (p->loop != NULL && !MELY_LOAD(&p->in_loop, relaxed))
		ev_loop_destroy(p->loop);
	melyint_due_free(p);
	if (p->clockfd >= 0)
		close(p->clockfd);
	if (p->fds_epfd >= 0 && p->fds_epfd != p->epfd)
		close(p->fds_epfd);
	if (p->wakefd >= 0)
		close(p->wakefd);
	if (p->epfd >= 0)
		close(p->epfd);
	p->loop = NULL;
	p->epfd = p->fds_epfd = p->wakefd = p->clockfd = -1;
}

static int
open_all(struct melyint_poller *p)
{
	int r;

	MELY_ASSERT(p->armed == 0 && p->walls == NULL && p->due == NULL);
	p->epfd = p->fds_epfd = p->wakefd = p->clockfd = -1;
	p->epfd = melyint_fd_high(epoll_create1(EPOLL_CLOEXEC));
	p->wakefd = melyint_fd_high(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (p->epfd < 0 || p->wakefd < 0)
		return -errno;
	p->fds_epfd = p->epfd;
	r = add(p->epfd, p->wakefd, EPOLLIN | EPOLLET, MELYINT_POLL_WAKE);
	if (r == 0 && p->core->rt->stuck.fd >= 0)
		r = add_stuckfd(p, p->core->rt->stuck.fd);
	if (r == 0 && p->core->rt->config.pollers == 1 && p->core->index == 0)
		r = melyint_poller_open_single(p);
	if (r == 0)
		r = open_loop(p);
	return r;
}

int
melyint_poller_init(struct melyint_core *core)
{
	struct melyint_poller *p = aligned_alloc(MELY_CACHE_LINE, sizeof(*p));
	int r;

	MELY_ASSERT(core->fixed.poller == NULL);
	if (p == NULL)
		return -ENOMEM;
	memset(p, 0, sizeof(*p));
	p->core = core;
	r = open_all(p);
	if (r < 0) {
		close_all(p);
		free(p);
		return r;
	}
	core->fixed.poller = p;
	return 0;
}

void
melyint_poller_fini(struct melyint_core *core)
{
	if (core->fixed.poller != NULL) {
		MELY_ASSERT(core->fixed.poller->core == core);
		close_all(core->fixed.poller);
		free(core->fixed.poller);
	}
	core->fixed.poller = NULL;
}

int
melyint_poller_renew(struct melyint_core *core)
{
	struct melyint_poller *p = core->fixed.poller;
	struct mely_color *inner_color = p->inner_color;
	int r;

	MELY_ASSERT(p->core == core && MELY_PEEK(&core->rt->phase) == MELYINT_FORKED);
	close_all(p);
	memset(p, 0, sizeof(*p));
	p->core = core;
	p->inner_color = inner_color;
	r = open_all(p);
	if (r < 0)
		close_all(p);
	return r;
}
