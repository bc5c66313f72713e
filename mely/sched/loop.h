/* SPDX-License-Identifier: MIT */
/*
 * loop.h: what the thread of a core does.
 */
#ifndef MELYINT_SCHED_LOOP_H
#define MELYINT_SCHED_LOOP_H

#include "core/core.h"

/* Owner: run events until the runtime has stopped. */
void melyint_core_loop(struct melyint_core *core);

/* Owner: one pass without waiting. Returns the events run. */
int melyint_core_pass(struct melyint_core *core);

#endif
