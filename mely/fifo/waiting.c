/* SPDX-License-Identifier: MIT */
/*
 * waiting.c: the walk through the FIFO of all colors, for sched/waiting.h. Each color knows the
 * number of its events; its first event in the FIFO is its oldest.
 */
#include "sched/waiting.h"

uint32_t
melyint_waiting_begin(struct melyint_core *core)
{
	/* A of NOTE(census): one walk at a time */
	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock) && core->ready.cursor == NULL);
	core->ready.cursor = core->ready.first;
	return core->ready.length;
}

bool
melyint_waiting_next(struct melyint_core *core, struct melyint_waiting *waiting)
{
	struct melyint_coreq *q = &core->ready;
	struct mely_event *ev = q->cursor;
	struct mely_color *color;

	if (ev == NULL)
		return false;
	q->cursor = ev->_next != q->first ? ev->_next : NULL;
	color = MELY_LOAD(&ev->_color, relaxed); /* under the lock */
	melyint_waiting_read(core, color, ev, waiting);
	waiting->row.length = melyint_fifo_count(color);
	waiting->touched = 1;
	return true;
}

/* A batch takes no event but the one that runs. */
void
melyint_waiting_answer(struct melyint_core *core)
{
	MELY_DEBUG_ASSERT(core == melyint_self);
	/* relaxed, both: nothing is published with it */
	MELY_STORE(&core->tallies.answer.to, MELY_LOAD(&core->rt->walks.begun, relaxed), relaxed);
}

/* The events of the running color wait in the FIFO, too. */
void
melyint_waiting_running(struct melyint_core *core, struct mely_color *color,
    struct melyint_waiting *waiting)
{
	const struct mely_event *ev = core->ready.first;
	uint32_t count = melyint_fifo_count(color), n = 0;

	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_RUNNING);
	MELY_DEBUG_ASSERT(count <= core->ready.length);
	/* relaxed: under the lock */
	while (count != 0 && n < MELYINT_WAITING_EVENTS &&
	    MELY_LOAD(&ev->_color, relaxed) != color) {
		ev = ev->_next;
		n++;
	}
	melyint_waiting_read(core, color, n < MELYINT_WAITING_EVENTS && count != 0 ? ev : NULL,
	    waiting);
	waiting->row.length = count;
	waiting->row.flags |= n == MELYINT_WAITING_EVENTS ? MELY_STATS_AGE_AT_LEAST : 0;
	waiting->touched = n;
}

/* ---- ages ------------------------------------------------------------------------------------ */

void
melyint_waiting_each(struct melyint_core *core, bool (*visit)(void *ctx, struct mely_event *ev),
    void *ctx)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock));
	(void)melyint_waiting_walk(core->ready.first, visit, ctx);
}

uint64_t
melyint_waiting_oldest(struct melyint_core *core, uint64_t now_ticks)
{
	struct mely_event *ev = core->ready.first;
	int left = MELYINT_WAITING_FRONT;

	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock));
	if (ev == NULL)
		return now_ticks;
	do {
		now_ticks = melyint_waiting_older(ev, now_ticks);
		ev = ev->_next;
	} while (ev != core->ready.first && --left > 0);
	return now_ticks;
}
