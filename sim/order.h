/* SPDX-License-Identifier: MIT */
/*
 * order.h: what happens before what, by vector clocks: each virtual thread has one, and each word
 * that somebody has released keeps the clock it was released with. An acquire that reads it takes
 * it over. A plain access to data that is not ordered behind the last write of another thread is
 * a failure: a memory order weaker than it must be is seen, although the run itself is one
 * interleaving of whole steps.
 */
#ifndef SIM_ORDER_H
#define SIM_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_site;

enum { SIM_CLOCKS = 20 }; /* threads that take part; with more, nothing is checked */

void sim_order_begin(void);
/* child is new, made by parent; all that a thread did is seen by who joins it. */
void sim_order_fork(int parent, int child);
void sim_order_join(int parent, int child);
void sim_order_access(int thread, const struct sim_site *site, const void *p);
void sim_order_cas(int thread, const struct sim_site *site, const void *p, bool done);
/* A lock of the system's, or any other edge: as a release to or an acquire of a word at p. */
void sim_order_release(int thread, const void *p);
void sim_order_acquire(int thread, const void *p);

/* A plain access of the library (plain_hunt.c). Bytes: as in plain.h */
void sim_order_plain(const void *p, size_t bytes, bool write);
void sim_order_plain_range(const void *p, size_t bytes, bool write);
/* What looks at the library from outside may look at anything. */
void sim_order_ignore(bool ignore);
/* Memory of the library goes back: nobody may touch it any more. */
void sim_order_freed(const void *p, size_t bytes);

/* Data that handlers keep. */
struct sim_word {
	uint32_t write_clock;
	int8_t writer;          /* -1: nobody yet */
	uint8_t unused[3];
	uint32_t read_clocks[SIM_CLOCKS];
};

void sim_word_init(struct sim_word *word);
/* False: not ordered behind the last write (a write: and all reads). */
bool sim_word_read(int thread, struct sim_word *word);
bool sim_word_write(int thread, struct sim_word *word);

#endif
