/* SPDX-License-Identifier: MIT */
/*
 * evq.h: lists of events: circular, doubly linked, named by their first event (NULL when empty),
 * so that append, pop, join and the removal of a cancelled event take constant time. No locks:
 * whoever owns the list calls.
 */
#ifndef MELYINT_QUEUE_EVQ_H
#define MELYINT_QUEUE_EVQ_H

#include <mely/event.h>

#include "base/compiler.h"

/* ev->_state */
enum {
	MELYINT_EV_IDLE = 0,  /* the caller's */
	MELYINT_EV_QUEUED,    /* in a color-queue; moves under the lock of the color's owner */
	MELYINT_EV_PRIVATE,   /* in the batch of the running core; moves on that core alone */
	MELYINT_EV_CANCELLED, /* was PRIVATE; the running core will drop it */
	MELYINT_EV_CLAIMED    /* a post of it is under way */
};

/* ev->_flags */
enum {
	MELYINT_EV_POOLED = 1,  /* the library's own, from a pool */
	MELYINT_EV_COUNTED = 2, /* counts against its color's high-water mark */
	MELYINT_EV_TIMED = 4,   /* _time is its own, in ns; else the weight it was counted with */
	MELYINT_EV_WEIGHED = 8, /* it is TIMED and has been weighed: weight.h */
	MELYINT_EV_PROBE = 16,  /* its handler is not known yet: measure this one */
	MELYINT_EV_STAMPED = 64 /* its stamp is exact, its delay is wanted: NOTE(tally) */
	/* the upper four bits: a shift, see weight.h */
};

MELY_INLINE struct mely_event *
melyint_evq_append(struct mely_event *first, struct mely_event *ev)
{
	struct mely_event *last;

	if (first == NULL) {
		ev->_next = ev->_prev = ev;
		return ev;
	}
	last = first->_prev;
	ev->_prev = last;
	ev->_next = first;
	last->_next = ev;
	first->_prev = ev;
	return first;
}

MELY_INLINE struct mely_event *
melyint_evq_remove(struct mely_event *first, struct mely_event *ev)
{
	if (ev->_next == ev)
		return NULL;
	ev->_prev->_next = ev->_next;
	ev->_next->_prev = ev->_prev;
	return first == ev ? ev->_next : first;
}

/* Take ev out of whichever of the lists it is in. */
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
	/* Not the first of any, so it has neighbours. */
	ev->_prev->_next = ev->_next;
	ev->_next->_prev = ev->_prev;
}

MELY_INLINE struct mely_event *
melyint_evq_pop(struct mely_event **first)
{
	struct mely_event *ev = *first;

	*first = melyint_evq_remove(ev, ev);
	return ev;
}

/* All of a, then all of b. */
MELY_INLINE struct mely_event *
melyint_evq_join(struct mely_event *a, struct mely_event *b)
{
	struct mely_event *a_last, *b_last;

	if (a == NULL)
		return b;
	if (b == NULL)
		return a;
	a_last = a->_prev;
	b_last = b->_prev;
	a_last->_next = b;
	b->_prev = a_last;
	b_last->_next = a;
	a->_prev = b_last;
	return a;
}

/*
 * Cut the list before ev, which is not its first: *first keeps what is before ev; the rest is
 * returned, beginning with ev.
 */
MELY_INLINE struct mely_event *
melyint_evq_cut(struct mely_event *first, struct mely_event *ev)
{
	struct mely_event *last = first->_prev, *before = ev->_prev;

	first->_prev = before;
	before->_next = first;
	ev->_prev = last;
	last->_next = ev;
	return ev;
}

#endif
