/* SPDX-License-Identifier: MIT */
/*
 * worth.h: the functions of core/worth.h for the libasync-smp scheduler, whose core-queue is one
 * FIFO of events. The build of libmely-libasync finds this header first. A color is linked while it
 * is QUEUED; to unlink one means to scan the FIFO for its events. No color is ever weighed.
 */
#ifndef MELYINT_CORE_WORTH_H
#define MELYINT_CORE_WORTH_H

#include "base/assert.h"
#include "core/core.h"

/* Under core->lock: a color begins to wait here (by: 1), or ends to (by: -1). */
MELY_INLINE void
melyint_core_count_waiting(struct melyint_core *core, const struct mely_color *color, uint32_t by)
{
	MELY_DEBUG_ASSERT(by == 1 || MELY_PEEK(&core->hint.waiting) > 0);
	/* relaxed, all of these: written under the lock; other threads read them as hints */
	MELY_COUNT(&core->hint.waiting, by);
	if (MELY_LIKELY(!(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_PINNED)))
		MELY_COUNT(&core->hint.stealable, by);
}

/* Append the events of a color that is out of any FIFO. Under core->lock; core owns the color. */
MELY_INLINE void
melyint_core_link(struct melyint_core *core, struct mely_color *color)
{
	melyint_color_become(color, MELYINT_COLOR_QUEUED);
	melyint_fifo_append(&core->ready, color);
	melyint_core_count_waiting(core, color, 1);
}

/* Collect the events of a color into color->_tails. Under core->lock. The caller sets the color's
 * state. */
MELY_INLINE void
melyint_core_unlink(struct melyint_core *core, struct mely_color *color)
{
	melyint_fifo_collect(&core->ready, color, false);
	if (MELY_LOAD(&color->_state, relaxed) == MELYINT_COLOR_QUEUED) /* under the lock */
		melyint_core_count_waiting(core, color, -1u);
}

/* A RUNNING color that no core runs waits again, or rests. Under core->lock. True: it waits. */
MELY_INLINE bool
melyint_core_settle(struct melyint_core *core, struct mely_color *color)
{
	bool waits = melyint_fifo_count(color) != 0;

	melyint_color_become(color, waits ? MELYINT_COLOR_QUEUED : MELYINT_COLOR_IDLE);
	if (waits)
		melyint_core_count_waiting(core, color, 1);
	return waits;
}

/* Do the counts of the colors that wait on core agree? Each has an event in the FIFO; so may the
 * running color, which does not wait. Under core->lock. For assertions. */
MELY_INLINE bool
melyint_core_counts_agree(const struct melyint_core *core)
{
	uint32_t waiting = MELY_PEEK(&core->hint.waiting);

	return core->ready.colors <= core->ready.length &&
	    MELY_PEEK(&core->ready.pending) == core->ready.length &&
	    (core->ready.colors == waiting || core->ready.colors == waiting + 1) &&
	    MELY_PEEK(&core->hint.stealable) <= waiting;
}

MELY_INLINE void
melyint_core_unworthy(struct melyint_core *core, struct mely_color *color)
{
	(void)core, (void)color;
}

MELY_INLINE void
melyint_color_worthless(struct mely_color *color)
{
	(void)color;
}

MELY_INLINE void
melyint_core_forget_worthy(struct melyint_core *core)
{
	(void)core;
}

MELY_INLINE void
melyint_core_free_worthy(struct melyint_core *core)
{
	(void)core;
}

MELY_INLINE void
melyint_batch_lose(struct melyint_batch *batch, const struct mely_event *ev)
{
	(void)batch, (void)ev;
}

/* Under the lock of the color's owner: are its events out of reach, for a few instructions? They
 * are while the color moves, since it must not become empty on its way. */
MELY_INLINE bool
melyint_color_away(const struct mely_color *color)
{
	return MELY_LOAD(&color->_state, relaxed) == MELYINT_COLOR_MOVING; /* under the lock */
}

#endif
