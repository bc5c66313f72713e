/* SPDX-License-Identifier: MIT */
/*
 * ready.h: what the library that both schedulers share asks of this one's core-queue. The last
 * part of core.h, when that is compiled for libmely-libasync. A color is linked as long as it is
 * QUEUED; to unlink one means to scan the FIFO for its events.
 */
#ifndef MELYINT_FIFO_READY_H
#define MELYINT_FIFO_READY_H

/* Under core->lock: a color got to wait here, or waits here no more. by: 1 or -1 */
MELY_INLINE void
melyint_core_count_waiting(struct melyint_core *core, const struct mely_color *color, uint32_t by)
{
	/* relaxed, all of these: written under the lock; others read them as hints */
	MELY_COUNT(&core->hint.waiting, by);
	if (MELY_LIKELY(!(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_PINNED)))
		MELY_COUNT(&core->hint.stealable, by);
}

/* Append the events of a color that is out of any FIFO. Under core->lock, which must own it. */
MELY_INLINE void
melyint_core_link(struct melyint_core *core, struct mely_color *color)
{
	MELY_STORE(&color->_state, MELYINT_COLOR_QUEUED, relaxed); /* under the lock */
	melyint_fifo_append(&core->ready, color);
	melyint_core_count_waiting(core, color, 1);
}

/* Collect the events of a color into color->_tails. Under core->lock. The state is the caller's
 * to set. */
MELY_INLINE void
melyint_core_unlink(struct melyint_core *core, struct mely_color *color)
{
	melyint_fifo_collect(&core->ready, color, false);
	if (MELY_LOAD(&color->_state, relaxed) == MELYINT_COLOR_QUEUED) /* under the lock */
		melyint_core_count_waiting(core, color, -1u);
}

/* Nothing is weighed here. */
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
 * are while it moves, since it must not become empty on its way. */
MELY_INLINE bool
melyint_color_away(const struct mely_color *color)
{
	return MELY_LOAD(&color->_state, relaxed) == MELYINT_COLOR_MOVING; /* under the lock */
}

#endif
