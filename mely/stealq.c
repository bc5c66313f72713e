/* SPDX-License-Identifier: MIT */
/* stealq.c: see stealq.h. */
#include <stdlib.h>

#include "check.h"
#include "stealq.h"

enum { ROOM_FIRST = 64, PLACE_BITS = 30 };

/* color->_u._worth._steal_slot: the interval and the place in it, plus one; 0: not in. */
static uint32_t
slot_of(unsigned interval, uint32_t place)
{
	return interval << PLACE_BITS | (place + 1);
}

static unsigned
interval_for(uint64_t weight, uint64_t cost)
{
	if (weight <= cost * 4)
		return 0;
	return weight <= cost * 16 ? 1 : 2;
}

static bool
make_room(struct melyint_stealq *q, unsigned interval)
{
	uint32_t room = q->interval[interval].room;
	struct mely_color **colors;

	if (MELY_LIKELY(q->interval[interval].length < room))
		return true;
	room = room == 0 ? ROOM_FIRST : room * 2;
	if (room >= 1u << PLACE_BITS)
		return false;
	colors = realloc(q->interval[interval].colors, room * sizeof colors[0]);
	if (colors == NULL)
		return false;
	q->interval[interval].colors = colors;
	q->interval[interval].room = room;
	return true;
}

void
melyint_stealq_put(struct melyint_stealq *q, struct mely_color *color, uint64_t weight,
    uint64_t cost)
{
	unsigned interval = interval_for(weight, cost);
	uint32_t slot = color->_u._worth._steal_slot;

	if (slot != 0) {
		if (slot >> PLACE_BITS == interval)
			return;
		melyint_stealq_remove(q, color);
	}
	if (!make_room(q, interval))
		return;
	color->_u._worth._steal_slot = slot_of(interval, q->interval[interval].length);
	q->interval[interval].colors[q->interval[interval].length++] = color;
	q->length++;
}

void
melyint_stealq_remove(struct melyint_stealq *q, struct mely_color *color)
{
	uint32_t slot = color->_u._worth._steal_slot;
	unsigned interval = slot >> PLACE_BITS;
	uint32_t place = (slot & ((1u << PLACE_BITS) - 1)) - 1;
	struct mely_color *last;

	MELY_SLOW(slot != 0 && place < q->interval[interval].length &&
	    q->interval[interval].colors[place] == color);
	last = q->interval[interval].colors[--q->interval[interval].length];
	q->interval[interval].colors[place] = last;
	last->_u._worth._steal_slot = slot;
	color->_u._worth._steal_slot = 0;
	q->length--;
}

struct mely_color *
melyint_stealq_best(const struct melyint_stealq *q)
{
	unsigned i;

	for (i = MELYINT_INTERVALS; q->length != 0 && i-- > 0;) {
		if (q->interval[i].length != 0)
			return q->interval[i].colors[q->interval[i].length - 1];
	}
	return NULL;
}

bool
melyint_stealq_validate(const struct melyint_stealq *q)
{
	uint32_t count = 0, place;
	unsigned i;

	for (i = 0; i < MELYINT_INTERVALS; i++) {
		for (place = 0; place < q->interval[i].length; place++) {
			const struct mely_color *color = q->interval[i].colors[place];

			if (color->_u._worth._steal_slot != slot_of(i, place))
				return false;
		}
		count += q->interval[i].length;
	}
	return count == q->length;
}

void
melyint_stealq_forget(struct melyint_stealq *q)
{
	unsigned i;

	for (i = 0; i < MELYINT_INTERVALS; i++)
		q->interval[i].length = 0;
	q->length = 0;
}

void
melyint_stealq_fini(struct melyint_stealq *q)
{
	unsigned i;

	for (i = 0; i < MELYINT_INTERVALS; i++)
		free(q->interval[i].colors);
}
