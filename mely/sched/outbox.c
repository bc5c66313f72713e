/* SPDX-License-Identifier: MIT */
/*
 * outbox.c: rows of posts to other cores.
 *
 * NOTE(outbox)
 *   A. A handler whose batch has posted a few events to cores that are busy with work waiting opens
 *      its core's outbox. From then on its plain posts (pooled events, at the tail, not to the
 *      running color) go into the ring: no lock, and no access to the color's cache line.
 *   B. The owner delivers when enough posts wait, before any other kind of post (which must not
 *      overtake them), when the batch ends, before its turn ends, and when a release function that
 *      follows a turn has returned. A delivery locks each receiving core once for all its colors,
 *      whose cache lines it has prefetched.
 *   C. A core that runs out of work delivers what the others hold back and closes their outboxes,
 *      so that a handler that posts and then computes for long holds nothing back from idle cores.
 *      The sentry (NOTE(park)) sees what slips in meanwhile, within its tick.
 *   D. Two deliverers of one outbox exclude each other by its lock, held until the events are in
 *      their color-queues: so events of one producer keep their order. A color that comes to the
 *      receiving core in the middle of a delivery takes part in it with all its posts up to some
 *      event, or with none (tests/model/row.pml).
 *   E. An event in an outbox is posted, but its color does not know. So a color object is released
 *      only after every outbox has been emptied. While no core has ever opened one, that is a load
 *      of one word.
 */
#include <stdlib.h>

#include "base/assert.h"
#include "core/core.h"
#include "core/upcalls.h"
#include "queue/outbox.h"
#include "sched/post.h"

/* The entries, a bit each, whose color lives on owner. Its lock is held: no color can leave, but
 * others may come. So read from the last entry to the first: when an entry's color is found to live
 * there, so are all earlier posts to it, which are read later. D of NOTE(outbox). */
static uint64_t
living_on(struct melyint_core *owner, struct melyint_outbox *out, uint32_t head, uint32_t tail)
{
	uint64_t living = 0;

	MELY_DEBUG_ASSERT(melyint_lock_held(&owner->lock) && melyint_lock_held(&out->lock));
	for (; tail != head; tail--) {
		uint32_t i = (tail - 1) % MELYINT_OUTBOX;
		struct mely_color *color = out->ring[i].color;

		/* acquire: as the second load in melyint_color_lock */
		if (color != NULL && MELY_LOAD(&color->_owner, acquire) == owner)
			living |= 1ull << i;
	}
	return living;
}

/* Append all entries whose color lives on owner, whose lock is held. */
static bool
deliver_to(struct melyint_core *owner, struct melyint_outbox *out, uint32_t head, uint32_t tail)
{
	uint64_t living = living_on(owner, out, head, tail);
	bool linked = false;

	for (; head != tail; head++) {
		uint32_t i = head % MELYINT_OUTBOX;
		struct mely_color *color = out->ring[i].color;
		int how;

		if ((living >> i & 1) == 0)
			continue;
		MELY_DEBUG_ASSERT(out->ring[i].ev->_flags & MELYINT_EV_POOLED);
		how = melyint_append_locked(owner, color, out->ring[i].ev, 0);
		MELY_ASSERT(how != MELYINT_APPEND_DEAD); /* C of NOTE(colortab) */
		if (MELY_UNLIKELY(how == MELYINT_APPEND_RELEASED))
			melyint_event_free(out->ring[i].ev); /* pooled, as all of them */
		linked |= how == MELYINT_APPEND_LINKED;
		out->ring[i].color = NULL;
	}
	return linked;
}

/* Has every entry been delivered? For assertions, under the lock. */
static bool
all_delivered(const struct melyint_outbox *out, uint32_t head, uint32_t tail)
{
	for (; head != tail; head++)
		if (out->ring[head % MELYINT_OUTBOX].color != NULL)
			return false;
	return true;
}

static void
deliver_row(struct melyint_core *self, struct melyint_outbox *out, struct mely_color *first,
    uint32_t head, uint32_t tail)
{
	struct melyint_core *owner = melyint_color_lock(first);
	bool linked = deliver_to(owner, out, head, tail);
	bool woken = owner != self && melyint_wake_locked(owner);

	melyint_lock_drop(&owner->lock);
	if (woken)
		melyint_wake_finish(self, owner);
	else if (linked)
		melyint_offer(self, owner);
}

void
melyint_outbox_deliver(struct melyint_core *self, struct melyint_core *box)
{
	struct melyint_outbox *out = &box->outbox;
	uint32_t head, tail, at;

	MELY_DEBUG_ASSERT(self == NULL || self == melyint_self);
	melyint_lock_take(&out->lock);
	head = MELY_LOAD(&out->head, relaxed); /* under the lock */
	/* acquire: pairs with the release of the owner's put */
	tail = MELY_LOAD(&out->tail, acquire);
	MELY_ASSERT(tail - head <= MELYINT_OUTBOX);
	for (at = head; at != tail; at++)
		MELY_PREFETCH(out->ring[at % MELYINT_OUTBOX].color);
	for (at = head; at != tail; at++) {
		uint32_t i = at % MELYINT_OUTBOX;
		struct mely_color *color = out->ring[i].color;

		if (color == NULL)
			continue;
		deliver_row(self, out, color, at, tail);
		if (MELY_UNLIKELY(out->ring[i].color != NULL))
			at--; /* the color moved before we held the lock */
	}
	MELY_DEBUG_ASSERT(all_delivered(out, head, tail));
	/* release: pairs with the acquire in melyint_outbox_empty */
	MELY_STORE(&out->head, tail, release);
	melyint_lock_drop(&out->lock);
}

bool
melyint_outbox_collect_from(struct melyint_core *self, struct melyint_core *box)
{
	MELY_ASSERT(self != box); /* it alone opens its own */
	if (melyint_outbox_empty(&box->outbox))
		return false;
	/* relaxed: C of NOTE(outbox) */
	MELY_STORE(&box->outbox.open, false, relaxed);
	melyint_outbox_deliver(self, box);
	return true;
}

bool
melyint_outbox_collect(struct melyint_core *self)
{
	struct mely_runtime *rt = self->rt;
	bool any = false;
	int i;

	/* C: it is idle, so that it does not deliver before posts of a batch of its own. */
	MELY_DEBUG_ASSERT(melyint_self == self && self->batch.color == NULL);
	for (i = 0; i < rt->cores_count - 1; i++)
		any |= melyint_outbox_collect_from(self, &rt->cores[self->fixed.victims[i]]);
	return any;
}

void
melyint_outbox_deliver_all(struct mely_runtime *rt, struct melyint_core *self)
{
	int i;

	/* relaxed: set before the first event was put into an outbox, and what matters here was
	 * posted earlier */
	if (MELY_LIKELY(!MELY_LOAD(&rt->flow.outboxes, relaxed)))
		return;
	/* A thread of the parent may have held the lock of one; a renewal empties them.
	 * relaxed: set before the child of a fork has another thread */
	if (MELY_LOAD(&rt->phase, relaxed) == MELYINT_FORKED)
		return;
	for (i = 0; i < rt->cores_count; i++) {
		if (!melyint_outbox_empty(&rt->cores[i].outbox))
			melyint_outbox_deliver(self, &rt->cores[i]);
	}
}
