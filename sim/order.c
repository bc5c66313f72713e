/* SPDX-License-Identifier: MIT */
/*
 * order.c: see order.h. The orders are those of C11 with the release sequences of C++20: a store
 * ends the release sequence of a word, a read-modify-write of any order continues it.
 */
#include "order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "access.h"
#include "engine.h"
#include "memory.h"

enum { WORDS = 1 << 12, WORDS_FULL = WORDS / 2 };

/* A released word. */
struct released {
	const void *p;
	uint32_t run;           /* the run that wrote it; a record of an older run is free */
	uint32_t unused;
	struct sim_clock clock;
};

struct cell;

static struct {
	uint32_t run;
	int threads;            /* threads that take part */
	bool on;
	bool ignore;            /* do not check plain accesses */
	uint32_t used;
	struct sim_clock clocks[SIM_CLOCKS];
	struct released words[WORDS];
} order;

static struct cell *cells;      /* of plain memory; see below */

static void map_cells(void);

void
sim_order_begin(void)
{
	if (cells == NULL)
		map_cells();
	order.run++;
	order.on = true;
	order.ignore = false;
	order.used = 0;
	order.threads = 1;
	memset(order.clocks, 0, sizeof order.clocks);
	order.clocks[0].at[0] = 1;
}

static void
take_over(struct sim_clock *to, const struct sim_clock *from)
{
	int i;

	for (i = 0; i < order.threads; i++) {
		if (from->at[i] > to->at[i])
			to->at[i] = from->at[i];
	}
}

void
sim_order_fork(int parent, int child)
{
	if (child >= SIM_CLOCKS) {
		order.on = false;
		return;
	}
	order.threads = child + 1;
	if (parent >= 0) {
		order.clocks[child] = order.clocks[parent];
		order.clocks[parent].at[parent]++;
	}
	order.clocks[child].at[child] = 1;
}

void
sim_order_join(int parent, int child)
{
	if (order.on)
		take_over(&order.clocks[parent], &order.clocks[child]);
}

/* Addresses differ from run to run: only the speed may depend on the place in the table. */
static struct released *
find(const void *p, bool make)
{
	uint32_t at = (uint32_t)(((uintptr_t)p * 0x9e3779b97f4a7c15u) >> 40) % WORDS;

	while (order.words[at].run == order.run) {
		if (order.words[at].p == p)
			return &order.words[at];
		at = (at + 1) % WORDS;
	}
	if (!make)
		return NULL;
	if (order.used == WORDS_FULL) {
		order.on = false; /* the table is full: stop checking, to avoid false alarms */
		return NULL;
	}
	order.used++;
	order.words[at].run = order.run;
	order.words[at].p = p;
	memset(&order.words[at].clock, 0, sizeof order.words[at].clock);
	return &order.words[at];
}

static void
acquire(int thread, const void *p)
{
	struct released *word = find(p, false);

	if (word != NULL)
		take_over(&order.clocks[thread], &word->clock);
}

/* fresh: drop what other threads released before. */
static void
release(int thread, const void *p, bool fresh)
{
	sim_order_arrive(p, &order.clocks[thread], !fresh);
	if (order.on)
		order.clocks[thread].at[thread]++;
}

void
sim_order_access(int thread, const struct sim_site *site, const void *p)
{
	if (!order.on)
		return;
	switch (site->kind) {
	case SIM_LOAD:
		if (site->order & SIM_acquire)
			acquire(thread, p);
		break;
	case SIM_RMW:
		if (site->order & SIM_acquire)
			acquire(thread, p);
		if (site->order & SIM_release)
			release(thread, p, false);
		break;
	case SIM_STORE:
		if (site->order & SIM_release)
			release(thread, p, true);
		else
			sim_order_arrive(p, NULL, false);
		break;
	case SIM_COUNT:
		sim_order_arrive(p, NULL, false);
		break;
	default:
		break;
	}
}

void
sim_order_cas(int thread, const struct sim_site *site, const void *p, bool done)
{
	if (!order.on || !done)
		return;
	if (site->order & SIM_acquire)
		acquire(thread, p);
	if (site->order & SIM_release)
		release(thread, p, false);
}

void
sim_order_leave(int thread, struct sim_clock *clock)
{
	*clock = order.clocks[thread];
	order.clocks[thread].at[thread]++;
}

void
sim_order_arrive(const void *p, const struct sim_clock *clock, bool joins)
{
	struct released *word;

	if (!order.on || (joins && clock == NULL))
		return;
	word = find(p, clock != NULL);
	if (word == NULL)
		return;
	if (clock == NULL)
		memset(&word->clock, 0, sizeof word->clock);
	else if (joins)
		take_over(&word->clock, clock);
	else
		word->clock = *clock;
}

void
sim_order_release(int thread, const void *p)
{
	if (order.on)
		release(thread, p, false);
}

void
sim_order_acquire(int thread, const void *p)
{
	if (order.on)
		acquire(thread, p);
}

/* ---- data ------------------------------------------------------------------------------------ */

void
sim_word_init(struct sim_word *word)
{
	memset(word, 0, sizeof *word);
	word->writer = -1;
}

static bool
write_seen(int thread, const struct sim_word *word)
{
	return word->writer < 0 ||
	    order.clocks[thread].at[word->writer] >= word->write_clock;
}

bool
sim_word_read(int thread, struct sim_word *word)
{
	if (!order.on)
		return true;
	word->read_clocks[thread] = order.clocks[thread].at[thread];
	return write_seen(thread, word);
}

bool
sim_word_write(int thread, struct sim_word *word)
{
	bool good;
	int i;

	if (!order.on)
		return true;
	good = write_seen(thread, word);
	for (i = 0; i < order.threads && good; i++)
		good = i == thread || order.clocks[thread].at[i] >= word->read_clocks[i];
	word->writer = (int8_t)thread;
	word->write_clock = order.clocks[thread].at[thread];
	memset(word->read_clocks, 0, sizeof word->read_clocks);
	return good;
}

/* ---- plain accesses of the library ----------------------------------------------------------- */

/*
 * The last writer and the last reader of eight bytes of the area. One of each is not enough to see
 * every race of three threads, but a reported race is real.
 */
struct cell {
	uint32_t run;           /* the run that wrote it; an older one counts as untouched */
	uint32_t write_clock, read_clock;
	uint8_t writer, reader;
	uint8_t write_mask, read_mask; /* a bit for each byte */
};

enum { CELL = 8, MASK_FREED = 0xff, FREED_READER = 0xff };

static void
map_cells(void)
{
	cells = mmap(NULL, sim_memory_area() / CELL * sizeof *cells, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (cells == MAP_FAILED) {
		fprintf(stderr, "sim: no memory\n");
		exit(2);
	}
}

static inline struct cell *
cell_at(size_t place)
{
	struct cell *cell = &cells[place / CELL];

	if (cell->run != order.run) {
		memset(cell, 0, sizeof *cell);
		cell->run = order.run;
	}
	return cell;
}

static void
race(const struct cell *cell, const char *now, const char *before, unsigned thread)
{
	if (cell->reader == FREED_READER && cell->read_mask == MASK_FREED)
		sim_fail("%s of memory that has been freed", now);
	sim_fail("%s of plain data is not ordered behind the %s by thread %u", now, before, thread);
}

static inline void
touch(struct cell *cell, unsigned self, uint8_t mask, bool write)
{
	const uint32_t *seen = order.clocks[self].at;

	if ((cell->write_mask & mask) && cell->writer != self &&
	    seen[cell->writer] < cell->write_clock)
		race(cell, write ? "a write" : "a read", "last write", cell->writer);
	if (cell->reader == FREED_READER)
		race(cell, write ? "a write" : "a read", "", 0);
	if (!write) {
		if (cell->reader != self || cell->read_clock != seen[self])
			cell->read_mask = 0;
		cell->read_mask |= mask;
		cell->reader = (uint8_t)self;
		cell->read_clock = seen[self];
		return;
	}
	if ((cell->read_mask & mask) && cell->reader != self &&
	    seen[cell->reader] < cell->read_clock)
		race(cell, "a write", "last read", cell->reader);
	if (cell->writer != self || cell->write_clock != seen[self])
		cell->write_mask = 0;
	cell->write_mask |= mask;
	cell->writer = (uint8_t)self;
	cell->write_clock = seen[self];
}

static unsigned
mask_of(size_t place, size_t bytes)
{
	return ((1u << bytes) - 1) << place % CELL & 0xff;
}

void
sim_order_ignore(bool ignore)
{
	order.ignore = ignore;
}

void
sim_order_plain(const void *p, size_t bytes, bool write)
{
	size_t place;

	if (sim_self == NULL || !order.on || order.ignore ||
	    (place = sim_memory_place(p)) == SIZE_MAX)
		return;
	if (bytes > CELL)
		sim_order_plain_range(p, bytes, write);
	else
		touch(cell_at(place), (unsigned)sim_self->id, (uint8_t)mask_of(place, bytes),
		    write);
}

void
sim_order_plain_range(const void *p, size_t bytes, bool write)
{
	size_t place, end;

	if (sim_self == NULL || !order.on || order.ignore ||
	    (place = sim_memory_place(p)) == SIZE_MAX)
		return;
	for (end = place + bytes; place < end;) {
		size_t part = CELL - place % CELL;

		if (part > end - place)
			part = end - place;
		touch(cell_at(place), (unsigned)sim_self->id, (uint8_t)mask_of(place, part),
		    write);
		place += part;
	}
}

void
sim_order_freed(const void *p, size_t bytes)
{
	size_t place, end;

	if (sim_self == NULL || !order.on || order.ignore ||
	    (place = sim_memory_place(p)) == SIZE_MAX)
		return;
	sim_order_plain_range(p, bytes, true);
	for (end = place + bytes; place < end; place += CELL) {
		struct cell *cell = cell_at(place);

		cell->reader = FREED_READER;
		cell->read_mask = MASK_FREED;
	}
}
