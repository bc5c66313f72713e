/* SPDX-License-Identifier: MIT */
/* history.h: the last accesses of a hunt's run, to print them after a failure. */
#ifndef SIM_HISTORY_H
#define SIM_HISTORY_H

#include <stdint.h>

void sim_history_begin(void);
/* step: the site's number, and in the last eight bits the thread. */
void sim_history_note(uint64_t step);

#endif
