/* SPDX-License-Identifier: MIT */
/*
 * shim_ev.c: the part of libev that the library uses, in virtual time and with libev's names: a
 * loop with timers and one descriptor, an epoll set (shim_fd.c).
 */
#include "shim.h"

enum { TIMERS_MIN = 8, FAR_S = 18000000 /* 2^64 ps are longer */ };

struct ev_loop {
	void *userdata;
	void (*release)(struct ev_loop *loop);
	void (*acquire)(struct ev_loop *loop);
	struct ev_io *io;
	bool fed;
	double now;
	int count, room;
	struct ev_timer **timers; /* in the order they were started */
};

static double
now_s(void)
{
	return (double)sim_now_ps() / 1e12;
}

void
ev_set_allocator(void *(*allocate)(void *old, long size))
{
	(void)allocate; /* this loop has the simulation's memory */
}

struct ev_loop *
ev_loop_new(unsigned int flags)
{
	struct ev_loop *loop = calloc(1, sizeof *loop);

	(void)flags;
	loop->now = now_s();
	return loop;
}

void
ev_loop_destroy(struct ev_loop *loop)
{
	free(loop->timers);
	free(loop);
}

void
ev_set_userdata(struct ev_loop *loop, void *data)
{
	loop->userdata = data;
}

void *
ev_userdata(struct ev_loop *loop)
{
	return loop->userdata;
}

void
ev_set_loop_release_cb(struct ev_loop *loop, void (*release)(struct ev_loop *loop),
    void (*acquire)(struct ev_loop *loop))
{
	loop->release = release;
	loop->acquire = acquire;
}

void
ev_now_update(struct ev_loop *loop)
{
	loop->now = now_s();
}

void
ev_io_start(struct ev_loop *loop, struct ev_io *io)
{
	io->active = 1;
	loop->io = io;
}

void
ev_timer_start(struct ev_loop *loop, struct ev_timer *timer)
{
	if (timer->active)
		return;
	if (loop->count == loop->room) {
		loop->room = loop->room > 0 ? 2 * loop->room : TIMERS_MIN;
		loop->timers = realloc(loop->timers,
		    (size_t)loop->room * sizeof loop->timers[0]);
	}
	timer->at += loop->now;
	timer->active = 1;
	loop->timers[loop->count++] = timer;
}

void
ev_timer_stop(struct ev_loop *loop, struct ev_timer *timer)
{
	int i;

	if (!timer->active)
		return;
	timer->active = 0;
	for (i = 0; loop->timers[i] != timer; i++)
		if (i == loop->count)
			sim_fail("a timer is stopped in a loop that does not have it");
	loop->count--;
	memmove(&loop->timers[i], &loop->timers[i + 1],
	    (size_t)(loop->count - i) * sizeof loop->timers[0]);
}

/* The timer that expires first. */
static struct ev_timer *
first(const struct ev_loop *loop)
{
	struct ev_timer *best = NULL;
	int i;

	for (i = 0; i < loop->count; i++) {
		if (best == NULL || loop->timers[i]->at < best->at)
			best = loop->timers[i];
	}
	return best;
}

/* Wait until a timer is due or the set is ready. */
static void
wait_for_something(struct ev_loop *loop)
{
	struct ev_timer *timer = first(loop);
	uint64_t deadline_ps = SIM_NEVER;

	if (timer != NULL) {
		deadline_ps = timer->at <= 0 ? 0 : timer->at >= FAR_S ? SIM_NEVER :
		    (uint64_t)(timer->at * 1e12) + 1000;
		if (deadline_ps <= sim_now_ps())
			return;
	}
	sim_epoll_await(loop->io->fd, deadline_ps);
}

void
ev_feed_event(struct ev_loop *loop, void *watcher, int revents)
{
	(void)revents;
	loop->fed = watcher == loop->io;
}

int
ev_run(struct ev_loop *loop, int flags)
{
	struct ev_timer *timer;
	bool ready = loop->fed;

	loop->now = now_s();
	loop->fed = false;
	if (loop->release != NULL) { /* as long as there is none, the loop is being made */
		loop->release(loop);
		sim_call("epoll_wait");
		if (flags & EVRUN_ONCE)
			wait_for_something(loop);
		ready = sim_epoll_ready(loop->io->fd);
		loop->acquire(loop);
	}
	loop->now = now_s();
	while ((timer = first(loop)) != NULL && timer->at <= loop->now) {
		ev_timer_stop(loop, timer);
		timer->cb(loop, timer, EV_TIMER);
	}
	if (ready)
		loop->io->cb(loop, loop->io, EV_READ);
	return loop->count;
}
