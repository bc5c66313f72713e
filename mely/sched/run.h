/* SPDX-License-Identifier: MIT */
/*
 * run.h: the turns of a core: give the finished batch back, take the next color-queue, run it.
 */
#ifndef MELYINT_SCHED_RUN_H
#define MELYINT_SCHED_RUN_H

#include "core/core.h"

/* The batch threshold, events. */
MELY_INLINE uint32_t
melyint_batch_events(const struct melyint_core *core)
{
	return MELY_LOAD(&core->rt->switches.batch_events, relaxed); /* a switch */
}

/* Owner: end the batch, if any, and begin the next. False: nothing is ready. */
bool melyint_turn(struct melyint_core *core);

/* Owner: end the batch without beginning another. */
void melyint_turn_end(struct melyint_core *core);

/* Under core->lock, which owns color: make it core's running batch. Unlinked before. */
void melyint_batch_take(struct melyint_core *core, struct mely_color *color);

/* Owner: take the heads that were posted since the batch was taken. */
void melyint_batch_take_heads(struct melyint_core *core);

/* Owner: run the batch that was taken, up to the threshold. */
void melyint_batch_run(struct melyint_core *core);

#endif
