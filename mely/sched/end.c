/* SPDX-License-Identifier: MIT */
/*
 * end.c: what a batch leaves to be done without its core's lock.
 */
#include "sched/cancel.h"
#include "sched/end.h"

static void
afterwards(struct melyint_core *core, struct mely_event *waiters)
{
	struct mely_color *color = core->due.leaving;

	MELY_DEBUG_ASSERT(melyint_self == core && !melyint_lock_held(&core->lock));
	if (color != NULL) {
		core->due.leaving = NULL;
		melyint_color_arrive(color);
	}
	for (; core->due.unmarked > 0; core->due.unmarked--)
		melyint_mark_ran(core->due.unmarked_color);
	color = core->due.released;
	if (color != NULL) {
		core->due.released = NULL;
		melyint_color_finish(color);
	}
	melyint_cancel_complete(waiters);
}

void
melyint_turn_afterwards(struct melyint_core *core)
{
	struct mely_event *waiters = core->locked.waiters;

	MELY_ASSERT(core->batch.color == NULL); /* its batch has ended */
	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock));
	core->locked.waiters = NULL;
	core->locked.has_batch = true;
	melyint_lock_drop(&core->lock);
	afterwards(core, waiters);
	/* A release function may have posted. */
	if (MELY_UNLIKELY(core->outbox.remote != 0))
		melyint_outbox_end_row(core);
	melyint_lock_take(&core->lock);
	/* No batch ran, so no cancel waits for the end of one. */
	MELY_DEBUG_ASSERT(core->locked.waiters == NULL);
}
