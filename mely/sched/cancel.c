/* SPDX-License-Identifier: MIT */
/*
 * cancel.c: cancelling posted events. Any thread.
 *
 * NOTE(cancel)
 *   A. QUEUED: the event is in its color-queue. The canceller unlinks it under the lock of the
 *      color's owner, and the event is the caller's again.
 *   B. PRIVATE, in a handler of its color: the event is in the batch of the caller's own core,
 *      which unlinks it, after a short hold of its lock that proves the event to be there. So a
 *      cancel by a handler of the color is exact (invariant 9).
 *   C. PRIVATE, from elsewhere: the event is in the batch of a core that runs it without a lock.
 *      The canceller marks it CANCELLED, which that core may or may not see in time, and returns
 *      -EINPROGRESS. It hangs the completion on the core under the lock; the core's next turn,
 *      under the same lock, posts it: by then the event has run or has been dropped.
 *   D. IDLE, but the current event of its color's owner: its handler runs now; as C.
 *   E. PROMISED: the event is itself a completion of C or D, not yet posted. It stays one; -EBUSY.
 *   F. LEFT: a stop is handing the events of its color back. As A, from the list of what is left.
 */
#include <errno.h>
#include <sched.h>

#include "base/assert.h"
#include "color/misuse.h"
#include "color/names_marks.h"
#include "core/worth.h"
#include "sched/cancel.h"
#include "sched/post.h"

/* Give the event back to the caller. */
static void
free_again(struct melyint_core *self, struct mely_color *color, struct mely_event *ev)
{
	/* CANCELLED: another core has marked it since this one found it in its own batch */
	MELY_DEBUG_ASSERT(MELY_PEEK(&ev->_state) == MELYINT_EV_CLAIMED ||
	    MELY_PEEK(&ev->_state) == MELYINT_EV_PRIVATE ||
	    MELY_PEEK(&ev->_state) == MELYINT_EV_CANCELLED);
	/* Taking the mark off may post. */
	MELY_DEBUG_ASSERT(self == NULL || !melyint_lock_held(&self->lock));
	melyint_check_taken_back(ev);
	if (ev->_flags & MELYINT_EV_COUNTED)
		melyint_mark_ran(color);
	if (self != NULL)
		MELY_COUNT(&self->counters.cancels, 1);
	/* release: pairs with the acquire of the post that claims it next */
	MELY_STORE(&ev->_state, MELYINT_EV_IDLE, release);
}

/* A of NOTE(cancel). Called under the owner's lock; drops it. */
static int
cancel_queued(struct melyint_core *self, struct melyint_core *owner, struct mely_color *color,
    struct mely_event *ev)
{
	bool finished;

	MELY_DEBUG_ASSERT(melyint_lock_held(&owner->lock));
	MELY_DEBUG_ASSERT(MELY_PEEK(&ev->_state) == MELYINT_EV_QUEUED &&
	    MELY_PEEK(&ev->_color) == color);
	/* relaxed: under the lock */
	finished = melyint_remove_locked(owner, color, ev) &&
	    (MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_RELEASED) != 0;
	/* The event is in no color-queue: another cancel must wait until it is the caller's.
	 * relaxed: cancels read it again under the lock. */
	MELY_STORE(&ev->_state, MELYINT_EV_CLAIMED, relaxed);
	melyint_lock_drop(&owner->lock);
	free_again(self, color, ev);
	if (finished)
		melyint_color_finish(color);
	return 0;
}

/* F of NOTE(cancel). Called under the owner's lock; drops it. The color is RUNNING until all have
 * been handed back. */
static int
cancel_left(struct melyint_core *self, struct melyint_core *owner, struct mely_color *color,
    struct mely_event *ev)
{
	struct mely_event **left = &owner->rt->life.left;

	MELY_DEBUG_ASSERT(melyint_lock_held(&owner->lock));
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_RUNNING);
	*left = melyint_evq_remove(*left, ev);
	MELY_STORE(&ev->_state, MELYINT_EV_CLAIMED, relaxed); /* as in cancel_queued */
	melyint_lock_drop(&owner->lock);
	free_again(self, color, ev);
	return 0;
}

/* B of NOTE(cancel). */
static int
cancel_own(struct melyint_core *self, struct mely_color *color, struct mely_event *ev)
{
	struct melyint_batch *batch = &self->batch;
	struct mely_event **lists[] = {&batch->heads, &batch->tails, &batch->own};

	MELY_DEBUG_ASSERT(melyint_self == self && batch->color == color);
	MELY_DEBUG_ASSERT(melyint_ev_color(MELY_PEEK(&ev->_color)) == color);
	melyint_evq_remove_from(lists, 3, ev);
	melyint_batch_lose(batch, ev);
	free_again(self, color, ev);
	return 0;
}

/* B of NOTE(cancel): is the event in the batch of this core? Else it was PRIVATE on another core
 * and has been posted to this color since, which takes the lock that we hold here. */
static bool
in_own_batch(struct melyint_core *self, struct mely_color *color, struct mely_event *ev)
{
	bool own;

	MELY_DEBUG_ASSERT(self->batch.color == color);
	melyint_lock_take(&self->lock);
	/* acquire: the state before the color, as in cancel; relaxed: published by the state, by
	 * whatever core stored it */
	own = MELY_LOAD(&ev->_state, acquire) == MELYINT_EV_PRIVATE &&
	    melyint_ev_color(MELY_LOAD(&ev->_color, relaxed)) == color;
	melyint_lock_drop(&self->lock);
	return own;
}

/* C and D of NOTE(cancel): hang the completion on the owner. Under its lock. */
static int
hang_completion(struct melyint_core *owner, struct mely_color *done_color,
    struct mely_event *done)
{
	uint16_t idle = MELYINT_EV_IDLE;

	MELY_DEBUG_ASSERT(melyint_lock_held(&owner->lock));
	/* Only the end of a batch posts the completion. */
	MELY_DEBUG_ASSERT(owner->locked.has_batch);
	if (done == NULL)
		return -EINPROGRESS;
	/* acquire: pairs with the release that made it the caller's */
	if (!MELY_CAS(&done->_state, &idle, MELYINT_EV_PROMISED, acquire))
		return -EALREADY;
	melyint_check_promise(done);
	/* relaxed: read by the owner, under the lock */
	MELY_STORE(&done->_color, melyint_ev_color_unlocked(done_color), relaxed);
	done->_next = owner->locked.waiters;
	owner->locked.waiters = done;
	return -EINPROGRESS;
}

static int
cancel_taken(struct melyint_core *owner, struct mely_event *ev, struct mely_color *done_color,
    struct mely_event *done)
{
	uint16_t taken = MELYINT_EV_PRIVATE;
	int result = hang_completion(owner, done_color, done);

	if (result == -EINPROGRESS) {
		/* relaxed: a request that the running core may miss */
		MELY_CAS(&ev->_state, &taken, MELYINT_EV_CANCELLED, relaxed);
	}
	return result;
}

/*
 * Under the lock of the color's owner: is this the event's color? It may have moved meanwhile; then
 * the caller looks again.
 */
static bool
is_color_of(struct melyint_core *owner, struct mely_color *color, struct mely_event *ev,
    uint16_t *state)
{
	struct mely_color *stored;

	MELY_DEBUG_ASSERT(melyint_lock_held(&owner->lock));
	/* acquire: as in cancel; relaxed: published by the state, by whatever core stored it */
	*state = MELY_LOAD(&ev->_state, acquire);
	stored = MELY_LOAD(&ev->_color, relaxed);
	if (*state == MELYINT_EV_CLAIMED || *state == MELYINT_EV_PROMISED)
		return false;
	/* Stored without the lock, the color is younger than these states, which are then of
	 * another color. Else neither changes until the lock is dropped. */
	if (*state == MELYINT_EV_QUEUED || *state == MELYINT_EV_LEFT)
		return stored == color;
	return melyint_ev_color(stored) == color;
}

/* plead: also mark an event that another core has taken. */
static int
cancel(struct mely_event *ev, struct mely_color *done_color, struct mely_event *done, bool plead)
{
	struct melyint_core *self = melyint_self;

	for (;;) {
		/* acquire: pairs with the release stores of the posts */
		uint16_t state = MELY_LOAD(&ev->_state, acquire);
		/* acquire: pairs with the release of a post that may follow the load of the state:
		 * the color can be one that this post has made */
		struct mely_color *color = melyint_ev_color(MELY_LOAD(&ev->_color, acquire));
		struct melyint_core *owner;
		bool taken;
		int result;

		if (state == MELYINT_EV_CLAIMED) {
			sched_yield(); /* what claimed it ends within a few instructions */
			continue;
		}
		if (state == MELYINT_EV_PROMISED)
			return -EBUSY;
		if (color == NULL)
			return -ENOENT;
		if (self != NULL && self->batch.color == color && state == MELYINT_EV_PRIVATE) {
			if (in_own_batch(self, color, ev))
				return cancel_own(self, color, ev);
			continue;
		}
		if (self != NULL && self->batch.color == color && state == MELYINT_EV_IDLE)
			return -ENOENT;
		owner = melyint_color_lock(color);
		if (!is_color_of(owner, color, ev, &state)) {
			melyint_lock_drop(&owner->lock);
			continue;
		}
		if (state == MELYINT_EV_QUEUED && melyint_color_away(color)) {
			melyint_lock_drop(&owner->lock);
			sched_yield(); /* the core that moves it ends within a few instructions */
			continue;
		}
		if (state == MELYINT_EV_QUEUED)
			return cancel_queued(self, owner, color, ev);
		if (state == MELYINT_EV_LEFT)
			return cancel_left(self, owner, color, ev);
		/* acquire: pairs with the release in end.h: if another event is the current one by
		 * now, the handler has ended, and the event's memory is the program's */
		taken = state != MELYINT_EV_IDLE;
		if (!taken && MELY_LOAD(&owner->shown.current, acquire) != ev) {
			result = -ENOENT;
		} else if (taken && MELY_LOAD(&owner->shown.running, relaxed) != color) {
			/* It has run, and has been promised to this color since; or the core that
			 * had it was left in the parent of a fork. relaxed: a core shows its batch
			 * under its lock, or before it owns the color */
			result = -EBUSY;
		} else if (done != NULL && !melyint_color_stays(done_color)) {
			/* The completion keeps its color's address. */
			melyint_lock_drop(&owner->lock);
			melyint_color_hold(done_color);
			continue;
		} else if (taken) {
			result = plead ? cancel_taken(owner, ev, done_color, done) : -EINPROGRESS;
		} else {
			result = hang_completion(owner, done_color, done);
		}
		melyint_lock_drop(&owner->lock);
		return result;
	}
}

int
mely_event_cancel(struct mely_event *ev, struct mely_color *done_color, struct mely_event *done)
{
	melyint_examine_event(__func__, ev);
	if (done != NULL) {
		melyint_examine_event(__func__, done);
		melyint_examine_color(__func__, done_color);
	}
	if (MELY_UNLIKELY(ev == NULL || (done != NULL && done_color == NULL)))
		return -EINVAL;
	return cancel(ev, done_color, done, true);
}

int
melyint_cancel_queued(struct mely_event *ev)
{
	return cancel(ev, NULL, NULL, false);
}

void
melyint_cancel_complete(struct mely_event *waiters)
{
	if (waiters == NULL)
		return;
	/* In a batch of the completion's color, the post would join a batch that has ended. */
	MELY_DEBUG_ASSERT(melyint_self != NULL && melyint_self->batch.color == NULL);
	melyint_check_for_last(true);
	while (waiters != NULL) {
		struct mely_event *next = waiters->_next;
		/* relaxed: set under the lock */
		struct mely_color *color = melyint_ev_color(MELY_LOAD(&waiters->_color, relaxed));

		MELY_DEBUG_ASSERT(MELY_PEEK(&waiters->_state) == MELYINT_EV_PROMISED);
		/* release: pairs with the acquire of melyint_post's claim */
		MELY_STORE(&waiters->_state, MELYINT_EV_IDLE, release);
		if (melyint_post(color, waiters, MELYINT_POST_INTERNAL) != 0)
			melyint_say("a completion could not be posted");
		waiters = next;
	}
	melyint_check_for_last(false);
}
