/* SPDX-License-Identifier: MIT */
/*
 * drain.h: finding out that a drain is done: NOTE(stop) in life/cycle.c.
 */
#ifndef MELYINT_SCHED_DRAIN_H
#define MELYINT_SCHED_DRAIN_H

#include "core/core.h"

/* Any core, while draining, between turns: end the drain when nothing is left or its time is up. */
void melyint_drain_look(struct mely_runtime *rt);

#endif
