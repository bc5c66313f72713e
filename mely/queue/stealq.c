/* SPDX-License-Identifier: MIT */
/*
 * stealq.c: the arrays of the stealing-queue and the place that each color remembers. The caller
 * holds the core's lock; the lengths alone are read without it. An interval's array is dense: the
 * last color takes the place of one that is removed.
 */
#include <stdlib.h>

#include "base/assert.h"
#include "queue/stealq.h"

enum { ROOM_MIN = 64, PLACE_BITS = 30 };

/* color->_u._worth._steal_slot: the interval, and the place in it plus one; 0: not in the queue. */
static uint32_t
slot_of(unsigned interval, uint32_t place)
{
	/* one more would run into the bits of the interval */
	MELY_DEBUG_ASSERT(interval < MELYINT_INTERVALS && place < (1u << PLACE_BITS) - 1);
	return interval << PLACE_BITS | (place + 1);
}

/* Under the lock. */
static void
set_lengths(struct melyint_stealq *q, unsigned interval, uint32_t length, uint32_t more)
{
	/* relaxed, both: hints for other threads */
	MELY_STORE(&q->lengths[interval], length, relaxed);
	MELY_COUNT(&q->length, more);
}

/* Is the length that of all intervals together? For assertions. */
static MELY_UNUSED bool
lengths_agree(const struct melyint_stealq *q)
{
	uint32_t sum = 0;
	unsigned i;

	for (i = 0; i < MELYINT_INTERVALS; i++)
		sum += MELY_PEEK(&q->lengths[i]);
	return sum == MELY_PEEK(&q->length);
}

/* A color's slot names the place that holds the color, or the color is in no interval. */
static void
assert_placed(const struct melyint_stealq *q, const struct mely_color *color)
{
	uint32_t slot = color->_u._worth._steal_slot;
	uint32_t place = (slot & ((1u << PLACE_BITS) - 1)) - 1;
	unsigned interval = slot >> PLACE_BITS;

	MELY_DEBUG_ASSERT(slot == 0 || (interval < MELYINT_INTERVALS &&
	    place < MELY_PEEK(&q->lengths[interval]) &&
	    q->interval[interval].colors[place] == color));
}

/* length: the colors in the array. */
static bool
resize(struct melyint_interval *in, uint32_t length, uint32_t room)
{
	struct mely_color **colors;

	MELY_DEBUG_ASSERT(length <= room && length <= in->room);
	if (room >= 1u << PLACE_BITS)
		return false;
	colors = realloc(in->colors, room * sizeof colors[0]);
	if (colors == NULL)
		return false;
	in->colors = colors;
	in->room = room;
	return true;
}

bool
melyint_stealq_put(struct melyint_stealq *q, struct mely_color *color, unsigned interval)
{
	struct melyint_interval *in = &q->interval[interval];
	uint32_t slot = color->_u._worth._steal_slot, length;

	MELY_DEBUG_ASSERT(interval < MELYINT_INTERVALS);
	assert_placed(q, color);
	if (slot != 0) {
		if (slot >> PLACE_BITS == interval)
			return false;
		melyint_stealq_remove(q, color);
	}
	length = melyint_stealq_length_in(q, interval);
	if (MELY_UNLIKELY(length == in->room) &&
	    !resize(in, length, in->room == 0 ? ROOM_MIN : in->room * 2))
		return false;
	MELY_DEBUG_ASSERT(length < in->room);
	color->_u._worth._steal_slot = slot_of(interval, length);
	in->colors[length] = color;
	set_lengths(q, interval, length + 1, 1);
	assert_placed(q, color);
	MELY_DEBUG_ASSERT(lengths_agree(q));
	return slot == 0 || slot >> PLACE_BITS < interval;
}

void
melyint_stealq_remove(struct melyint_stealq *q, struct mely_color *color)
{
	uint32_t slot = color->_u._worth._steal_slot;
	uint32_t place = (slot & ((1u << PLACE_BITS) - 1)) - 1, length;
	unsigned interval = slot >> PLACE_BITS;
	struct melyint_interval *in = &q->interval[interval];
	struct mely_color *last;

	MELY_DEBUG_ASSERT(slot != 0);
	assert_placed(q, color);
	length = melyint_stealq_length_in(q, interval) - 1;
	last = in->colors[length];
	in->colors[place] = last;
	last->_u._worth._steal_slot = slot;
	color->_u._worth._steal_slot = 0;
	set_lengths(q, interval, length, -1u);
	if (last != color)
		assert_placed(q, last);
	MELY_DEBUG_ASSERT(lengths_agree(q));
	/* When this fails, the next removal tries again. */
	if (MELY_UNLIKELY(length < in->room / 4 && in->room > ROOM_MIN))
		(void)resize(in, length, in->room / 2);
}

struct mely_color *
melyint_stealq_best(const struct melyint_stealq *q)
{
	unsigned i;

	for (i = MELYINT_INTERVALS; i-- > 0;) {
		uint32_t length = melyint_stealq_length_in(q, i);

		if (length != 0) {
			struct mely_color *best = q->interval[i].colors[length - 1];

			MELY_DEBUG_ASSERT(best->_u._worth._steal_slot == slot_of(i, length - 1));
			return best;
		}
	}
	return NULL;
}

bool
melyint_stealq_validate(const struct melyint_stealq *q)
{
	uint32_t count = 0, place;
	unsigned i;

	for (i = 0; i < MELYINT_INTERVALS; i++) {
		uint32_t length = melyint_stealq_length_in(q, i);

		for (place = 0; place < length; place++) {
			const struct mely_color *color = q->interval[i].colors[place];

			if (color->_u._worth._steal_slot != slot_of(i, place))
				return false;
		}
		count += length;
	}
	return count == melyint_stealq_length(q);
}

void
melyint_stealq_forget(struct melyint_stealq *q)
{
	unsigned i;

	/* relaxed, both: one thread */
	for (i = 0; i < MELYINT_INTERVALS; i++)
		MELY_STORE(&q->lengths[i], 0, relaxed);
	MELY_STORE(&q->length, 0, relaxed);
}

void
melyint_stealq_fini(struct melyint_stealq *q)
{
	unsigned i;

	for (i = 0; i < MELYINT_INTERVALS; i++)
		free(q->interval[i].colors);
}
