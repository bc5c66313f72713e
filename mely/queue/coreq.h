/* SPDX-License-Identifier: MIT */
/*
 * coreq.h: the core-queue: the non-empty color-queues of one core, a circular doubly linked list
 * per priority. Taken from the highest priority, but a level that is passed over ages a step per
 * batch until its age makes up for the difference, so that none starves. The order is a policy
 * that lives in melyint_coreq_first alone. No locks: the owner's lock is held by the caller.
 */
#ifndef MELYINT_QUEUE_COREQ_H
#define MELYINT_QUEUE_COREQ_H

#include <stdbool.h>
#include <mely/color.h>

#include "base/compiler.h"

enum { MELYINT_LEVELS = MELY_PRIORITY_MAX - MELY_PRIORITY_MIN + 1 };
_Static_assert(MELYINT_LEVELS <= 32, "levels are bits of a word");

struct melyint_coreq {
	uint32_t levels;  /* bit set: that level has a color */
	uint32_t length;  /* color-queues linked */
	uint16_t passed[MELYINT_LEVELS]; /* batches in which the level was passed over */
	struct mely_color *first[MELYINT_LEVELS];
	struct mely_color *cursor; /* the next of a walk through the queue: NOTE(look); else NULL */
};

MELY_INLINE unsigned
melyint_coreq_level(const struct mely_color *color)
{
	return (unsigned)(color->_priority - MELY_PRIORITY_MIN);
}

/* Of an event, clipped to what there is. */
MELY_INLINE int8_t
melyint_priority_of(const struct mely_event *ev)
{
	int32_t priority = ev->_handler->priority;

	if (MELY_UNLIKELY(priority < MELY_PRIORITY_MIN))
		return MELY_PRIORITY_MIN;
	if (MELY_UNLIKELY(priority > MELY_PRIORITY_MAX))
		return MELY_PRIORITY_MAX;
	return (int8_t)priority;
}

/* Behind the others of its priority. */
MELY_INLINE void
melyint_coreq_link(struct melyint_coreq *q, struct mely_color *color)
{
	unsigned level = melyint_coreq_level(color);
	struct mely_color *first = q->first[level];

	if (first == NULL) {
		color->_next = color->_prev = color;
		q->first[level] = color;
		q->levels |= 1u << level;
	} else {
		color->_prev = first->_prev;
		color->_next = first;
		first->_prev->_next = color;
		first->_prev = color;
	}
	q->length++;
}

/* The color-queue behind this one, from the highest priority to the lowest; NULL: none is. */
struct mely_color *melyint_coreq_next(const struct melyint_coreq *q,
    const struct mely_color *color);
/* Where a walk begins; NULL: the queue is empty. Ages nothing. */
struct mely_color *melyint_coreq_highest(const struct melyint_coreq *q);

MELY_INLINE void
melyint_coreq_unlink(struct melyint_coreq *q, struct mely_color *color)
{
	unsigned level = melyint_coreq_level(color);

	if (MELY_UNLIKELY(q->cursor == color))
		q->cursor = melyint_coreq_next(q, color);
	if (color->_next == color) {
		q->first[level] = NULL;
		q->levels &= ~(1u << level);
		q->passed[level] = 0;
	} else {
		color->_prev->_next = color->_next;
		color->_next->_prev = color->_prev;
		if (q->first[level] == color)
			q->first[level] = color->_next;
	}
	q->length--;
}

unsigned melyint_coreq_pick_slow(struct melyint_coreq *q);

/* The color-queue that is next; NULL when there is none. Ages the levels that it passes over. */
MELY_INLINE struct mely_color *
melyint_coreq_first(struct melyint_coreq *q)
{
	uint32_t levels = q->levels;

	if (levels == 0)
		return NULL;
	if (MELY_LIKELY((levels & (levels - 1)) == 0))
		return q->first[__builtin_ctz(levels)];
	return q->first[melyint_coreq_pick_slow(q)];
}

/* Links and counts agree? For tests. */
bool melyint_coreq_validate(const struct melyint_coreq *q);

#endif
