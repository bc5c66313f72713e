/* SPDX-License-Identifier: MIT */
/*
 * post_rules.h: who may post, what is refused, and what posting an embedded event means: the same
 * under both schedulers. Included once by the file that posts (sched/post.c, fifo/post.c), below
 * its enqueue, so that the compiler sees all of the way of an event.
 */
#ifndef MELYINT_SCHED_POST_RULES_H
#define MELYINT_SCHED_POST_RULES_H

#include <errno.h>

#include "check/check.h"
#include "color/names_marks.h"
#include "sched/post.h"

/* May a thread that is no core of rt post now? */
static int
admit(struct mely_runtime *rt, const struct melyint_core *self, unsigned flags)
{
	/* acquire: pairs with the release stores of the life cycle (life/cycle.c) */
	int phase = MELY_LOAD(&rt->phase, acquire);

	if (MELY_UNLIKELY(phase == MELYINT_FORKED))
		return -ECHILD;
	if (self != NULL && self->rt == rt)
		return 0;
	if (MELY_UNLIKELY(phase >= MELYINT_DRAINING) && !(flags & MELYINT_POST_INTERNAL))
		return -ESHUTDOWN;
	return 0;
}

static MELY_NOINLINE int
post_marked(struct melyint_core *self, struct mely_color *color, struct mely_event *ev,
    unsigned flags)
{
	if (!melyint_mark_admit(color)) {
		if (self != NULL)
			MELY_COUNT(&self->counters.refused, 1);
		else
			/* relaxed: a count */
			MELY_ADD(&mely_color_runtime(color)->outside.refused, 1, relaxed);
		return -EAGAIN;
	}
	ev->_flags |= MELYINT_EV_COUNTED;
	return enqueue(self, color, ev, flags);
}

/* The rules for posts of the program. None for those to the running color, which only come here
 * from a batch that is observed. */
static int
post_ruled(struct melyint_core *self, struct mely_color *color, struct mely_event *ev,
    unsigned flags)
{
	/* acquire: as in melyint_color_lock */
	struct mely_runtime *rt = MELY_LOAD(&color->_owner, acquire)->rt;
	int error;

	if (self != NULL && MELY_UNLIKELY(self->batch.color == color))
		return enqueue(self, color, ev, flags);
	error = admit(rt, self, flags);
	if (error != 0)
		return error;
	/* relaxed: a mark set at this moment may count from the next post on */
	if (MELY_UNLIKELY(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_MARKED) &&
	    !(flags & MELYINT_POST_INTERNAL))
		return post_marked(self, color, ev, flags);
	return enqueue(self, color, ev, flags);
}

int
melyint_post(struct mely_color *color, struct mely_event *ev, unsigned flags)
{
	struct melyint_core *self = melyint_self;
	uint16_t state = MELY_LOAD(&ev->_state, relaxed); /* a hint; the exchange decides */
	int error;

	if (MELY_UNLIKELY(state != MELYINT_EV_IDLE))
		return -EALREADY;
	/* acquire: pairs with the release in sched/end.h that gave the event back */
	if (MELY_UNLIKELY(!MELY_CAS(&ev->_state, &state, MELYINT_EV_CLAIMED, acquire)))
		return -EALREADY;
	melyint_check_posted(ev, false);
	/* Its own time outlasts a post, what it weighed does not. */
	ev->_flags &= MELYINT_EV_TIMED;
	if (MELY_LIKELY(ev->_flags == 0))
		ev->_time = 0;
	if (MELY_LIKELY(self != NULL && self->batch.direct == color))
		return enqueue(self, color, ev, flags);
	error = post_ruled(self, color, ev, flags);
	if (MELY_UNLIKELY(error != 0)) {
		melyint_check_unposted(ev);
		/* release: gives the claim back to whoever posts next */
		MELY_STORE(&ev->_state, MELYINT_EV_IDLE, release);
	}
	return error;
}

#endif
