/* SPDX-License-Identifier: MIT */
/*
 * post.c: posting in the libasync-smp scheduler, instead of sched/post.c. Any thread. Every post
 * locks the core that owns the color and appends to its FIFO, also a handler's post to its own
 * color. A color stays where its number or a steal has put it: no core adopts colors, and there are
 * no outboxes. sched/calls.c has the other public calls.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "color/misuse.h"
#include "color/table.h"
#include "core/worth.h"
#include "sched/post.h"

/* ---- the FIFO ------------------------------------------------------------------------------- */

/* Append to a color whose events are on their way to its owner's FIFO. Under the owner's lock. */
static void
append_away(struct mely_color *color, struct mely_event *ev)
{
	uint32_t count = melyint_fifo_count_away(color);

	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_MOVING);
	MELY_DEBUG_ASSERT((count != 0) == (color->_tails != NULL));
	color->_tails = melyint_fifo_insert(color->_tails, color, count, ev);
	melyint_fifo_set_count_away(color, count + 1);
}

int
melyint_append_locked(struct melyint_core *owner, struct mely_color *color,
    struct mely_event *ev, unsigned flags)
{
	/* relaxed, all: under the owner's lock */
	unsigned state = MELY_LOAD(&color->_state, relaxed);
	unsigned color_flags = MELY_LOAD(&color->_flags, relaxed);

	MELY_DEBUG_ASSERT(melyint_lock_held(&owner->lock) && MELY_PEEK(&color->_owner) == owner);
	MELY_DEBUG_ASSERT(melyint_event_claimed(ev));
	MELY_DEBUG_ASSERT(state != MELYINT_COLOR_IDLE || melyint_fifo_count(color) == 0);
	/* C of NOTE(colortab): the caller looks the color up again */
	if (MELY_UNLIKELY(color_flags & MELYINT_COLOR_DEAD))
		return MELYINT_APPEND_DEAD;
	if (MELY_UNLIKELY(color_flags & MELYINT_COLOR_RELEASED) &&
	    !melyint_released_admits(color, ev, (flags & MELYINT_POST_INTERNAL) != 0))
		return MELYINT_APPEND_RELEASED;
	MELY_STORE(&ev->_color, color, release); /* pairs with the acquire in cancel.c */
	if (flags & MELYINT_POST_HEAD)
		ev->_flags |= MELYINT_EV_HEAD;
	if (!(ev->_flags & MELYINT_EV_POOLED)) {
		/* The event keeps the color's address, so no trim may free the color. */
		MELY_OR(&color->_flags, MELYINT_COLOR_HELD, relaxed);
		/* release: pairs with the acquire in cancel.c, which then trusts ev->_color */
		MELY_STORE(&ev->_state, MELYINT_EV_QUEUED, release);
	}
	if (MELY_UNLIKELY(state == MELYINT_COLOR_MOVING)) {
		append_away(color, ev);
		return MELYINT_APPEND_QUEUED;
	}
	melyint_fifo_add(&owner->ready, color, ev);
	if (state != MELYINT_COLOR_IDLE)
		return MELYINT_APPEND_QUEUED;
	melyint_color_become(color, MELYINT_COLOR_QUEUED);
	melyint_core_count_waiting(owner, color, 1);
	return MELYINT_APPEND_LINKED;
}

bool
melyint_remove_locked(struct melyint_core *owner, struct mely_color *color,
    struct mely_event *ev)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&owner->lock) && MELY_PEEK(&color->_owner) == owner);
	/* On its way to another FIFO it is not in this one: melyint_color_away. */
	MELY_DEBUG_ASSERT(!melyint_color_away(color));
	melyint_fifo_remove(&owner->ready, color, ev);
	/* relaxed, both: under the lock */
	if (melyint_fifo_count(color) != 0 ||
	    MELY_LOAD(&color->_state, relaxed) != MELYINT_COLOR_QUEUED)
		return false;
	melyint_core_count_waiting(owner, color, -1u);
	melyint_color_become(color, MELYINT_COLOR_IDLE);
	return true;
}

/* Post a claimed or pooled event. */
static int
enqueue(struct melyint_core *self, struct mely_color *color, struct mely_event *ev,
    unsigned flags)
{
	struct melyint_core *owner = melyint_color_lock(color);
	bool woken;
	int how;

	MELY_DEBUG_ASSERT(self == NULL || self == melyint_self);
	if (self != NULL && self->rt != owner->rt)
		self = NULL;
	/* Under the lock, so that the post is reported before the run. */
	if (MELYINT_OBSERVED(post))
		melyint_observe_post(self, color, ev);
	if (self == NULL)
		/* relaxed: a count */
		melyint_stamp_outside(ev, MELY_ADD(&owner->rt->outside.posts, 1, relaxed));
	else
		melyint_stamp(&self->tallies,
		    MELY_LOAD(&self->pace.turn_ticks, relaxed), ev); /* ours */
	if (self != NULL && owner != self)
		MELY_COUNT(&self->counters.posts_remote, 1);
	how = melyint_append_locked(owner, color, ev, flags);
	woken = owner != self && how != MELYINT_APPEND_DEAD && melyint_wake_locked(owner);
	melyint_lock_drop(&owner->lock);
	if (woken)
		melyint_wake_finish(self, owner);
	else if (how == MELYINT_APPEND_LINKED)
		melyint_offer(self, owner);
	if (MELY_LIKELY(how < MELYINT_APPEND_DEAD))
		return 0;
	return how == MELYINT_APPEND_DEAD ? -ESTALE : -EINVAL;
}

/* ---- embedded events ------------------------------------------------------------------------- */

int
melyint_post(struct mely_color *color, struct mely_event *ev, unsigned flags)
{
	struct melyint_core *self = melyint_self;
	int error = 0;

	if (MELY_UNLIKELY(!melyint_event_claim(ev)))
		return -EALREADY;
	if (MELY_UNLIKELY(ev->_handler == NULL)) { /* zeroed, and never initialised */
		melyint_event_unclaim(ev);
		return -EINVAL;
	}
	/* A handler's posts to its own color are never refused. */
	if (self == NULL || self->batch.color != color)
		error = melyint_post_rules(self, color, ev, flags);
	if (error == 0)
		error = enqueue(self, color, ev, flags);
	if (MELY_UNLIKELY(error != 0)) {
		melyint_post_unmark(color, ev);
		melyint_event_unclaim(ev);
	}
	return error;
}

int
mely_event_post(struct mely_color *color, struct mely_event *ev)
{
	melyint_examine_color(__func__, color);
	melyint_examine_event(__func__, ev);
	if (MELY_UNLIKELY(color == NULL || ev == NULL))
		return -EINVAL;
	return melyint_post(color, ev, 0);
}

/* ---- pooled events -------------------------------------------------------------------------- */

int
melyint_post_pooled(struct melyint_core *self, struct mely_color *color,
    struct mely_handler *handler, void *arg, uint32_t time_ns, unsigned flags)
{
	struct mely_event *ev =
	    self != NULL ? melyint_pool_get(&self->pool) : melyint_pool_get_outside();
	int error = 0;

	MELY_DEBUG_ASSERT(self == NULL || self == melyint_self); /* it owns the pool */
	if (MELY_UNLIKELY(ev == NULL))
		return -ENOMEM;
	ev->_handler = handler;
	ev->_arg = arg;
	ev->_time = time_ns;
	ev->_flags = MELYINT_EV_POOLED;
	melyint_check_posted(ev, true);
	if (self == NULL || self->batch.color != color)
		error = melyint_post_rules(self, color, ev, flags);
	if (error == 0)
		error = enqueue(self, color, ev, flags);
	if (MELY_UNLIKELY(error != 0)) {
		melyint_post_unmark(color, ev);
		melyint_event_free(ev);
	}
	return error;
}

int
mely_post(struct mely_color *color, struct mely_handler *handler, void *arg)
{
	melyint_examine_color(__func__, color);
	melyint_examine_handler(__func__, handler);
	if (MELY_UNLIKELY(color == NULL || handler == NULL))
		return -EINVAL;
	return melyint_post_pooled(melyint_self, color, handler, arg, 0, 0);
}

int
mely_post_id(struct mely_runtime *rt, uint32_t id, struct mely_handler *handler, void *arg)
{
	struct melyint_core *self = melyint_self;
	struct mely_color *color;
	int error;

	if (MELY_UNLIKELY(self == NULL || self->rt != rt || handler == NULL))
		return melyint_post_id_slow(self, rt, id, handler, arg, 0);
	color = melyint_dense_find((const struct melyint_dense *)rt->colors, id);
	if (MELY_UNLIKELY(color == NULL))
		return melyint_post_id_slow(self, rt, id, handler, arg, 0);
	MELY_DEBUG_ASSERT(color->_id == id); /* two ids never share a color */
	error = melyint_post_pooled(self, color, handler, arg, 0, 0);
	return error == -ESTALE ? melyint_post_id_slow(self, rt, id, handler, arg, 0) : error;
}
