/* SPDX-License-Identifier: MIT */
/*
 * handback.c: handing back what a stop leaves over, on one thread while all cores are parked. Other
 * threads may still post, so each queue is emptied under its lock. A hand-back function may post,
 * too; such an event is held for the next run.
 */
#include <stdlib.h>

#include "core/worth.h"
#include "base/assert.h"
#include "core/hooks.h"
#include "color/names_marks.h"
#include "io/state.h"
#include "life/life.h"

/* Take the events of the core's first color-queue. *color: its color, or NULL: there is none. */
static struct mely_event *
empty_one(struct melyint_core *core, struct mely_color **color, bool *released)
{
	struct mely_event *events = NULL, *ev;

	melyint_lock_take(&core->lock);
	*color = melyint_coreq_first(&core->ready);
	if (*color != NULL) {
		melyint_core_unlink(core, *color);
		/* relaxed, all: under the lock */
		events = melyint_evq_join(MELY_LOAD(&(*color)->_heads, relaxed), (*color)->_tails);
		MELY_STORE(&(*color)->_heads, NULL, relaxed);
		(*color)->_tails = NULL;
		melyint_color_worthless(*color);
		MELY_STORE(&(*color)->_state, MELYINT_COLOR_IDLE, relaxed);
		*released = (MELY_LOAD(&(*color)->_flags, relaxed) & MELYINT_COLOR_RELEASED) != 0;
		if ((ev = events) != NULL) {
			do {
				/* In no color-queue now, and not yet the program's: a cancel
				 * that comes now waits until it is. Relaxed: cancels read it
				 * again under the lock. */
				if (!(ev->_flags & MELYINT_EV_POOLED))
					MELY_STORE(&ev->_state, MELYINT_EV_CLAIMED, relaxed);
				ev = ev->_next;
			} while (ev != events);
		}
	}
	melyint_lock_drop(&core->lock);
	return events;
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
		free(ev);
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

/* Only the color-queues that wait now, not those that a hand-back function posts to. */
static void
empty_core(struct mely_runtime *rt, struct melyint_core *core)
{
	uint32_t n = MELY_LOAD(&core->hint.waiting, relaxed); /* no core runs */

	for (; n > 0; n--) {
		struct mely_color *color;
		bool released = false;
		struct mely_event *events = empty_one(core, &color, &released);

		while (events != NULL) {
			struct mely_event *ev = melyint_evq_pop(&events);

			hand_back(rt, color, ev);
		}
		if (color != NULL && released)
			melyint_color_finish(color);
	}
}

void
melyint_handback_all(struct mely_runtime *rt)
{
	int i;

	MELY_ASSERT(rt->life.threads == 0);
	for (i = 0; i < rt->cores_count; i++)
		empty_core(rt, &rt->cores[i]);
}
