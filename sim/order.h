/* SPDX-License-Identifier: MIT */
/*
 * order.h: happens-before, by vector clocks: each virtual thread has one, and each released word
 * keeps the clock of its release, which an acquire that reads the word joins. A plain access that
 * is not ordered behind the last write of another thread is a failure. So the hunt finds a memory
 * order that is too weak, although the run itself interleaves whole steps.
 */
#ifndef SIM_ORDER_H
#define SIM_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_site;

enum { SIM_CLOCKS = 20 }; /* the maximum of threads; with more, nothing is checked */

struct sim_clock {
	uint32_t at[SIM_CLOCKS];
};

void sim_order_begin(void);
/* parent creates child; the joining thread sees everything that the joined thread did. */
void sim_order_fork(int parent, int child);
void sim_order_join(int parent, int child);
void sim_order_access(int thread, const struct sim_site *site, const void *p);
void sim_order_cas(int thread, const struct sim_site *site, const void *p, bool done);
/* A store that other threads see later (buffer.h). A release happens when the thread stores: take
 * its clock then, and give it to the word when the store arrives. */
void sim_order_leave(int thread, struct sim_clock *clock);
/* clock: NULL, a relaxed store. joins: of a read-modify-write. */
void sim_order_arrive(const void *p, const struct sim_clock *clock, bool joins);
/* A lock of the system, or any other edge: like a release or an acquire of a word at p. */
void sim_order_release(int thread, const void *p);
void sim_order_acquire(int thread, const void *p);

/* A plain access of the library (plain_hunt.c). Bytes: as in plain.h */
void sim_order_plain(const void *p, size_t bytes, bool write);
void sim_order_plain_range(const void *p, size_t bytes, bool write);
/* Code that inspects the library from outside may read everything. */
void sim_order_ignore(bool ignore);
/* The library frees memory: no thread may touch it afterwards. */
void sim_order_freed(const void *p, size_t bytes);

/* Data that handlers keep. */
struct sim_word {
	uint32_t write_clock;
	int8_t writer;          /* -1: no write yet */
	uint8_t unused[3];
	uint32_t read_clocks[SIM_CLOCKS];
};

void sim_word_init(struct sim_word *word);
/* False: not ordered behind the last write (a write: and all reads). */
bool sim_word_read(int thread, struct sim_word *word);
bool sim_word_write(int thread, struct sim_word *word);

#endif
