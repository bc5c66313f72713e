/* SPDX-License-Identifier: MIT */
/*
 * evq.h: lists of events. A list is circular, doubly linked and named by its first event (NULL when
 * empty), so that append, pop, join and the removal of a cancelled event take constant time. No
 * locks: the thread that owns the list calls, or the holder of the lock that guards it.
 */
#ifndef MELYINT_QUEUE_EVQ_H
#define MELYINT_QUEUE_EVQ_H

#include <stdbool.h>
#include <mely/event.h>

#include "base/assert.h"
#include "base/compiler.h"

/* ev->_state */
enum {
#ifdef MELY_DEVELOPER
	MELYINT_EV_MAGIC = 0x4d00, /* other memory hardly ever holds one of these states */
#else
	MELYINT_EV_MAGIC = 0,
#endif
	MELYINT_EV_IDLE = 0,  /* belongs to the program */
	/* in a color-queue; changes under the lock of the color's owner */
	MELYINT_EV_QUEUED = MELYINT_EV_MAGIC + 1,
	MELYINT_EV_PRIVATE,   /* in the batch of the running core; that core alone changes it */
	MELYINT_EV_CANCELLED, /* was PRIVATE; the running core will drop it */
	MELYINT_EV_CLAIMED,   /* a thread is posting, cancelling or handing it back: wait */
	MELYINT_EV_PROMISED,  /* a completion that hangs on a core until the end of its batch */
	MELYINT_EV_LEFT,      /* a stop has left it over; changes as QUEUED does */
	MELYINT_EV_SPARE      /* a pooled event in a pool; developer builds only */
};

/* ev->_flags */
enum {
	MELYINT_EV_POOLED = 1,  /* belongs to the library, from a pool */
	MELYINT_EV_COUNTED = 2, /* counts against its color's high-water mark */
	MELYINT_EV_TIMED = 4,   /* _time is its own, in ns; else the weight it was counted with */
	MELYINT_EV_WEIGHED = 8, /* it is TIMED and has been weighed: NOTE(weight) */
	MELYINT_EV_SAMPLE = 16, /* its handler's time is not known yet: measure this event */
	MELYINT_EV_STAMPED = 64 /* its stamp is exact and its delay is recorded: NOTE(tally) */
	/* the upper four bits: a shift, A of NOTE(weight) */
};

/*
 * ev->_color: a color, or NULL before the first post. What a thread stores there without the lock
 * of the color's owner has the lowest bit set: then the event is in no queue of that color, and a
 * cancel under that lock must not mistake it for one that is (sched/cancel.c).
 */
MELY_INLINE struct mely_color *
melyint_ev_color_unlocked(struct mely_color *color)
{
	MELY_DEBUG_ASSERT(((uintptr_t)color & 1) == 0);
	return (struct mely_color *)((uintptr_t)color | 1);
}

/* The color, however it was stored. */
MELY_INLINE struct mely_color *
melyint_ev_color(struct mely_color *stored)
{
	return (struct mely_color *)((uintptr_t)stored & ~(uintptr_t)1);
}

enum { MELYINT_EVQ_WALK = 8 }; /* events that an assertion walks */

enum melyint_evq_found { MELYINT_EVQ_ABSENT, MELYINT_EVQ_PRESENT, MELYINT_EVQ_TOO_LONG };

/* Can an event be at this address? Memory that was freed holds other words than links. */
MELY_INLINE bool
melyint_evq_plausible(const struct mely_event *ev)
{
	return ev != NULL && (uintptr_t)ev % _Alignof(struct mely_event) == 0 &&
	    (uint64_t)(uintptr_t)ev >> 56 == 0;
}

/* Do the neighbours of ev point back to it? */
MELY_INLINE bool
melyint_evq_linked(const struct mely_event *ev)
{
	return melyint_evq_plausible(ev->_next) && melyint_evq_plausible(ev->_prev) &&
	    ev->_next->_prev == ev && ev->_prev->_next == ev;
}

/* Developer builds: the links of ev, which is in a list, must be sound. If not, the program most
 * likely freed or reused the memory of an embedded event. */
MELY_INLINE void
melyint_evq_examine(const struct mely_event *ev)
{
#ifdef MELY_DEVELOPER
	if (MELY_UNLIKELY(!melyint_evq_linked(ev)))
		melyint_misuse("event %p, or one next to it, was freed or overwritten while it "
		    "was queued", (const void *)ev);
#else
	(void)ev;
#endif
}

/* Do all links of the list agree? For tests. */
MELY_INLINE bool
melyint_evq_validate(const struct mely_event *first)
{
	const struct mely_event *ev = first;

	if (first == NULL)
		return true;
	do {
		if (!melyint_evq_linked(ev))
			return false;
		ev = ev->_next;
	} while (ev != first);
	return true;
}

/* Does the list hold ev? A short walk, which does not tell with long lists. For assertions. */
MELY_INLINE enum melyint_evq_found
melyint_evq_find(const struct mely_event *first, const struct mely_event *ev)
{
	const struct mely_event *at = first;
	int steps;

	if (first == NULL)
		return MELYINT_EVQ_ABSENT;
	for (steps = 0; steps < MELYINT_EVQ_WALK; steps++) {
		if (at == ev)
			return MELYINT_EVQ_PRESENT;
		at = at->_next;
		if (at == first)
			return MELYINT_EVQ_ABSENT;
	}
	return MELYINT_EVQ_TOO_LONG;
}

/* Append ev, which is in no list. Returns the first event of the list. */
MELY_INLINE struct mely_event *
melyint_evq_append(struct mely_event *first, struct mely_event *ev)
{
	struct mely_event *last;

	if (first == NULL) {
		ev->_next = ev->_prev = ev;
		return ev;
	}
	MELY_DEBUG_ASSERT(ev != first && ev != first->_prev); /* posted twice */
	melyint_evq_examine(first);
	last = first->_prev;
	ev->_prev = last;
	ev->_next = first;
	last->_next = ev;
	first->_prev = ev;
	return first;
}

/* Remove ev, which is in the list. Returns the first event that is left, or NULL. */
MELY_INLINE struct mely_event *
melyint_evq_remove(struct mely_event *first, struct mely_event *ev)
{
	melyint_evq_examine(ev);
	MELY_DEBUG_ASSERT(melyint_evq_find(first, ev) != MELYINT_EVQ_ABSENT);
	if (ev->_next == ev)
		return NULL;
	ev->_prev->_next = ev->_next;
	ev->_next->_prev = ev->_prev;
	return first == ev ? ev->_next : first;
}

/* May one of the lists hold ev? For assertions. */
MELY_INLINE bool
melyint_evq_in_some(struct mely_event **lists[], int count, const struct mely_event *ev)
{
	bool may = false;
	int i;

	for (i = 0; i < count; i++)
		may |= melyint_evq_find(*lists[i], ev) != MELYINT_EVQ_ABSENT;
	return may;
}

/* Remove ev from the one of the lists that holds it. */
MELY_INLINE void
melyint_evq_remove_from(struct mely_event **lists[], int count, struct mely_event *ev)
{
	int i;

	for (i = 0; i < count; i++) {
		if (*lists[i] == ev) {
			*lists[i] = melyint_evq_remove(ev, ev);
			return;
		}
	}
	/* It is not the first of a list, so it has neighbours. */
	MELY_DEBUG_ASSERT(ev->_next != ev && melyint_evq_in_some(lists, count, ev));
	melyint_evq_examine(ev);
	ev->_prev->_next = ev->_next;
	ev->_next->_prev = ev->_prev;
}

/* Remove and return the first event of a list that is not empty. */
MELY_INLINE struct mely_event *
melyint_evq_pop(struct mely_event **first)
{
	struct mely_event *ev = *first;

	*first = melyint_evq_remove(ev, ev);
	MELY_DEBUG_ASSERT(*first != ev && (*first == NULL || melyint_evq_linked(*first)));
	return ev;
}

/* Join two lists: all of a, then all of b. */
MELY_INLINE struct mely_event *
melyint_evq_join(struct mely_event *a, struct mely_event *b)
{
	struct mely_event *a_last, *b_last;

	if (a == NULL)
		return b;
	if (b == NULL)
		return a;
	MELY_DEBUG_ASSERT(melyint_evq_find(a, b) != MELYINT_EVQ_PRESENT);
	melyint_evq_examine(a);
	melyint_evq_examine(b);
	a_last = a->_prev;
	b_last = b->_prev;
	a_last->_next = b;
	b->_prev = a_last;
	b_last->_next = a;
	a->_prev = b_last;
	return a;
}

/* Cut the list before ev, which is not its first: first keeps the events before ev. Returns the
 * rest, which begins with ev. */
MELY_INLINE struct mely_event *
melyint_evq_cut(struct mely_event *first, struct mely_event *ev)
{
	struct mely_event *last = first->_prev, *before = ev->_prev;

	MELY_DEBUG_ASSERT(ev != first);
	MELY_DEBUG_ASSERT(melyint_evq_find(first, ev) != MELYINT_EVQ_ABSENT);
	melyint_evq_examine(first);
	melyint_evq_examine(ev);
	first->_prev = before;
	before->_next = first;
	ev->_prev = last;
	last->_next = ev;
	return ev;
}

#endif
