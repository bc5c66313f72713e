/* SPDX-License-Identifier: MIT */
/*
 * fifo.h: the core-queue of the other scheduler, libasync-smp's: one FIFO of events, all colors
 * mixed, with a count of the pending events of each color. Under the owner's lock, all of it.
 * core.h includes it in place of coreq.h when it is compiled for libmely-libasync.
 *
 * Every queued event knows its color, pooled ones too. A color is QUEUED when it has events in
 * its owner's FIFO and does not run, RUNNING while one of its events runs, the others stay where
 * they are; MOVING while its events hang on color->_tails, on the way to another core's FIFO.
 * The links of a color-queue have no use here, so that two counts are kept in their place.
 */
#ifndef MELYINT_FIFO_FIFO_H
#define MELYINT_FIFO_FIFO_H

#include <stdbool.h>
#include <mely/color.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "queue/evq.h"

/* ev->_flags, beside those of evq.h: was posted at the head of its color. */
enum { MELYINT_EV_HEAD = 32 };

struct melyint_fifo {
	struct mely_event *first;  /* circular, as all lists of events */
	uint32_t length;           /* events */
	uint32_t colors;           /* with at least one event here */
	struct mely_event *cursor; /* next of a census, NOTE(census); else NULL */
	_Atomic uint32_t pending;  /* length again, for those who look without the lock */
};

/* Events of the color in its owner's FIFO. */
MELY_INLINE uint32_t
melyint_fifo_count(const struct mely_color *color)
{
	return (uint32_t)(uintptr_t)color->_prev;
}

MELY_INLINE void
melyint_fifo_set_count(struct mely_color *color, uint32_t count)
{
	color->_prev = (struct mely_color *)(uintptr_t)count;
}

/* Events of a color that is out of the FIFO, in color->_tails. */
MELY_INLINE uint32_t
melyint_fifo_count_away(const struct mely_color *color)
{
	return (uint32_t)(uintptr_t)color->_next;
}

MELY_INLINE void
melyint_fifo_set_count_away(struct mely_color *color, uint32_t count)
{
	color->_next = (struct mely_color *)(uintptr_t)count;
}

/* The color whose event is next; NULL when there is none. */
MELY_INLINE struct mely_color *
melyint_coreq_first(const struct melyint_fifo *q)
{
	/* relaxed: under the lock */
	return q->first != NULL ? MELY_LOAD(&q->first->_color, relaxed) : NULL;
}

/*
 * Put an event into a list that holds count events of its color: a head before the tails of the
 * color and behind its heads, anything else at the end.
 */
struct mely_event *melyint_fifo_insert(struct mely_event *first, struct mely_color *color,
    uint32_t count, struct mely_event *ev);

/* Insert an event of a color that lives here. */
void melyint_fifo_add(struct melyint_fifo *q, struct mely_color *color, struct mely_event *ev);
/* Take an event out. */
void melyint_fifo_remove(struct melyint_fifo *q, struct mely_color *color, struct mely_event *ev);
/* Collect all events of the color into color->_tails; to the end of the FIFO even when the
 * color's count says that there are no more, if full. */
void melyint_fifo_collect(struct melyint_fifo *q, struct mely_color *color, bool full);
/* Append what has been collected. */
void melyint_fifo_append(struct melyint_fifo *q, struct mely_color *color);

/* Links and counts agree? For tests. */
bool melyint_fifo_validate(const struct melyint_fifo *q);

#endif
