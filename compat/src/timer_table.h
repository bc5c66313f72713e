/* SPDX-License-Identifier: MIT */
/*
 * timer_table.h: timers in the order in which they run: by time, and for equal times in the order
 * armed. The owner of a table decides when to check it (timers.cc does so with libmely).
 *
 * NOTE(timers)
 *   The old libraries keep their timers in one tree, and programs rely on its order. This library
 *   does the same, with a map by time and age, under a lock.
 *   A. A timer WAITS in the map. After it expires it leaves the map and is DUE until it RUNS; after
 *      the callback returns, its place is free.
 *   B. The program's handle is the timer's name: place and generation. The removal of a DUE timer
 *      gives its place a new generation, so the event that should run the timer finds nothing; the
 *      remover frees the callback. So a removal is exact from any color, unless the timer RUNS.
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

/** A time, not necessarily normalized, in nanoseconds since 1970; earlier times are 0. */
uint64_t timer_ns(time_t sec, long long nsec);

/**
 * The time up to which timers are due: CLOCK_REALTIME, but not beyond the second of time(), which
 * follows a coarser clock and which programs also compare with.
 */
uint64_t timer_now_ns();

enum timer_removal {
	TIMER_REMOVED,         /**< it will not be called; its callback is freed */
	TIMER_RUNS_ELSEWHERE,  /**< another thread is calling it */
	TIMER_INVALID          /**< it has been called, or is the caller, or never existed */
};

/** The caller holds the lock, unless a comment says otherwise. */
class timer_table
{
public:
	std::mutex lock;

	/** The names of the table have this bit, or none has it. */
	explicit timer_table(bool bit) : _bit(bit) {}

	/** Add a timer; returns its name, never 0 and never used twice. */
	uint64_t add(uint64_t due_ns, const job &j);

	/** The number of timers ever added. */
	uint64_t ages() const { return _ages; }
	/** The time of the first timer; UINT64_MAX if none waits. */
	uint64_t first_ns() const;
	/** When to check the table: at first_ns, or soon if that is past but time() is behind. */
	uint64_t look_ns() const;

	/** Take out the first due timer that is older than age_end; its name, or 0. */
	uint64_t take_due(uint64_t now_ns, uint64_t age_end, job *j);
	/** Mark it as RUNS. False: it has been removed. */
	bool begin(uint64_t name, job *j);
	void end(uint64_t name);

	/** These take the lock themselves. */
	timer_removal remove(uint64_t name);
	/** Run a DUE timer and free its callback. False: it has been removed. */
	bool run(uint64_t name);

	/** Does a name have the bit of such a table? Any thread. */
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
