/* SPDX-License-Identifier: MIT */
/*
 * turn.c: the turns of a core. In one critical section the finished batch goes back and the core
 * takes the next color-queue. Owner's thread only.
 *
 * NOTE(batch)
 *   A. To take a color-queue makes it RUNNING and moves its events into the core's batch, which
 *      needs no lock. Where all of them are pooled the core takes the whole list without walking
 *      it. Else it takes at most a batch threshold of them and marks embedded ones PRIVATE, so that
 *      a cancel on another core knows that it can no longer unlink them (NOTE(cancel)).
 *   B. Order: heads taken, heads that arrived meanwhile, tails taken, then what the color posted to
 *      itself (own). Own events run only when the core took the whole color-queue; else the
 *      color-queue may still hold earlier ones.
 *   C. Putting back: events that were taken and did not run go to the front of the color-queue, own
 *      ones to its end. All are marked QUEUED again, under the lock.
 *   D. The memory of an event is the caller's (or the pool's) before its handler is entered.
 */
#include "base/assert.h"
#include "core/core.h"
#include "core/worth.h"
#include "sched/end.h"
#include "sched/run.h"

enum { RESCAN_MAX = 16 };

/* ---- giving a batch back -------------------------------------------------------------------- */

/* C of NOTE(batch): mark a taken list QUEUED again and drop cancelled events. Under the lock. */
static struct mely_event *
requeue(struct melyint_core *core, struct mely_event *first)
{
	struct mely_event *ev = first, *end, *kept = NULL;

	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock));
	if (first == NULL)
		return NULL;
	end = first->_prev;
	for (;;) {
		struct mely_event *next = ev->_next;
		bool last = ev == end;

		if (ev->_flags & MELYINT_EV_POOLED) {
			kept = melyint_evq_append(kept, ev);
		} else {
			struct mely_color *color = core->batch.color;

			MELY_DEBUG_ASSERT(melyint_ev_color(MELY_PEEK(&ev->_color)) == color);
			/* relaxed: cancels on other cores hold the lock that we hold */
			if (MELY_LOAD(&ev->_state, relaxed) == MELYINT_EV_PRIVATE) {
				/* with the lock now; relaxed: published by the state */
				MELY_STORE(&ev->_color, color, relaxed);
				/* release: as in take_some */
				MELY_STORE(&ev->_state, MELYINT_EV_QUEUED, release);
				kept = melyint_evq_append(kept, ev);
			} else {
				melyint_batch_lose(&core->batch, ev);
				melyint_event_drop(core, ev);
			}
		}
		if (last)
			return kept;
		ev = next;
	}
}

/* C of NOTE(batch), in a batch with embedded events. Under the lock. */
static MELY_NOINLINE void
requeue_embedded(struct melyint_core *core)
{
	struct melyint_batch *batch = &core->batch;
	unsigned flags = 0;

	/* MIXED: the next take has to mark them again. */
	if (batch->mixed) {
		if (batch->heads != NULL || batch->tails != NULL)
			flags = MELYINT_COLOR_MIXED;
		batch->heads = requeue(core, batch->heads);
		batch->tails = requeue(core, batch->tails);
	}
	/* HELD: they keep the color's address, also when they have run. */
	if (batch->own_embedded) {
		flags |= MELYINT_COLOR_HELD;
		if (batch->own != NULL)
			flags |= MELYINT_COLOR_MIXED;
		batch->own = requeue(core, batch->own);
		batch->own_embedded = false;
	}
	/* relaxed, both: under the lock */
	if ((flags & ~(unsigned)MELY_LOAD(&batch->color->_flags, relaxed)) != 0)
		MELY_OR(&batch->color->_flags, (uint16_t)flags, relaxed);
}

/* The color's priority is that of its most urgent event. Find it again if there are few events. */
static void
settle_priority(struct melyint_core *core, struct mely_color *color, struct mely_event *heads)
{
	struct mely_event *lists[2] = {heads, color->_tails};
	int best = MELY_PRIORITY_MIN, seen = 0, i;

	/* In a core-queue its level must not change. */
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_RUNNING);
	if (core->rt->config.priority_rule == MELY_PRIORITY_LAST_POST)
		return;
	for (i = 0; i < 2; i++) {
		struct mely_event *ev = lists[i];

		if (ev == NULL)
			continue;
		do {
			int priority = ev->_handler->priority;

			best = priority > best ? priority : best;
			ev = ev->_next;
			if (++seen == RESCAN_MAX)
				return;
		} while (ev != lists[i]);
	}
	color->_priority = (int8_t)(best > MELY_PRIORITY_MAX ? MELY_PRIORITY_MAX : best);
}

/* Link a color that has events after its batch, or send it home. Under the lock. */
MELY_INLINE void
place(struct melyint_core *core, struct mely_color *color, uint64_t worth)
{
	unsigned flags = MELY_LOAD(&color->_flags, relaxed); /* under the lock */
	struct melyint_core *home = core;

	MELY_DEBUG_ASSERT(color->_tails != NULL || MELY_PEEK(&color->_heads) != NULL);
	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock) && core->due.leaving == NULL);
	if (MELY_UNLIKELY(flags & MELYINT_COLOR_PINNED))
		home = &core->rt->cores[flags >> MELYINT_COLOR_PIN_SHIFT];
	MELY_DEBUG_ASSERT(home->index < core->rt->cores_count);
	if (MELY_UNLIKELY(home != core)) {
		melyint_color_become(color, MELYINT_COLOR_MOVING);
		/* release: pairs with the acquire in melyint_color_lock */
		MELY_STORE(&color->_owner, home, release);
		core->due.leaving = color;
		MELY_ADD(&core->rt->flow.arriving, 1, relaxed); /* under the lock */
		return;
	}
	melyint_core_link_worth(core, color, worth);
}

/* ---- its weight ------------------------------------------------------------------------------ */

/* C of NOTE(tally): what the color posted to itself waits from the end of the batch. */
static MELY_NOINLINE void
stamp_row(struct mely_event *first, uint64_t ticks)
{
	struct mely_event *ev = first;

	do {
		ev->_stamp = ticks;
		ev = ev->_next;
	} while (ev != first);
}

MELY_INLINE void
stamp(struct mely_event *first, uint64_t ticks)
{
	first->_stamp = ticks;
	if (MELY_UNLIKELY(first->_next != first))
		stamp_row(first, ticks);
}

/* B of NOTE(weight): weigh what the color posted to itself and has not run. Under the lock. */
static MELY_NOINLINE uint64_t
weigh_row(struct mely_runtime *rt, unsigned weighing, struct mely_event *first)
{
	struct mely_event *ev = first;
	uint64_t weight = 0;

	do {
		/* B of NOTE(weight): only now */
		MELY_DEBUG_ASSERT(ev->_time == 0 || (ev->_flags & MELYINT_EV_TIMED));
		weight += melyint_weigh(rt, weighing, ev);
		ev = ev->_next;
	} while (ev != first);
	return weight;
}

/* Settle the color's account after its batch. Returns an upper bound of its worth. Under the lock.
 * */
MELY_INLINE uint64_t
settle_worth(struct melyint_core *core, struct mely_color *color, struct mely_event *own)
{
	unsigned weighing = MELY_LOAD(&core->rt->switches.weighing, relaxed); /* a switch */
	uint64_t left = 0, gone = core->batch.gone;

	if (weighing == MELYINT_WEIGH_NOT && gone == 0)
		return 0;
	core->batch.gone = 0;
	if (own != NULL && weighing != MELYINT_WEIGH_NOT)
		left = MELY_LIKELY(own->_next == own) ?
		    melyint_weigh(core->rt, weighing, own) :
		    weigh_row(core->rt, weighing, own);
	/* relaxed: under the lock */
	if (MELY_UNLIKELY(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_RELEASED))
		return 0;
	MELY_DEBUG_ASSERT(color->_u._worth._time_left >= gone); /* C of NOTE(weight) */
	left += color->_u._worth._time_left - gone;
	color->_u._worth._time_left = left;
	color->_u._worth._recent = core->pace.used_ns;
	return left + ((uint64_t)core->pace.used_ns << MELYINT_WEIGHT_SHIFT);
}

/* ---- the end of a batch ---------------------------------------------------------------------- */

/* A color without events was released, or pinned, while it ran. Under the lock. */
static MELY_NOINLINE void
rest(struct melyint_core *core, struct mely_color *color)
{
	unsigned flags = MELY_LOAD(&color->_flags, relaxed); /* under the lock */
	struct melyint_core *home = &core->rt->cores[flags >> MELYINT_COLOR_PIN_SHIFT];

	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock) && color->_tails == NULL);
	MELY_DEBUG_ASSERT(core->due.released == NULL); /* its release function would not run */
	if (flags & MELYINT_COLOR_RELEASED) {
		core->due.released = color;
	} else if (home != core) {
		/* release: pairs with the acquire in melyint_color_lock */
		MELY_STORE(&color->_owner, home, release);
	}
}

/* C of NOTE(batch). Under the lock. */
MELY_INLINE void
put_back(struct melyint_core *core)
{
	struct melyint_batch *batch = &core->batch;
	struct mely_color *color = batch->color;
	struct mely_event *heads, *own;
	uint64_t worth;

	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_RUNNING &&
	    MELY_PEEK(&color->_owner) == core);
	MELY_DEBUG_ASSERT(MELY_PEEK(&core->shown.running) == color);
	if (MELY_UNLIKELY(batch->mixed || batch->own_embedded))
		requeue_embedded(core);
	if (MELY_UNLIKELY(batch->heads != NULL)) {
		heads = batch->heads;
		heads = melyint_evq_join(heads, MELY_LOAD(&color->_heads, relaxed));
		/* release: as in sched/post.c:melyint_append_locked */
		MELY_STORE(&color->_heads, heads, release);
		batch->heads = NULL;
	}
	if (batch->tails != NULL) {
		color->_tails = melyint_evq_join(batch->tails, color->_tails);
		batch->tails = NULL;
	}
	own = batch->own;
	if (own != NULL) {
		batch->own = NULL;
		stamp(own, MELY_LOAD(&core->pace.turn_ticks, relaxed)); /* ours */
		/* Where the last post rules, it is probably one of these. */
		if (MELY_UNLIKELY(core->rt->config.priority_rule == MELY_PRIORITY_LAST_POST))
			color->_priority = melyint_priority_of(own->_prev);
	}
	worth = settle_worth(core, color, own);
	color->_tails = melyint_evq_join(color->_tails, own);
	batch->color = NULL;
	batch->direct = NULL;
	batch->color_id = MELYINT_NO_ID;
	/* relaxed, both: under the lock */
	MELY_STORE(&core->shown.running, NULL, relaxed);
	MELY_STORE(&core->shown.current, NULL, relaxed);
	heads = MELY_LOAD(&color->_heads, relaxed); /* under the lock */
	if (color->_tails != NULL || heads != NULL) {
		if (MELY_UNLIKELY(color->_priority != 0))
			settle_priority(core, color, heads);
		place(core, color, worth);
	} else {
		melyint_color_become(color, MELYINT_COLOR_IDLE);
		MELY_DEBUG_ASSERT((MELY_PEEK(&color->_flags) & MELYINT_COLOR_RELEASED) ||
		    color->_u._worth._time_left == 0); /* E of NOTE(weight) */
		/* relaxed: under the lock */
		if (MELY_UNLIKELY(MELY_LOAD(&color->_flags, relaxed) &
		    (MELYINT_COLOR_RELEASED | MELYINT_COLOR_PINNED)))
			rest(core, color);
	}
}

/* ---- taking a color-queue -------------------------------------------------------------------- */

/* Take up to *room events off a color's list; *rest keeps the others. Under the lock. */
static struct mely_event *
take_some(struct mely_event *first, uint32_t *room, struct mely_event **rest)
{
	struct mely_event *ev = first;

	*rest = NULL;
	if (first == NULL)
		return NULL;
	do {
		melyint_evq_examine(ev);
		if (*room == 0) {
			if (ev == first) {
				*rest = first;
				return NULL;
			}
			*rest = melyint_evq_cut(first, ev);
			return first;
		}
		--*room;
		if (!(ev->_flags & MELYINT_EV_POOLED)) {
			melyint_examine_queued(ev);
			/* release: pairs with the acquires in cancel.c. A canceller that finds this
			 * state must find the event's last color, too, without this lock. */
			MELY_STORE(&ev->_state, MELYINT_EV_PRIVATE, release);
		}
		ev = ev->_next;
	} while (ev != first);
	return first;
}

MELY_INLINE void
take(struct melyint_core *core, struct mely_color *color)
{
	struct melyint_batch *batch = &core->batch;
	uint32_t room = melyint_batch_events(core);
	struct mely_event *heads, *rest_heads = NULL;
	unsigned flags;

	MELY_DEBUG_ASSERT(batch->color == NULL && batch->heads == NULL && batch->tails == NULL);
	MELY_DEBUG_ASSERT(batch->own == NULL && batch->gone == 0 && melyint_self == core);
	/* relaxed, all of these: under the lock */
	heads = MELY_LOAD(&color->_heads, relaxed);
	flags = MELY_LOAD(&color->_flags, relaxed);
	melyint_color_become(color, MELYINT_COLOR_RUNNING);
	batch->mixed = (flags & MELYINT_COLOR_MIXED) != 0;
	if (MELY_LIKELY(!batch->mixed)) {
		batch->heads = heads;
		batch->tails = color->_tails;
		color->_tails = NULL;
	} else {
		batch->heads = take_some(heads, &room, &rest_heads);
		batch->tails = take_some(color->_tails, &room, &color->_tails);
	}
	if (MELY_UNLIKELY(heads != NULL))
		MELY_STORE(&color->_heads, rest_heads, relaxed);
	batch->all_taken = rest_heads == NULL && color->_tails == NULL;
	if (batch->mixed && batch->all_taken)
		MELY_STORE(&color->_flags, (uint16_t)(flags & ~MELYINT_COLOR_MIXED), relaxed);
	batch->color = color;
	batch->direct = color;
	batch->color_id = flags & MELYINT_COLOR_OBJECT ? MELYINT_NO_ID : color->_id;
	MELY_STORE(&core->shown.running_id, batch->color_id, relaxed); /* for observers */
	/* release: pairs with the acquire of a thread that follows it under this core's lock
	 * (look/census.c). We may hold the victim's lock instead. */
	MELY_STORE(&core->shown.running, color, release);
	batch->ran = 0;
	core->locked.has_batch = true;
}

void
melyint_batch_take(struct melyint_core *core, struct mely_color *color)
{
	MELY_DEBUG_ASSERT(melyint_self == core);
	/* A thief takes the color before it owns it. Linked, the color would be in two places. */
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_owner) != core && color->_next == NULL);
	take(core, color);
}

void
melyint_batch_take_heads(struct melyint_core *core)
{
	struct melyint_batch *batch = &core->batch;
	struct mely_color *color = batch->color;
	uint32_t room = melyint_batch_events(core);
	struct mely_event *heads, *rest;

	MELY_ASSERT(color != NULL && batch->heads == NULL);
	melyint_lock_take(&core->lock);
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_owner) == core &&
	    MELY_PEEK(&color->_state) == MELYINT_COLOR_RUNNING);
	heads = take_some(MELY_LOAD(&color->_heads, relaxed), &room, &rest);
	MELY_STORE(&color->_heads, rest, relaxed); /* under the lock */
	batch->mixed |= (MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_MIXED) != 0;
	melyint_lock_drop(&core->lock);
	batch->heads = melyint_evq_join(batch->heads, heads);
}

/* ---- the turn -------------------------------------------------------------------------------- */

static void
prefetch_next(struct melyint_coreq *ready, const struct mely_color *taken)
{
	unsigned level = melyint_coreq_level(taken);
	const struct mely_color *next = ready->first[level];

	/* The last turn fetched the next color; now fetch its first event and its successor. */
	if (next != NULL) {
		MELY_PREFETCH(next->_next);
		MELY_PREFETCH(next->_tails);
	}
}

/* Under the lock. */
MELY_INLINE bool
take_next(struct melyint_core *core)
{
	struct mely_color *color = melyint_coreq_first(&core->ready);

	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock));
	if (color == NULL)
		return false;
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_owner) == core);
	melyint_core_unlink(core, color);
	prefetch_next(&core->ready, color);
	take(core, color);
	if (core->ready.length == 0)
		MELY_COUNT(&core->hint.dry, 1);
	return true;
}

bool
melyint_turn(struct melyint_core *core)
{
	return melyint_turn_frame(core, true, put_back, take_next);
}

void
melyint_turn_end(struct melyint_core *core)
{
	(void)melyint_turn_frame(core, false, put_back, take_next);
}
