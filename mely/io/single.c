/* SPDX-License-Identifier: MIT */
/*
 * single.c: the descriptors of all cores in the poller of core 0, with pollers = 1.
 *
 * NOTE(single)
 *   With one poller for all, descriptors are in a separate set (fds_epfd), nested one-shot in the
 *   set of core 0. When it reports, core 0 posts the Epoll event to color 0. That event polls the
 *   separate set, posts readiness, and arms the nesting again. So color 0 may be stolen like any
 *   other.
 */
#include "io/poller.h"

#include <errno.h>

#include "base/assert.h"
#include "base/descriptor.h"
#include "core/weight.h"
#include "io/kinds.h"

static void look_inside(void *arg);

static struct mely_handler inner_handler MELY_LASTING = {.fn = look_inside, .name = "Epoll",
    .time_ns = MELYINT_OWN_HANDLER_NS, .penalty = 1};

/* Arm the nested set to report once: op ADD or MOD. 0 or a negative error. */
static int
nest(struct melyint_poller *p, int op)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLONESHOT};

	MELY_ASSERT(p->fds_epfd != p->epfd);
	ev.data.u64 = MELYINT_POLL_INNER;
	return epoll_ctl(p->epfd, op, p->fds_epfd, &ev) < 0 ? -errno : 0;
}

/* The Epoll event. */
static void
look_inside(void *arg)
{
	struct melyint_poller *p = arg;
	struct melyint_io *io = p->core->rt->io;
	struct epoll_event found[MELYINT_POLL_BATCH];
	uint32_t round;
	int i, n;

	/* One core at a time, on behalf of the color. */
	MELY_DEBUG_ASSERT(melyint_self->batch.color == p->inner_color);
	round = melyint_poller_begin_round(p);
	n = epoll_wait(p->fds_epfd, found, MELYINT_POLL_BATCH, 0);
	MELY_COUNT(&melyint_self->counters.polls, 1);
	for (i = 0; i < n; i++) {
		MELY_DEBUG_ASSERT(found[i].data.u64 >> 32 != 0); /* the set has descriptors only */
		melyint_fd_found(io, found[i].data.u64, found[i].events, round);
	}
	melyint_poller_end_round(p, round);
	(void)nest(p, EPOLL_CTL_MOD);
}

bool
melyint_poller_is_inner(const struct mely_handler *handler)
{
	return handler == &inner_handler;
}

void
melyint_poller_begin_run(struct melyint_core *core)
{
	/* The end of the last run may have dropped the Epoll event. */
	if (core->fixed.poller->fds_epfd != core->fixed.poller->epfd)
		(void)nest(core->fixed.poller, EPOLL_CTL_MOD);
}

bool
melyint_poller_uses(const struct melyint_core *core, const struct mely_color *color)
{
	return color == core->fixed.poller->inner_color;
}

int
melyint_poller_open_single(struct melyint_poller *p)
{
	int r = 0;

	MELY_ASSERT(p->core->index == 0 && p->fds_epfd == p->epfd);
	/* The child of a fork keeps the color: it cannot call mely_color_of_id yet. */
	if (p->inner_color == NULL)
		r = mely_color_of_id(p->core->rt, 0, &p->inner_color);
	if (r < 0)
		return r;
	mely_event_init(&p->inner, &inner_handler, p);
	p->fds_epfd = melyint_fd_high(epoll_create1(EPOLL_CLOEXEC));
	if (p->fds_epfd < 0)
		return -errno;
	return nest(p, EPOLL_CTL_ADD);
}
