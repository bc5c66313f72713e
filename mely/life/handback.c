/* SPDX-License-Identifier: MIT */
/*
 * handback.c: handing back what a stop leaves over, on one thread while all cores are parked. Other
 * threads may still call, so each queue is emptied under its lock. What the library itself posts
 * meanwhile is held for the next run; mely_runtime_free hands it back, too.
 */
#include <stdlib.h>

#include "core/worth.h"
#include "base/assert.h"
#include "core/hooks.h"
#include "color/names_marks.h"
#include "io/state.h"
#include "life/life.h"

/* Take the events of the core's first color-queue, which counts as running from here on: its
 * release waits, and what is posted to it stays with the core. NULL: there is none. */
static struct mely_color *
begin_color(struct melyint_core *core)
{
	struct mely_event **left = &core->rt->life.left, *ev;
	struct mely_color *color;

	MELY_DEBUG_ASSERT(*left == NULL);
	melyint_lock_take(&core->lock);
	color = melyint_coreq_first(&core->ready);
	if (color != NULL) {
		melyint_core_unlink(core, color);
		/* relaxed, all but one: under the lock. release: as in sched/turn.c:take_some */
		*left = melyint_evq_join(MELY_LOAD(&color->_heads, relaxed), color->_tails);
		MELY_STORE(&color->_heads, NULL, relaxed);
		color->_tails = NULL;
		melyint_color_worthless(color);
		melyint_color_become(color, MELYINT_COLOR_RUNNING);
		if ((ev = *left) != NULL) {
			do {
				if (!(ev->_flags & MELYINT_EV_POOLED))
					MELY_STORE(&ev->_state, MELYINT_EV_LEFT, release);
				ev = ev->_next;
			} while (ev != *left);
		}
	}
	melyint_lock_drop(&core->lock);
	return color;
}

/* The next event to hand back, or NULL. Until then other threads, and the hand-back function, may
 * cancel it. */
static struct mely_event *
next_event(struct melyint_core *core)
{
	struct mely_event *ev = NULL;

	melyint_lock_take(&core->lock);
	if (core->rt->life.left != NULL) {
		ev = melyint_evq_pop(&core->rt->life.left);
		/* In no list now, and not yet the program's: a cancel that comes now waits until it
		 * is. relaxed: cancels read it again under the lock. */
		if (!(ev->_flags & MELYINT_EV_POOLED))
			MELY_STORE(&ev->_state, MELYINT_EV_CLAIMED, relaxed);
	}
	melyint_lock_drop(&core->lock);
	return ev;
}

/* All events of the color have been handed back. */
static void
end_color(struct melyint_core *core, struct mely_color *color)
{
	struct melyint_core *home = core;
	bool waits, released, leaves;
	unsigned flags;

	melyint_lock_take(&core->lock);
	MELY_DEBUG_ASSERT(core->rt->life.left == NULL);
	flags = MELY_LOAD(&color->_flags, relaxed); /* under the lock */
	if (flags & MELYINT_COLOR_PINNED)
		home = &core->rt->cores[flags >> MELYINT_COLOR_PIN_SHIFT];
	waits = melyint_core_settle(core, color);
	released = !waits && (flags & MELYINT_COLOR_RELEASED) != 0;
	leaves = waits && home != core;
	if (leaves) { /* as in color/color.c:mely_color_pin */
		melyint_core_unlink(core, color);
		melyint_color_become(color, MELYINT_COLOR_MOVING);
		MELY_ADD(&core->rt->flow.arriving, 1, relaxed);
	}
	/* release: pairs with the acquire in melyint_color_lock */
	if (!released && home != core)
		MELY_STORE(&color->_owner, home, release);
	melyint_lock_drop(&core->lock);
	if (leaves)
		melyint_color_arrive(color);
	if (released)
		melyint_color_finish(color);
}

static void
hand_back(struct mely_runtime *rt, struct mely_color *color, struct mely_event *ev)
{
	bool pooled = (ev->_flags & MELYINT_EV_POOLED) != 0;
	struct mely_handback left = {MELY_LEFT_EVENT, color, ev->_handler, ev->_arg,
	    pooled ? NULL : ev};

	melyint_check_taken_back(ev);
	if (ev->_flags & MELYINT_EV_COUNTED)
		melyint_mark_ran(color);
	if (pooled) {
		melyint_event_free(ev);
	} else {
		/* release: pairs with the acquire of the post that claims it next */
		MELY_STORE(&ev->_state, MELYINT_EV_IDLE, release);
	}
	if (!melyint_io_left_over(&left))
		return;
	melyint_check_out();
	if (rt->config.handback != NULL)
		rt->config.handback(rt->config.handback_ctx, &left);
	else if (left.handler->drop != NULL)
		left.handler->drop(left.arg);
	melyint_check_in();
}

/* Only the color-queues that wait now. False: there was none. */
static bool
empty_core(struct mely_runtime *rt, struct melyint_core *core)
{
	const uint32_t waiting = MELY_LOAD(&core->hint.waiting, relaxed); /* no core runs */
	uint32_t n;

	for (n = waiting; n > 0; n--) {
		struct mely_color *color = begin_color(core);
		struct mely_event *ev;

		if (color == NULL)
			break;
		while ((ev = next_event(core)) != NULL)
			hand_back(rt, color, ev);
		end_color(core, color);
	}
	return waiting != 0;
}

bool
melyint_handback_all(struct mely_runtime *rt)
{
	bool any = false;
	int i;

	MELY_ASSERT(rt->life.threads == 0);
	for (i = 0; i < rt->cores_count; i++)
		any |= empty_core(rt, &rt->cores[i]);
	return any;
}
