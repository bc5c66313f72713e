/* SPDX-License-Identifier: MIT */
/*
 * look.c: walks of a FIFO of all colors, in place of look_queue.c: see look.h. The count of a
 * color's events is at hand; its first event in the FIFO is its oldest.
 */
#include "look/look.h"

uint32_t
melyint_look_begin(struct melyint_core *core)
{
	core->ready.cursor = core->ready.first;
	return core->ready.length;
}

bool
melyint_look_next(struct melyint_core *core, struct melyint_sight *sight)
{
	struct melyint_fifo *q = &core->ready;
	struct mely_event *ev = q->cursor;
	struct mely_color *color;

	if (ev == NULL)
		return false;
	q->cursor = ev->_next != q->first ? ev->_next : NULL;
	color = MELY_LOAD(&ev->_color, relaxed); /* under the lock */
	melyint_look_color(core, color, ev, sight);
	sight->row.length = melyint_fifo_count(color);
	sight->touched = 1;
	return true;
}

/* Nothing is taken but the event that runs. */
void
melyint_look_answer(struct melyint_core *core)
{
	/* relaxed, both: nothing is published with it */
	MELY_STORE(&core->tallies.answer.to, MELY_LOAD(&core->rt->walks.begun, relaxed), relaxed);
}

/* The events of a color that runs wait in the FIFO, too. */
void
melyint_look_running(struct melyint_core *core, struct mely_color *color,
    struct melyint_sight *sight)
{
	const struct mely_event *ev = core->ready.first;
	uint32_t count = melyint_fifo_count(color), n = 0;

	/* relaxed: under the lock */
	while (count != 0 && n < MELYINT_LOOK_EVENTS && MELY_LOAD(&ev->_color, relaxed) != color) {
		ev = ev->_next;
		n++;
	}
	melyint_look_color(core, color, n < MELYINT_LOOK_EVENTS && count != 0 ? ev : NULL, sight);
	sight->row.length = count;
	sight->row.flags |= n == MELYINT_LOOK_EVENTS ? MELY_STATS_AGE_AT_LEAST : 0;
	sight->touched = n;
}
