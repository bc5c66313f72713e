/* SPDX-License-Identifier: MIT */
/*
 * timer_table.h: timers in the order in which they run: by time, and those of one time as they were
 * armed. Who drives a table decides when to look (timers.cc does it with libmely).
 *
 * NOTE(timers)
 *   The old libraries keep their timers in one tree, and programs rely on its order. So do we: a
 *   map by time and age, under a lock.
 *   A. A timer WAITS in the map. When its time has come it is taken out, and is DUE until it RUNS;
 *      when the callback has returned, its place is free.
 *   B. The program's handle is the timer's name: place and generation. A timer that is removed
 *      while it is DUE gives its place a new generation, so whoever was to run it finds nothing;
 *      whoever has removed it frees the callback. So a removal is exact from any color, but for one
 *      that RUNS.
 */
#ifndef MELYCOMPAT_TIMER_TABLE_H
#define MELYCOMPAT_TIMER_TABLE_H

#include <cstdint>
#include <ctime>
#include <deque>
#include <map>
#include <mutex>
#include <pthread.h>

#include "job.h"

namespace melycompat {

/** Nanoseconds since 1970 of a time, which need not be normal; times before are 0. */
uint64_t timer_ns(time_t sec, long long nsec);

/**
 * The time up to which timers are due: CLOCK_REALTIME, but not a second that time() does not show
 * yet, since it follows a coarser clock and programs compare with that, too.
 */
uint64_t timer_now_ns();

enum timer_removal {
	TIMER_REMOVED,         /**< it will not be called; its callback is freed */
	TIMER_RUNS_ELSEWHERE,  /**< it is being called by another thread */
	TIMER_INVALID          /**< it has been called, or calls this, or there never was one */
};

/** All of it under the lock, which is the caller's to take, unless said otherwise. */
class timer_table
{
public:
	std::mutex lock;

	/** All names of the table have this bit, or do not have it. */
	explicit timer_table(bool bit) : _bit(bit) {}

	/** Add one; its name, never 0 and never used twice. */
	uint64_t add(uint64_t due_ns, const job &j);

	/** How many have been added, ever. */
	uint64_t ages() const { return _ages; }
	/** The first one's time; UINT64_MAX when none waits. */
	uint64_t first_ns() const;
	/** When to look at it: then, or soon if it is past but time() does not show it. */
	uint64_t look_ns() const;

	/** Take out the first one that is due and older than age_end: its name, or 0. */
	uint64_t take_due(uint64_t now_ns, uint64_t age_end, job *j);
	/** It RUNS, if it has not been removed: false. */
	bool begin(uint64_t name, job *j);
	void end(uint64_t name);

	/** Take and drop the lock themselves. */
	timer_removal remove(uint64_t name);
	/** Run one that is DUE, free its callback. False: it has been removed. */
	bool run(uint64_t name);

	/** Has a name the bit of such a table? Any thread. */
	static bool bit_of(uint64_t name) { return (name >> 63) != 0; }

private:
	enum state { FREE, WAITS, DUE, RUNS };

	struct place {
		uint64_t generation = 1;
		state stage = FREE;
		job j = {};
		uint64_t due_ns = 0;
		uint64_t age = 0;
		pthread_t runner = {}; /* while it RUNS */
		uint32_t next_free = 0;
	};

	uint64_t name_of(uint32_t index) const;
	place *find(uint64_t name);
	uint32_t place_new();
	void place_free(place *p, uint64_t name);

	const bool _bit;
	std::deque<place> _places;
	uint32_t _first_free = 0; /* index + 1 */
	std::map<std::pair<uint64_t, uint64_t>, uint32_t> _order; /* (due, age): place */
	uint64_t _ages = 0;
};

}

#endif
