/* SPDX-License-Identifier: MIT */
/*
 * heap.h: the threads of a prediction by how far their time has gone: a thread that runs by its
 * own time, one that is blocked by its deadline. Equal times go by the thread's number.
 */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include "engine.h"

void sim_heap_begin(void);
void sim_heap_add(struct sim_thread *thread);
/* Its time, its state or its deadline is another. */
void sim_heap_changed(struct sim_thread *thread);
struct sim_thread *sim_heap_first(void);
/* SIM_NEVER where there is none. */
uint64_t sim_heap_key(const struct sim_thread *thread);
/* Of the second in order: until then the first may run. */
uint64_t sim_heap_second_key(void);

#endif
