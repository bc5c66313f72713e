/* SPDX-License-Identifier: MIT */
/*
 * post.c: posting an event to a color. Any thread.
 *
 * NOTE(post)
 *   A. A handler that posts to its own color appends to its core's batch: no lock, no atomic. A
 *      running color is never stolen, so no other thread reads that list. When the batch ends, what
 *      is left of it goes back into the color-queue (turn.c:put_back).
 *   B. Every other post locks the core that owns the color (melyint_color_lock) and appends. If the
 *      color was idle, the poster links the color-queue into the core-queue.
 *   C. A core that posts to an idle color, one with nothing queued or running, adopts it if it has
 *      no more waiting than the owner, or if the owner sleeps (or is stuck, and this core polls on
 *      its behalf). Then the event runs where its data was just written, and no core is woken.
 *      Without stealing, only color 0 is adopted, while it serves the only poller (NOTE(single) in
 *      io/single.c) and its core is stuck.
 *   D. A core's sleep is written under its lock. So a poster that appends under that lock sees a
 *      sleeper for certain and owes it the wake-up; the system call comes after the unlock
 *      (NOTE(park) in park.c).
 */
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "color/misuse.h"
#include "color/table.h"
#include "core/worth.h"
#include "sched/lend.h"
#include "sched/post.h"
#include "sched/wait.h"

/* ---- under the owner's lock ------------------------------------------------------------------ */

/* Note the priority of a new event in its color, and move the color in the core-queue if needed.
 * Under the owner's lock. */
static void
raise_priority(struct melyint_core *owner, struct mely_color *color, int8_t priority)
{
	unsigned state = MELY_LOAD(&color->_state, relaxed); /* under the lock */
	bool last = owner->rt->config.priority_rule == MELY_PRIORITY_LAST_POST;

	MELY_DEBUG_ASSERT(melyint_lock_held(&owner->lock));
	if (state == MELYINT_COLOR_IDLE || color->_priority == priority) {
		color->_priority = priority;
		return;
	}
	if (!last && priority < color->_priority)
		return;
	if (state == MELYINT_COLOR_QUEUED) {
		melyint_coreq_unlink(&owner->ready, color);
		color->_priority = priority;
		melyint_coreq_link(&owner->ready, color);
	} else {
		color->_priority = priority;
	}
}

/* For assertions, under the owner's lock. */
static bool
has_events(const struct mely_color *color)
{
	return MELY_PEEK(&color->_heads) != NULL || color->_tails != NULL;
}

/* C of NOTE(post). Under the owner's lock; true when the color now belongs to self. */
static bool
adopt(struct melyint_core *self, struct melyint_core *owner, struct mely_color *color,
    unsigned flags)
{
	if ((flags & MELYINT_POST_READY) && melyint_lend_holds(self))
		return false; /* A of NOTE(lend) */
	/* relaxed, all of these: state and flags are under the lock, the rest are hints */
	if (MELY_LOAD(&color->_state, relaxed) != MELYINT_COLOR_IDLE ||
	    (MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_PINNED) != 0)
		return false;
	/* The color that serves the only poller must leave a stuck core all the same: every
	 * descriptor depends on it. */
	if (MELY_LOAD(&self->rt->switches.stealing, relaxed) == 0 &&
	    (owner != self->others.relieved || !melyint_poller_uses(owner, color)))
		return false;
	if (MELY_LOAD(&owner->locked.sleep, relaxed) == MELYINT_AWAKE &&
	    owner != self->others.relieved &&
	    MELY_LOAD(&self->hint.stealable, relaxed) > MELY_LOAD(&owner->hint.stealable, relaxed))
		return false;
	MELY_DEBUG_ASSERT(owner->rt == self->rt && melyint_lock_held(&owner->lock));
	/* An adoption links nothing: events of the color would stay in the owner's queue. */
	MELY_DEBUG_ASSERT(melyint_self == self && !has_events(color));
	/* release: pairs with the acquire in melyint_color_lock */
	MELY_STORE(&color->_owner, self, release);
	MELY_COUNT(&self->counters.adoptions, 1);
	return true;
}

/* A of NOTE(weight). Under the owner's lock. */
MELY_INLINE void
weigh_posted(struct melyint_core *owner, struct mely_color *color, struct mely_event *ev,
    unsigned flags)
{
	unsigned weighing = MELY_LOAD(&owner->rt->switches.weighing, relaxed); /* a switch */

	/* Its weight would count twice. */
	MELY_DEBUG_ASSERT(ev->_time == 0 || (ev->_flags & MELYINT_EV_TIMED));
	if (weighing != MELYINT_WEIGH_NOT && MELY_LIKELY(!(flags & MELYINT_COLOR_RELEASED)))
		color->_u._worth._time_left += melyint_weigh(owner->rt, weighing, ev);
}

/* May a post be appended to a color that is dead or released? */
static MELY_NOINLINE bool
admits_slow(const struct mely_color *color, const struct mely_event *ev, unsigned color_flags,
    unsigned flags)
{
	return !(color_flags & MELYINT_COLOR_DEAD) &&
	    melyint_released_admits(color, ev, (flags & MELYINT_POST_INTERNAL) != 0);
}

int
melyint_append_locked(struct melyint_core *owner, struct mely_color *color,
    struct mely_event *ev, unsigned flags)
{
	/* relaxed, both: under the owner's lock */
	unsigned color_flags = MELY_LOAD(&color->_flags, relaxed);
	unsigned state = MELY_LOAD(&color->_state, relaxed);

	MELY_DEBUG_ASSERT(melyint_lock_held(&owner->lock) && MELY_PEEK(&color->_owner) == owner);
	MELY_DEBUG_ASSERT(melyint_event_claimed(ev));
	MELY_DEBUG_ASSERT(state != MELYINT_COLOR_IDLE || !has_events(color));
	/* C of NOTE(colortab): the caller looks the color up again */
	if (MELY_UNLIKELY(color_flags & (MELYINT_COLOR_DEAD | MELYINT_COLOR_RELEASED)) &&
	    !admits_slow(color, ev, color_flags, flags))
		return color_flags & MELYINT_COLOR_DEAD ? MELYINT_APPEND_DEAD :
		    MELYINT_APPEND_RELEASED;
	raise_priority(owner, color, melyint_priority_of(ev));
	weigh_posted(owner, color, ev, color_flags);
	if (!(ev->_flags & MELYINT_EV_POOLED)) {
		/* relaxed: under the lock. The event keeps the color's address, so no trim may free
		 * the color. */
		MELY_OR(&color->_flags, MELYINT_COLOR_MIXED | MELYINT_COLOR_HELD, relaxed);
		MELY_STORE(&ev->_color, color, release); /* pairs with the acquire in cancel.c */
		/* release: pairs with the acquire in cancel.c, which then trusts ev->_color */
		MELY_STORE(&ev->_state, MELYINT_EV_QUEUED, release);
	}
	if (MELY_UNLIKELY(flags & MELYINT_POST_HEAD)) {
		struct mely_event *heads = MELY_LOAD(&color->_heads, relaxed); /* under the lock */

		/* release: pairs with the acquire of the running core, which checks for heads
		 * between events (run.c) */
		MELY_STORE(&color->_heads, melyint_evq_append(heads, ev), release);
	} else {
		color->_tails = melyint_evq_append(color->_tails, ev);
	}
	if (state == MELYINT_COLOR_IDLE) {
		melyint_core_link(owner, color);
		return MELYINT_APPEND_LINKED;
	}
	if (state != MELYINT_COLOR_QUEUED)
		return MELYINT_APPEND_QUEUED;
	return MELY_UNLIKELY(melyint_core_weigh(owner, color, color_flags)) ?
	    MELYINT_APPEND_LINKED : MELYINT_APPEND_QUEUED;
}

bool
melyint_remove_locked(struct melyint_core *owner, struct mely_color *color,
    struct mely_event *ev)
{
	/* relaxed, all: under the lock */
	struct mely_event *heads = MELY_LOAD(&color->_heads, relaxed);
	struct mely_event **lists[] = {&heads, &color->_tails};
	unsigned flags = MELY_LOAD(&color->_flags, relaxed);
	bool linked = MELY_LOAD(&color->_state, relaxed) == MELYINT_COLOR_QUEUED;

	MELY_DEBUG_ASSERT(melyint_lock_held(&owner->lock) && MELY_PEEK(&color->_owner) == owner);
	MELY_ASSERT(heads != NULL || color->_tails != NULL); /* ev is in one of them */
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) != MELYINT_COLOR_IDLE);
	melyint_evq_remove_from(lists, 2, ev);
	MELY_DEBUG_ASSERT((flags & MELYINT_COLOR_RELEASED) ||
	    color->_u._worth._time_left >= melyint_weight_of(ev));
	if (!(flags & MELYINT_COLOR_RELEASED))
		color->_u._worth._time_left -= melyint_weight_of(ev);
	/* release: as in melyint_append_locked */
	MELY_STORE(&color->_heads, heads, release);
	if (heads != NULL || color->_tails != NULL) {
		if (linked)
			(void)melyint_core_weigh(owner, color, flags);
		return false;
	}
	if (!linked)
		return false;
	melyint_core_unlink(owner, color);
	melyint_color_become(color, MELYINT_COLOR_IDLE);
	MELY_DEBUG_ASSERT((flags & MELYINT_COLOR_RELEASED) ||
	    color->_u._worth._time_left == 0); /* E of NOTE(weight) */
	return true;
}

/* ---- ways of an event ------------------------------------------------------------------------ */

/* A of NOTE(outbox): count a post to another core, and open the outbox or close it. The owner's
 * lock is held. */
static void
count_remote(struct melyint_core *self, struct melyint_core *owner)
{
	MELY_DEBUG_ASSERT(melyint_self == self && melyint_lock_held(&owner->lock));
	MELY_DEBUG_ASSERT(owner != self && owner->rt == self->rt);
	MELY_COUNT(&self->counters.posts_remote, 1);
	/* relaxed, all: the owner's words are hints; others only close our outbox */
	if (++self->outbox.remote < self->rt->limits.outbox_after ||
	    MELY_LOAD(&self->rt->flow.direct, relaxed))
		return;
	if (MELY_LOAD(&owner->hint.waiting, relaxed) < 2) {
		MELY_STORE(&self->outbox.open, false, relaxed);
		return;
	}
	if (!MELY_LOAD(&self->rt->flow.outboxes, relaxed))
		MELY_STORE(&self->rt->flow.outboxes, true, relaxed); /* E of NOTE(outbox) */
	MELY_STORE(&self->outbox.open, true, relaxed);
}

/* A of NOTE(post) */
MELY_INLINE void
append_own(struct melyint_batch *batch, struct mely_color *color, struct mely_event *ev)
{
	/* It runs here, on behalf of this thread. */
	MELY_DEBUG_ASSERT(batch->color == color && batch == &melyint_self->batch);
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_RUNNING);
	MELY_DEBUG_ASSERT(melyint_event_claimed(ev));
	if (!(ev->_flags & MELYINT_EV_POOLED)) {
		/* release: as in append */
		MELY_STORE(&ev->_color, melyint_ev_color_unlocked(color), release);
		batch->own_embedded = true;
		/* release: as in append */
		MELY_STORE(&ev->_state, MELYINT_EV_PRIVATE, release);
	}
	batch->own = melyint_evq_append(batch->own, ev);
}

/* B, C and D of NOTE(post). The event has been claimed. */
static MELY_NOINLINE int
enqueue_slow(struct melyint_core *self, struct mely_color *color, struct mely_event *ev,
    unsigned flags)
{
	struct melyint_core *owner;
	bool woken;
	int how;

	MELY_DEBUG_ASSERT(self == NULL || self == melyint_self);
	if (MELYINT_OBSERVED(post))
		melyint_observe_post(self, color, ev);
	if (self != NULL && MELY_UNLIKELY(!melyint_outbox_empty(&self->outbox)))
		melyint_outbox_deliver(self, self); /* B of NOTE(outbox) */
	owner = melyint_color_lock(color);
	if (self != NULL && self->rt != owner->rt)
		self = NULL;
	if (self != NULL && owner != self) {
		if (adopt(self, owner, color, flags)) {
			melyint_lock_drop(&owner->lock);
			owner = melyint_color_lock(color);
		} else {
			count_remote(self, owner);
		}
	} else if (self != NULL && (flags & MELYINT_POST_READY) && melyint_lend(self, color)) {
		melyint_lock_drop(&owner->lock);
		owner = melyint_color_lock(color);
		count_remote(self, owner);
	} else if (self == NULL) {
		/* relaxed: a count */
		melyint_stamp_outside(ev, MELY_ADD(&owner->rt->outside.posts, 1, relaxed));
	}
	if (self != NULL)
		melyint_stamp(&self->tallies,
		    MELY_LOAD(&self->pace.turn_ticks, relaxed), ev); /* ours */
	how = melyint_append_locked(owner, color, ev, flags);
	if (MELY_UNLIKELY(how >= MELYINT_APPEND_DEAD)) {
		melyint_lock_drop(&owner->lock);
		return how == MELYINT_APPEND_DEAD ? -ESTALE : -EINVAL;
	}
	woken = owner != self && melyint_wake_locked(owner);
	melyint_lock_drop(&owner->lock);
	if (woken)
		melyint_wake_finish(self, owner);
	else if (how == MELYINT_APPEND_LINKED)
		melyint_offer(self, owner);
	return 0;
}

/* A of NOTE(post) in an observed batch: B of NOTE(observe). */
static MELY_NOINLINE int
enqueue_observed(struct melyint_core *self, struct mely_color *color, struct mely_event *ev,
    unsigned flags)
{
	MELY_DEBUG_ASSERT(melyint_self == self);
	if (MELY_UNLIKELY(flags & MELYINT_POST_HEAD))
		return enqueue_slow(self, color, ev, flags);
	melyint_observe_own(self, ev);
	append_own(&self->batch, color, ev);
	return 0;
}

/* A of NOTE(outbox). False: the event must take the ordinary way. */
static bool
put_in_outbox(struct melyint_core *self, struct mely_color *color, struct mely_event *ev)
{
	struct melyint_outbox *out = &self->outbox;
	uint32_t tail = MELY_LOAD(&out->tail, relaxed); /* ours */
	/* acquire: pairs with the release of the thread that delivered from this entry before */
	uint32_t head = MELY_LOAD(&out->head, acquire);

	MELY_DEBUG_ASSERT(melyint_self == self && self->batch.color != color);
	MELY_DEBUG_ASSERT(ev->_flags & MELYINT_EV_POOLED);
	/* The ring has room, and the entry at its tail was delivered. */
	MELY_DEBUG_ASSERT(tail - head < MELYINT_OUTBOX &&
	    out->ring[tail % MELYINT_OUTBOX].color == NULL);
	/* relaxed: a mark that is set now may count from the next post on */
	if (MELY_UNLIKELY(MELY_LOAD(&self->rt->flow.direct, relaxed)))
		return false;
	if (MELYINT_OBSERVED(post))
		melyint_observe_post(self, color, ev);
	melyint_stamp(&self->tallies, MELY_LOAD(&self->pace.turn_ticks, relaxed), ev); /* ours */
	out->ring[tail % MELYINT_OUTBOX].color = color;
	out->ring[tail % MELYINT_OUTBOX].ev = ev;
	/* release: pairs with the acquire in melyint_outbox_deliver */
	MELY_STORE(&out->tail, tail + 1, release);
	if (tail + 1 - head >= self->rt->limits.outbox_full)
		melyint_outbox_deliver(self, self);
	return true;
}

MELY_INLINE int
enqueue(struct melyint_core *self, struct mely_color *color, struct mely_event *ev,
    unsigned flags)
{
	if (self != NULL && self->batch.direct == color && !(flags & MELYINT_POST_HEAD)) {
		append_own(&self->batch, color, ev);
		return 0;
	}
	if (self != NULL && MELY_UNLIKELY(self->batch.color == color))
		return enqueue_observed(self, color, ev, flags);
	return enqueue_slow(self, color, ev, flags);
}

/* A post of the program that may be refused. Posts to the running color, which come here only from
 * an observed batch, may not. */
static int
post_ruled(struct melyint_core *self, struct mely_color *color, struct mely_event *ev,
    unsigned flags)
{
	int error;

	if (self != NULL && MELY_UNLIKELY(self->batch.color == color))
		return enqueue(self, color, ev, flags);
	error = melyint_post_rules(self, color, ev, flags);
	if (MELY_LIKELY(error == 0))
		error = enqueue(self, color, ev, flags);
	if (MELY_UNLIKELY(error != 0))
		melyint_post_unmark(color, ev);
	return error;
}

/* ---- embedded events ------------------------------------------------------------------------- */

int
melyint_post(struct mely_color *color, struct mely_event *ev, unsigned flags)
{
	struct melyint_core *self = melyint_self;
	int error;

	if (MELY_UNLIKELY(!melyint_event_claim(ev)))
		return -EALREADY;
	if (MELY_UNLIKELY(ev->_handler == NULL)) { /* zeroed, and never initialised */
		melyint_event_unclaim(ev);
		return -EINVAL;
	}
	if (MELY_LIKELY(self != NULL && self->batch.direct == color))
		return enqueue(self, color, ev, flags);
	error = post_ruled(self, color, ev, flags);
	if (MELY_UNLIKELY(error != 0))
		melyint_event_unclaim(ev);
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

MELY_INLINE void
fill(struct mely_event *ev, struct mely_handler *handler, void *arg, uint32_t time_ns)
{
	ev->_handler = handler;
	ev->_arg = arg;
	ev->_time = time_ns;
	ev->_flags = time_ns != 0 ? MELYINT_EV_POOLED | MELYINT_EV_TIMED : MELYINT_EV_POOLED;
	melyint_check_posted(ev, true);
}

/* A handler posts to another color of its own runtime: only the marks can refuse that. */
MELY_INLINE int
post_inside(struct melyint_core *self, struct mely_color *color, struct mely_event *ev,
    unsigned flags)
{
	MELY_DEBUG_ASSERT(melyint_self == self && MELY_PEEK(&color->_owner)->rt == self->rt);
	if (MELY_UNLIKELY(self->batch.color == color)) /* not by the outbox */
		return enqueue_observed(self, color, ev, flags);
	/* relaxed: this core opens it; a core that closes it collects what comes too late */
	if (MELY_LOAD(&self->outbox.open, relaxed) && flags == 0 && put_in_outbox(self, color, ev))
		return 0;
	/* relaxed: a mark that is set now may count from the next post on */
	if (MELY_UNLIKELY(MELY_LOAD(&self->rt->flow.direct, relaxed)))
		return post_ruled(self, color, ev, flags);
	return enqueue_slow(self, color, ev, flags);
}

MELY_INLINE int
post_pooled(struct melyint_core *self, struct mely_color *color, struct mely_handler *handler,
    void *arg, uint32_t time_ns, unsigned flags)
{
	struct mely_event *ev =
	    self != NULL ? melyint_pool_get(&self->pool) : melyint_pool_get_outside();
	int error;

	MELY_DEBUG_ASSERT(self == NULL || self == melyint_self); /* it owns the pool */
	if (MELY_UNLIKELY(ev == NULL))
		return -ENOMEM;
	fill(ev, handler, arg, time_ns);
	if (self != NULL && self->batch.direct == color)
		return enqueue(self, color, ev, flags);
	/* acquire: as in melyint_color_lock; a color's core may change, its runtime does not */
	if (self != NULL && MELY_LOAD(&color->_owner, acquire)->rt == self->rt)
		error = post_inside(self, color, ev, flags);
	else
		error = post_ruled(self, color, ev, flags);
	if (MELY_UNLIKELY(error != 0))
		melyint_event_free(ev);
	return error;
}

int
melyint_post_pooled(struct melyint_core *self, struct mely_color *color,
    struct mely_handler *handler, void *arg, uint32_t time_ns, unsigned flags)
{
	return post_pooled(self, color, handler, arg, time_ns, flags);
}

int
mely_post(struct mely_color *color, struct mely_handler *handler, void *arg)
{
	melyint_examine_color(__func__, color);
	melyint_examine_handler(__func__, handler);
	if (MELY_UNLIKELY(color == NULL || handler == NULL))
		return -EINVAL;
	return post_pooled(melyint_self, color, handler, arg, 0, 0);
}

/* The id of the running color, also in an observed batch. */
static uint64_t
own_id(const struct melyint_batch *batch)
{
	const struct mely_color *color = batch->color;

	/* relaxed: this flag never changes */
	return color == NULL || (MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_OBJECT) ?
	    MELYINT_NO_ID : color->_id;
}

/* mely_post_id by an observed core. */
static MELY_NOINLINE int
post_observed(struct mely_runtime *rt, uint32_t id, struct mely_handler *handler, void *arg)
{
	struct melyint_core *self = melyint_self;
	struct mely_event *ev;

	if (own_id(&self->batch) != id)
		return melyint_post_id_slow(self, rt, id, handler, arg, 0);
	ev = melyint_pool_get(&self->pool);
	if (MELY_UNLIKELY(ev == NULL))
		return -ENOMEM;
	fill(ev, handler, arg, 0);
	return enqueue_observed(self, self->batch.color, ev, 0);
}

/* The event could not be posted; to a dead color it is posted again by its id. */
static MELY_NOINLINE int
post_id_failed(struct melyint_core *self, uint32_t id, struct mely_event *ev, int error)
{
	struct mely_handler *handler = ev->_handler;
	void *arg = ev->_arg;

	melyint_event_free(ev);
	return error == -ESTALE ? melyint_post_id_slow(self, self->rt, id, handler, arg, 0) : error;
}

/* mely_post_id by a core of rt, not to its running color. */
static MELY_NOINLINE int
post_id_away(struct mely_runtime *rt, uint32_t id, struct mely_handler *handler, void *arg,
    struct melyint_core *self)
{
	struct mely_color *color;
	struct mely_event *ev;
	int error;

	if (MELY_UNLIKELY(handler == NULL))
		return -EINVAL;
	if (MELY_UNLIKELY(self->sampling.observe != 0))
		return post_observed(rt, id, handler, arg);
	color = melyint_dense_find((const struct melyint_dense *)rt->colors, id);
	/* Also with an empty pool: without a call before post_inside, few registers are saved. */
	if (MELY_UNLIKELY(color == NULL || self->pool.count == 0))
		return melyint_post_id_slow(self, rt, id, handler, arg, 0);
	MELY_DEBUG_ASSERT(color->_id == id);
	ev = melyint_pool_get(&self->pool);
	fill(ev, handler, arg, 0);
	error = post_inside(self, color, ev, 0);
	if (MELY_LIKELY(error == 0))
		return 0;
	return post_id_failed(self, id, ev, error);
}

/* A of NOTE(post): a pooled event to the running color, whose batch is not observed. */
MELY_INLINE int
post_own(struct melyint_core *self, struct mely_handler *handler, void *arg)
{
	struct mely_event *ev = melyint_pool_get(&self->pool);

	MELY_DEBUG_ASSERT(melyint_self == self && self->batch.direct == self->batch.color);
	MELY_DEBUG_ASSERT(MELY_PEEK(&self->batch.color->_state) == MELYINT_COLOR_RUNNING);
	if (MELY_UNLIKELY(ev == NULL))
		return -ENOMEM;
	fill(ev, handler, arg, 0);
	self->batch.own = melyint_evq_append(self->batch.own, ev);
	return 0;
}

static MELY_NOINLINE int
post_own_slow(struct melyint_core *self, struct mely_handler *handler, void *arg)
{
	if (MELY_UNLIKELY(handler == NULL))
		return -EINVAL;
	return post_own(self, handler, arg);
}

int
mely_post_id(struct mely_runtime *rt, uint32_t id, struct mely_handler *handler, void *arg)
{
	struct melyint_core *self = melyint_self;

	melyint_examine_handler(__func__, handler);
	if (MELY_UNLIKELY(self == NULL || self->rt != rt))
		return melyint_post_id_slow(self, rt, id, handler, arg, 0);
	if (self->batch.color_id != id)
		return post_id_away(rt, id, handler, arg, self);
	/* No call on this path, so that the compiler saves no registers. */
	if (MELY_UNLIKELY(handler == NULL || self->pool.count == 0))
		return post_own_slow(self, handler, arg);
	return post_own(self, handler, arg);
}
