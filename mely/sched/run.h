/* SPDX-License-Identifier: MIT */
/*
 * run.h: the turns of a core: give the finished batch back, take the next color-queue, run it.
 * NOTE(batch) in turn.c; for libmely-libasync, NOTE(one) in fifo/run.c. Owner's thread only.
 */
#ifndef MELYINT_SCHED_RUN_H
#define MELYINT_SCHED_RUN_H

#include "base/assert.h"
#include "core/core.h"

/* The batch threshold: the most events that a batch runs. */
MELY_INLINE uint32_t
melyint_batch_events(const struct melyint_core *core)
{
	/* Else the core would take a color and put it back for ever. */
	MELY_DEBUG_ASSERT(MELY_PEEK(&core->rt->switches.batch_events) > 0);
	return MELY_LOAD(&core->rt->switches.batch_events, relaxed); /* a switch */
}

/* End the batch, if any, and begin the next. False: nothing is ready. */
bool melyint_turn(struct melyint_core *core);

/* End the batch without beginning another. */
void melyint_turn_end(struct melyint_core *core);

/* Under the lock of color's owner: make color, which is unlinked, the running batch of core. */
void melyint_batch_take(struct melyint_core *core, struct mely_color *color);

/* Take the heads that were posted since the batch was taken. */
void melyint_batch_take_heads(struct melyint_core *core);

/* Run the batch that was taken, up to the threshold. */
void melyint_batch_run(struct melyint_core *core);

/* ---- sampled and observed batches ------------------------------------------------------------ */

/* Sample a batch soon: B of NOTE(tally). */
void melyint_sampling_soon(struct melyint_core *core);

/* Between batches: show batches to the observers from now on, or no longer. A of NOTE(observe). */
void melyint_sampling_observe(struct melyint_core *core, bool on);

#endif
