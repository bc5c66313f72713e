/* SPDX-License-Identifier: MIT */
/*
 * coreq.h: the core-queue, that is, the non-empty color-queues of one core, in a circular doubly
 * linked list for each priority. The core takes the highest priority first, but a level that is
 * passed over ages one step per batch until its age makes up for the difference, so that no color
 * starves. melyint_coreq_first alone holds this policy. The caller holds the owner's lock.
 */
#ifndef MELYINT_QUEUE_COREQ_H
#define MELYINT_QUEUE_COREQ_H

#include <stdbool.h>
#include <mely/color.h>

#include "base/assert.h"
#include "base/compiler.h"

enum { MELYINT_LEVELS = MELY_PRIORITY_MAX - MELY_PRIORITY_MIN + 1 };
_Static_assert(MELYINT_LEVELS <= 32, "levels are bits of a word");

struct melyint_coreq {
	uint32_t levels;  /* bit set: that level has a color */
	uint32_t length;  /* color-queues linked */
	uint16_t passed[MELYINT_LEVELS]; /* batches in which the level was passed over */
	struct mely_color *first[MELYINT_LEVELS];
	struct mely_color *cursor; /* next color of a census, NOTE(census); else NULL */
};

MELY_INLINE unsigned
melyint_coreq_level(const struct mely_color *color)
{
	unsigned level = (unsigned)(color->_priority - MELY_PRIORITY_MIN);

	MELY_DEBUG_ASSERT(level < MELYINT_LEVELS); /* an index, and the place of a bit */
	return level;
}

/*
 * An idle color can be marked as unused. Under its owner's lock. The mark stands where the next
 * post to the color stores its priority, so that the post takes it off without a test.
 */
MELY_INLINE void
melyint_color_mark_unused(struct mely_color *color)
{
	color->_priority = INT8_MIN;
}

MELY_INLINE bool
melyint_color_unused(const struct mely_color *color)
{
	return color->_priority == INT8_MIN;
}
_Static_assert(INT8_MIN < MELY_PRIORITY_MIN, "no color in a queue has that priority");

/* The priority of an event's handler, clipped to the valid range. */
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

/* Do the level's bit, its list and its age agree, and the queue's count? */
MELY_INLINE bool
melyint_coreq_level_agrees(const struct melyint_coreq *q, unsigned level)
{
	const struct mely_color *first = q->first[level];

	if ((q->length == 0) != (q->levels == 0) || q->passed[level] > MELYINT_LEVELS)
		return false;
	if (first == NULL)
		return (q->levels >> level & 1) == 0 && q->passed[level] == 0;
	return (q->levels >> level & 1) != 0 && first->_next->_prev == first &&
	    first->_prev->_next == first;
}

/* Is the color linked in the list of its own level, as far as its neighbours tell? */
MELY_INLINE bool
melyint_coreq_linked(const struct melyint_coreq *q, const struct mely_color *color)
{
	const struct mely_color *next = color->_next, *prev = color->_prev;

	return next != NULL && next->_prev == color && prev->_next == color &&
	    next->_priority == color->_priority && prev->_priority == color->_priority &&
	    (next != color || q->first[melyint_coreq_level(color)] == color);
}

/* Link a color, which is in no core-queue, behind the others of its priority. */
MELY_INLINE void
melyint_coreq_link(struct melyint_coreq *q, struct mely_color *color)
{
	unsigned level = melyint_coreq_level(color);
	struct mely_color *first = q->first[level];

	MELY_DEBUG_ASSERT(melyint_coreq_level_agrees(q, level));
	MELY_DEBUG_ASSERT(color->_next == NULL); /* developer builds clear it in unlink */
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
	MELY_DEBUG_ASSERT(melyint_coreq_linked(q, color) && melyint_coreq_level_agrees(q, level));
}

/* The color-queue after this one, from the highest priority to the lowest; NULL: it is the last. */
struct mely_color *melyint_coreq_next(const struct melyint_coreq *q,
    const struct mely_color *color);
/* The color-queue where a walk begins; NULL: the queue is empty. Ages nothing. */
struct mely_color *melyint_coreq_highest(const struct melyint_coreq *q);

/* Unlink a color, which is in this queue. A walk that stands on it goes on to the next color. */
MELY_INLINE void
melyint_coreq_unlink(struct melyint_coreq *q, struct mely_color *color)
{
	unsigned level = melyint_coreq_level(color);

	MELY_DEBUG_ASSERT(q->length > 0 && melyint_coreq_level_agrees(q, level));
	MELY_DEBUG_ASSERT(melyint_coreq_linked(q, color));
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
#ifdef MELY_DEVELOPER
	color->_next = color->_prev = NULL;
#endif
	MELY_DEBUG_ASSERT(melyint_coreq_level_agrees(q, level) && q->cursor != color);
}

unsigned melyint_coreq_pick_slow(struct melyint_coreq *q);

/* The color-queue that is next; NULL: the queue is empty. Ages the levels that it passes over. */
MELY_INLINE struct mely_color *
melyint_coreq_first(struct melyint_coreq *q)
{
	uint32_t levels = q->levels;

	if (levels == 0)
		return NULL;
	MELY_DEBUG_ASSERT(q->length > 0);
	if (MELY_LIKELY((levels & (levels - 1)) == 0))
		return q->first[__builtin_ctz(levels)];
	return q->first[melyint_coreq_pick_slow(q)];
}

/* Do all links and counts agree? For tests. */
bool melyint_coreq_validate(const struct melyint_coreq *q);

#endif
