/* SPDX-License-Identifier: MIT */
/*
 * heap.h: the threads of a prediction, ordered by time: a running thread by its own time, a blocked
 * thread by its deadline. Threads of equal time are ordered by number.
 */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include "engine.h"

void sim_heap_begin(void);
void sim_heap_add(struct sim_thread *thread);
/* The time, state or deadline of a thread has changed. */
void sim_heap_changed(struct sim_thread *thread);
struct sim_thread *sim_heap_first(void);
/* SIM_NEVER without a thread. */
uint64_t sim_heap_key(const struct sim_thread *thread);
/* The time of the second thread: the first may run until then. */
uint64_t sim_heap_second_key(void);

#endif
