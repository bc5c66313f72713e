/* SPDX-License-Identifier: MIT */
/* history.h: the last accesses of a hunt's run, to print them after a failure. */
#ifndef SIM_HISTORY_H
#define SIM_HISTORY_H

#include <stdint.h>

enum { SIM_HISTORY = 8192 };

struct sim_steps {
	uint64_t count;             /* accesses done */
	uint32_t at[SIM_HISTORY];   /* the last of them */
};

extern struct sim_steps sim_steps;

/* step: the site's number, and in the last eight bits the thread. */
static inline void
sim_history_note(uint64_t step)
{
	sim_steps.at[++sim_steps.count % SIM_HISTORY] = (uint32_t)step;
}

#endif
