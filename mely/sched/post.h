/* SPDX-License-Identifier: MIT */
/*
 * post.h: posting inside the library, and what both schedulers share of a post: which posts are
 * refused, and how an embedded event is claimed. NOTE(post) in post.c.
 */
#ifndef MELYINT_SCHED_POST_H
#define MELYINT_SCHED_POST_H

#include <errno.h>

#include "core/core.h"
#include "core/hooks.h"
#include "core/upcalls.h"

/* ---- what each scheduler defines: post.c, fifo/post.c ---------------------------------------- */

/* What became of melyint_append_locked. */
enum {
	MELYINT_APPEND_QUEUED,
	/* The color was idle and is in the core-queue now, or has become worth more to a
	 * thief: the owner may need help (melyint_offer). */
	MELYINT_APPEND_LINKED,
	MELYINT_APPEND_DEAD,   /* nothing done: the color was given back */
	MELYINT_APPEND_RELEASED /* nothing done: the program misused a released color */
};

/* Append a claimed or pooled event to a color. Under the lock of owner, which owns the color. */
int melyint_append_locked(struct melyint_core *owner, struct mely_color *color,
    struct mely_event *ev, unsigned flags);

/* Take a QUEUED event out of its color. Under the lock of owner, which owns the color. True: that
 * was the last one, and the color is idle now. */
bool melyint_remove_locked(struct melyint_core *owner, struct mely_color *color,
    struct mely_event *ev);

/* Post a pooled event. self: the calling core or NULL. time_ns: its own time; 0: none. Errors as
 * mely_post, and -ESTALE: the color was given back. */
int melyint_post_pooled(struct melyint_core *self, struct mely_color *color,
    struct mely_handler *handler, void *arg, uint32_t time_ns, unsigned flags);

/* ---- the rules: calls.c ---------------------------------------------------------------------- */

/* mely_post_id through the table of ids, which makes the color when it is missing. */
int melyint_post_id_slow(struct melyint_core *self, struct mely_runtime *rt, uint32_t id,
    struct mely_handler *handler, void *arg, unsigned flags);

/* Count the post of ev against the mark of its color. 0, or -EAGAIN: the color is full. */
int melyint_post_mark(struct melyint_core *self, struct mely_color *color, struct mely_event *ev);

/* The post of ev was refused after that. */
void melyint_post_unmark(struct mely_color *color, struct mely_event *ev);

/* Does the calling thread alone hold ev, to post it? For assertions. */
MELY_INLINE bool
melyint_event_claimed(const struct mely_event *ev)
{
	return (ev->_flags & MELYINT_EV_POOLED) || MELY_PEEK(&ev->_state) == MELYINT_EV_CLAIMED;
}

/* May this thread post ev to color now? 0 or a negative errno. Not for posts of a handler to its
 * own color, which are never refused. */
MELY_INLINE int
melyint_post_rules(struct melyint_core *self, struct mely_color *color, struct mely_event *ev,
    unsigned flags)
{
	/* acquire: as in melyint_color_lock */
	const struct mely_runtime *rt = MELY_LOAD(&color->_owner, acquire)->rt;
	/* acquire: pairs with the release stores of the life cycle (life/cycle.c) */
	int phase = MELY_LOAD(&rt->phase, acquire);

	MELY_DEBUG_ASSERT(self == NULL || self == melyint_self);
	MELY_DEBUG_ASSERT(melyint_event_claimed(ev));
	if (MELY_UNLIKELY(phase == MELYINT_FORKED))
		return -ECHILD;
	if (MELY_UNLIKELY(phase >= MELYINT_DRAINING) && (self == NULL || self->rt != rt) &&
	    !(flags & MELYINT_POST_INTERNAL))
		return -ESHUTDOWN;
	/* relaxed: a mark that is set now may count from the next post on */
	if (MELY_UNLIKELY(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_MARKED) &&
	    !(flags & MELYINT_POST_INTERNAL))
		return melyint_post_mark(self, color, ev);
	return 0;
}

/* Claim an embedded event for a post. False: it is queued, or another thread posts it. */
MELY_INLINE bool
melyint_event_claim(struct mely_event *ev)
{
	uint16_t state = MELY_LOAD(&ev->_state, relaxed); /* a hint; the exchange decides */

	if (MELY_UNLIKELY(state != MELYINT_EV_IDLE))
		return false;
	/* acquire: pairs with the release in end.h that gave the event back */
	if (MELY_UNLIKELY(!MELY_CAS(&ev->_state, &state, MELYINT_EV_CLAIMED, acquire)))
		return false;
	melyint_check_posted(ev, false);
	/* Its own time outlasts a post, its weight does not. */
	ev->_flags &= MELYINT_EV_TIMED;
	if (MELY_LIKELY(ev->_flags == 0))
		ev->_time = 0;
	return true;
}

/* The post of a claimed event was refused. */
MELY_INLINE void
melyint_event_unclaim(struct mely_event *ev)
{
	MELY_DEBUG_ASSERT(MELY_PEEK(&ev->_state) == MELYINT_EV_CLAIMED);
	/* No batch will take it off the color's mark. */
	MELY_DEBUG_ASSERT(!(ev->_flags & MELYINT_EV_COUNTED));
	melyint_check_unposted(ev);
	/* release: gives the claim back to the next poster */
	MELY_STORE(&ev->_state, MELYINT_EV_IDLE, release);
}

#endif
