/* SPDX-License-Identifier: MIT */
/*
 * pair.h: which post in a raw trace is that of which event.
 */
#ifndef GANTT_PAIR_H
#define GANTT_PAIR_H

#include "raw.h"

struct gantt_pairs {
	uint64_t posts;
	uint64_t runs;
	uint64_t pairs;     /**< arrows, numbered from 1 */
};

/** Pair posts with runs. In the record of a run, `what` becomes the number of an arrow, or 0; in
 * the record of its post, `color` becomes the same number. False: no memory. */
bool gantt_pair(struct gantt_raw *raw, struct gantt_pairs *pairs);

#endif
