/* SPDX-License-Identifier: MIT */
/*
 * buffer.h: store buffers of the virtual processors, for the seeds of a hunt whose strategy asks
 * for them. Other threads see the atomic stores of a thread later, and in their order.
 *
 * NOTE(buffers)
 *   A. A thread sees its own stores at once. While it runs, memory has what the thread sees. When
 *      another runs, the words of the buffer have what they had before: sim_buffer_leave and
 *      sim_buffer_enter exchange them. So loads, plain accesses and assertions need no look-up.
 *   B. The oldest store of any buffer may arrive at each choice of a thread (strategy.c). A fence,
 *      a store or a read-modify-write that is seq_cst, and whatever the operating system orders
 *      empty the buffer; so does a wait.
 *   C. Every other read-modify-write empties the buffer, too, but its own store may wait there: C11
 *      promises no more, and some processors let later loads pass it. Another thread that changes
 *      the word then finds that store, also one that stores to it.
 *   D. Plain stores are not delayed. No other thread may look at them before the release behind
 *      them arrives, and order.c checks that.
 *   E. A system call empties no buffer: the library must not rely on that. But when a call of the
 *      library has returned, and at both ends of a handler, the buffer is empty (sim_settle). The
 *      program of a hunt keeps books of what it has done, which other threads read; a program
 *      would pass on such knowledge with a release. So the checks hold with store buffers, too.
 *   F. A fault shows only if a store waits while others do much. A thread whose read-modify-write
 *      with a release waits may therefore linger at an access until no other thread can run. Locks
 *      are not meant: their read-modify-writes only acquire.
 */
#ifndef SIM_BUFFER_H
#define SIM_BUFFER_H

#include <stdbool.h>

#include "access.h"
#include "rng.h"

/* on: this run has store buffers. Else sim_buffer_access and sim_buffer_cas are not called. */
void sim_buffer_begin(bool on);
/* The running thread is about to touch p, or (cas) has compared and exchanged it. Instead of
 * sim_order_access and sim_order_cas. */
void sim_buffer_access(int thread, const struct sim_site *site, const void *p);
void sim_buffer_cas(int thread, const struct sim_site *site, const void *p, bool done);

/* The running thread stops, or goes on: A of NOTE(buffers). */
void sim_buffer_leave(int thread);
void sim_buffer_enter(int thread);
/* Between the two: some stores arrive, from share of 65,536 buffers, or all. */
void sim_buffer_drain(struct sim_rng *rng, uint32_t share);
void sim_buffer_drain_all(void);
/* Has every store arrived? */
bool sim_buffer_empty(void);
/* F of NOTE(buffers): does the store of a read-modify-write that releases wait here? */
bool sim_buffer_orders(int thread);

#endif
