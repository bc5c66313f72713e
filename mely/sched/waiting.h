/* SPDX-License-Identifier: MIT */
/*
 * waiting.h: the colors that wait on one core, for a thread that is not that core. The scheduler
 * defines the functions: sched/waiting.c or fifo/waiting.c. look/census.c calls them and explains
 * the walk, NOTE(census); look/watchdog/age.c calls the last two.
 */
#ifndef MELYINT_SCHED_WAITING_H
#define MELYINT_SCHED_WAITING_H

#include <string.h>

#include "base/assert.h"
#include "core/core.h"

enum {
	MELYINT_WAITING_EVENTS = MELY_STATS_LENGTH_MAX, /* counted of one color */
	MELYINT_WAITING_FRONT = 64 /* the front of a queue, for melyint_waiting_oldest */
};

/* A color that has events, as seen under the lock of its core. */
struct melyint_waiting {
	struct mely_stats_color row;
	const struct mely_color *color; /* an identity: it may end after the lock is dropped */
	uint64_t stamp_ticks;           /* of the first event that waits; 0: none */
	uint32_t touched;               /* events that the walk had to touch for it */
};

/* Under core->lock: put the cursor on the first color that waits. Returns the most steps ahead. */
uint32_t melyint_waiting_begin(struct melyint_core *core);

/* Under core->lock: read the color under the cursor and move the cursor on. False: the walk has
 * ended. */
bool melyint_waiting_next(struct melyint_core *core, struct melyint_waiting *waiting);

/* Under core->lock: read a color that this core owns and runs. */
void melyint_waiting_running(struct melyint_core *core, struct mely_color *color,
    struct melyint_waiting *waiting);

/* Owner, between a batch's last event and its end: D of NOTE(census). */
void melyint_waiting_answer(struct melyint_core *core);

/* Call visit for each event that waits, until it returns false. Under core->lock. */
void melyint_waiting_each(struct melyint_core *core, bool (*visit)(void *ctx,
    struct mely_event *ev), void *ctx);

/* The least stamp of the events in the front of the queue, but at most now_ticks. Under core->lock.
 * */
uint64_t melyint_waiting_oldest(struct melyint_core *core, uint64_t now_ticks);

/* Like melyint_waiting_each, for one list, whose lock or batch the caller owns. False: visit did
 * not want more. */
MELY_INLINE bool
melyint_waiting_walk(struct mely_event *first, bool (*visit)(void *ctx, struct mely_event *ev),
    void *ctx)
{
	struct mely_event *ev = first;

	if (first == NULL)
		return true;
	do {
		if (!visit(ctx, ev))
			return false;
		ev = ev->_next;
	} while (ev != first);
	return true;
}

MELY_INLINE uint64_t
melyint_waiting_older(const struct mely_event *ev, uint64_t than_ticks)
{
	return ev != NULL && ev->_stamp < than_ticks ? ev->_stamp : than_ticks;
}

/* Under core->lock: the part that both schedulers read alike. first: the next event, or NULL. */
MELY_INLINE void
melyint_waiting_read(struct melyint_core *core, const struct mely_color *color,
    const struct mely_event *first, struct melyint_waiting *waiting)
{
	unsigned flags = MELY_LOAD(&color->_flags, relaxed); /* under the lock */
	struct mely_stats_color *row = &waiting->row;

	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock) && MELY_PEEK(&color->_owner) == core);
	memset(waiting, 0, sizeof *waiting);
	waiting->color = color;
	row->kind = flags & MELYINT_COLOR_OBJECT ? MELY_STATS_COLOR_OBJECT : MELY_STATS_COLOR_ID;
	row->id = flags & MELYINT_COLOR_OBJECT ? 0 : color->_id;
	row->object = (uint64_t)(uintptr_t)color;
	row->owner = (uint32_t)core->index;
	row->flags = flags & MELYINT_COLOR_PINNED ? MELY_STATS_COLOR_PINNED : 0;
	row->priority = color->_priority;
	if (first == NULL)
		return;
	/* relaxed: written once. The handler exists while one of its events is queued. */
	row->handler = MELY_LOAD(&first->_handler->_number, relaxed);
	waiting->stamp_ticks = first->_stamp;
}

#endif
