/* SPDX-License-Identifier: MIT */
/*
 * pace.h: the open loop: which requests of a core are due, and which connection sends them.
 */
#ifndef LOAD_PACE_H
#define LOAD_PACE_H

#include "load/core.h"

/** Start the schedule of the core, if the options have a rate; before mely_run. */
int load_pace_start(struct load_core *core);
void load_pace_fini(struct load_core *core);

/** How many requests were due before end and have not been taken. */
uint64_t load_pace_unsent(const struct load_core *core, uint64_t end);

#endif
