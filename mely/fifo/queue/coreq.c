/* SPDX-License-Identifier: MIT */
/*
 * coreq.c: the FIFO of a core, all colors mixed. The caller holds the owner's lock.
 */
#include "base/assert.h"
#include "queue/coreq.h"

static void
set_length(struct melyint_coreq *q, uint32_t length)
{
	MELY_DEBUG_ASSERT((length == 0) == (q->first == NULL));
	q->length = length;
	MELY_STORE(&q->pending, length, relaxed); /* a hint for others */
}

static struct mely_color *
color_of(const struct mely_event *ev)
{
	return MELY_LOAD(&ev->_color, relaxed); /* under the lock */
}

/* The event that a new head goes before: the first event of its color that is not a head, or the
 * one behind the color's last head. The color has count events in the list, at least one. */
static struct mely_event *
place_of_head(struct mely_event *first, const struct mely_color *color, uint32_t count)
{
	struct mely_event *ev = first;

	MELY_DEBUG_ASSERT(count > 0); /* else the search has no end */
	for (;;) {
		if (color_of(ev) == color) {
			if (!(ev->_flags & MELYINT_EV_HEAD))
				return ev;
			if (--count == 0)
				return ev->_next;
		}
		ev = ev->_next;
	}
}

struct mely_event *
melyint_fifo_insert(struct mely_event *first, struct mely_color *color, uint32_t count,
    struct mely_event *ev)
{
	struct mely_event *next;

	if (!(ev->_flags & MELYINT_EV_HEAD) || count == 0)
		return melyint_evq_append(first, ev);
	next = place_of_head(first, color, count);
	/* Behind the last event of the list is before its first: that is an ordinary append. */
	if (next == first && !(color_of(first) == color && !(first->_flags & MELYINT_EV_HEAD)))
		return melyint_evq_append(first, ev);
	ev->_next = next;
	ev->_prev = next->_prev;
	next->_prev->_next = ev;
	next->_prev = ev;
	return next == first ? ev : first;
}

void
melyint_fifo_add(struct melyint_coreq *q, struct mely_color *color, struct mely_event *ev)
{
	uint32_t count = melyint_fifo_count(color);

	MELY_DEBUG_ASSERT(color_of(ev) == color && count <= q->length);
	q->first = melyint_fifo_insert(q->first, color, count, ev);
	set_length(q, q->length + 1);
	melyint_fifo_set_count(color, count + 1);
	if (count == 0)
		q->colors++;
}

/* An event leaves; the cursor of a census may stand on it. */
static void
leave(struct melyint_coreq *q, const struct mely_event *ev)
{
	if (MELY_UNLIKELY(q->cursor == ev))
		q->cursor = ev->_next != q->first ? ev->_next : NULL;
}

void
melyint_fifo_remove(struct melyint_coreq *q, struct mely_color *color, struct mely_event *ev)
{
	uint32_t count = melyint_fifo_count(color) - 1;

	MELY_DEBUG_ASSERT(q->length > 0 && melyint_fifo_count(color) > 0);
	MELY_DEBUG_ASSERT(color_of(ev) == color && q->colors > 0);
	leave(q, ev);
	q->first = melyint_evq_remove(q->first, ev);
	set_length(q, q->length - 1);
	melyint_fifo_set_count(color, count);
	if (count == 0)
		q->colors--;
}

void
melyint_fifo_collect(struct melyint_coreq *q, struct mely_color *color, bool full)
{
	uint32_t count = melyint_fifo_count(color), left = count, rest = q->length;
	struct mely_event *ev = q->first;

	MELY_DEBUG_ASSERT(color->_tails == NULL && count <= q->length);
	for (; rest > 0 && (left > 0 || full); rest--) {
		struct mely_event *next = ev->_next;

		if (color_of(ev) == color) {
			leave(q, ev);
			q->first = melyint_evq_remove(q->first, ev);
			color->_tails = melyint_evq_append(color->_tails, ev);
			left--;
		}
		ev = next;
	}
	set_length(q, q->length - count);
	melyint_fifo_set_count(color, 0);
	melyint_fifo_set_count_away(color, count);
	if (count != 0)
		q->colors--;
	MELY_ASSERT(left == 0); /* the count was exact */
}

void
melyint_fifo_append(struct melyint_coreq *q, struct mely_color *color)
{
	uint32_t count = melyint_fifo_count_away(color);

	MELY_DEBUG_ASSERT((count != 0) == (color->_tails != NULL) &&
	    melyint_fifo_count(color) == 0);
	q->first = melyint_evq_join(q->first, color->_tails);
	color->_tails = NULL;
	set_length(q, q->length + count);
	melyint_fifo_set_count(color, count);
	if (count != 0)
		q->colors++;
}

bool
melyint_fifo_validate(const struct melyint_coreq *q)
{
	const struct mely_event *ev = q->first, *other;
	uint32_t length = 0, colors = 0;

	if (ev == NULL)
		return q->length == 0 && q->colors == 0;
	do {
		uint32_t count = 0, before = 0;

		if (ev->_next->_prev != ev || ++length > q->length)
			return false;
		for (other = q->first; other != ev; other = other->_next)
			before += color_of(other) == color_of(ev);
		for (; before == 0 && (other != q->first || count == 0); other = other->_next)
			count += color_of(other) == color_of(ev);
		if (before == 0 && count != melyint_fifo_count(color_of(ev)))
			return false;
		colors += before == 0;
		ev = ev->_next;
	} while (ev != q->first);
	return length == q->length && colors == q->colors;
}
