/* SPDX-License-Identifier: MIT */
/*
 * coreq.h: the core-queue of the libasync-smp scheduler: one FIFO of events, all colors mixed, with
 * a count of the pending events of each color. The build of libmely-libasync finds this header
 * before queue/coreq.h. The caller holds the owner's lock.
 *
 * Every queued event knows its color, pooled ones too. A color is QUEUED while it has events in its
 * owner's FIFO and does not run. It is RUNNING while one of its events runs; its other events stay
 * in the FIFO. It is MOVING while its events hang on color->_tails, on their way to another core's
 * FIFO. This scheduler does not use the links of a color-queue and keeps two counts in them.
 */
#ifndef MELYINT_QUEUE_COREQ_H
#define MELYINT_QUEUE_COREQ_H

#include <stdbool.h>
#include <mely/color.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "queue/evq.h"

/* ev->_flags, beside those of evq.h: the event was posted at the head of its color. */
enum { MELYINT_EV_HEAD = 32 };

struct melyint_coreq {
	struct mely_event *first;  /* circular, as all lists of events */
	uint32_t length;           /* events */
	uint32_t colors;           /* colors with at least one event here */
	struct mely_event *cursor; /* next of a census, NOTE(census); else NULL */
	_Atomic uint32_t pending;  /* equals length, for threads without the lock */
};

/* The number of the color's events in its owner's FIFO. */
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

/* The number of events of a color that is out of the FIFO, in color->_tails. */
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

/* As in the other coreq.h. The mark stands above the count, and goes when the count is set. */
#define MELYINT_FIFO_UNUSED ((uintptr_t)1 << 32)

MELY_INLINE void
melyint_color_mark_unused(struct mely_color *color)
{
	color->_prev = (struct mely_color *)MELYINT_FIFO_UNUSED;
}

MELY_INLINE bool
melyint_color_unused(const struct mely_color *color)
{
	return (uintptr_t)color->_prev == MELYINT_FIFO_UNUSED;
}

/* The color of the next event; NULL when there is none. */
MELY_INLINE struct mely_color *
melyint_coreq_first(const struct melyint_coreq *q)
{
	/* relaxed: under the lock */
	return q->first != NULL ? MELY_LOAD(&q->first->_color, relaxed) : NULL;
}

/* Insert an event into a list that holds count events of its color: a head before the color's tails
 * and behind its heads, any other event at the end. */
struct mely_event *melyint_fifo_insert(struct mely_event *first, struct mely_color *color,
    uint32_t count, struct mely_event *ev);

/* Insert an event of a color that lives here. */
void melyint_fifo_add(struct melyint_coreq *q, struct mely_color *color, struct mely_event *ev);
/* Take an event out. */
void melyint_fifo_remove(struct melyint_coreq *q, struct mely_color *color, struct mely_event *ev);
/* Collect all events of the color into color->_tails. full: scan the FIFO to its end, even after
 * the color's count says that no more follow. */
void melyint_fifo_collect(struct melyint_coreq *q, struct mely_color *color, bool full);
/* Append what melyint_fifo_collect collected. */
void melyint_fifo_append(struct melyint_coreq *q, struct mely_color *color);

/* Do all links and counts agree? For tests. */
bool melyint_fifo_validate(const struct melyint_coreq *q);

#endif
