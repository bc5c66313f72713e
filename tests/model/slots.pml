/* SPDX-License-Identifier: MIT */
/*
 * slots.pml: a stale id of a watcher finds nothing. Mirrors melyint_slots_take,
 * melyint_slots_retire, melyint_slots_free (io/slots.c), melyint_watch_hold, melyint_watch_new and
 * melyint_watch_drop (io/watch.c), melyint_stable_reach and _at (base/stable.c).
 *
 * A record is taken, given to a thread by its id, stopped and taken again, the second time under
 * another guard, as a descriptor's watcher is. Two threads hold the first id: one stops what it
 * finds (only one can), both read it.
 *
 *   assert in use()         a held record has the generation of its id, and is whole: invariant 9
 *   TOUCH(RECORD)           the record is touched under its guard only; invariant 3
 *   LOOK(CHUNK)             its memory exists and is clean: it was published before the count
 *
 *   FAULT_1   melyint_watch_hold does not read the generation again under the guard
 *   FAULT_2   its first load of the generation is relaxed: the guard that it then finds may be an
 *             old one
 *   FAULT_3   slots->used is stored relaxed: a slot may be seen before its memory
 *   FAULT_4   retire does not make the id stale
 *   FAULT_5   the odd generation is published before the guard is held
 */
#define THREADS 3
#define ATOMICS 3
#define PLAIN 3
#define WRITES 6
#define LOCKS 3
#include "memory.h"

#define USED 0   /* slots->used */
#define GUARD 1  /* w->guard: 0 none, 1 its own, 2 that of a descriptor */
#define GEN 2
#define CHUNK 3  /* the memory of the slot, as it was made */
#define RECORD 4 /* what is under the guard */
#define TABLE 5  /* the free list, under the lock of the table */

#define TABLE_LOCK 0
#define OWN 1
#define DESCRIPTOR 2

bool free_again = true;
bool stopped;
bool filled;     /* melyint_watch_new has been there */
byte ended;      /* threads that have looked at their ids */

inline take_slot(t, lock)
{
	TAKE(t, TABLE_LOCK);
	TOUCH(t, TABLE);
	free_again = false;
#ifndef FAULT_5
	TAKE(t, lock);
#endif
	LOAD_relaxed(t, GEN, gen);
	assert(gen % 2 == 0);
	STORE_release(t, GUARD, lock);
	STORE_release(t, GEN, gen + 1);
	DROP(t, TABLE_LOCK);
#ifdef FAULT_5
	TAKE(t, lock);
#endif
	/* melyint_watch_new */
	TOUCH(t, RECORD);
	stopped = false;
	filled = true;
	DROP(t, lock);
	gen = 0
}

/* melyint_watch_hold: held, under guard, or not. */
inline hold(t, id)
{
	ok = false;
	LOAD_acquire(t, USED, n);
	if
	:: n > 0 ->
		LOOK(t, CHUNK);
#ifdef FAULT_2
		LOAD_relaxed(t, GEN, n);
#else
		LOAD_acquire(t, GEN, n);
#endif
		if
		:: n == id ->
			LOAD_acquire(t, GUARD, guard);
			assert(guard != 0);
			TAKE(t, guard);
			LOAD_relaxed(t, GEN, n);
			LOAD_relaxed(t, GUARD, now_guard);
			if
#ifdef FAULT_1
			:: now_guard == guard -> ok = true
			:: else -> DROP(t, guard)
#else
			:: n == id && now_guard == guard -> ok = true
			:: else -> DROP(t, guard)
#endif
			fi
		:: else
		fi
	:: else
	fi;
	n = 0
}

/* A thread that has the id stops the watcher or reads it. */
inline use(t, id, stops)
{
	hold(t, id);
	if
	:: ok ->
		assert(NEWEST(GEN) == id && filled);
		TOUCH(t, RECORD);
		if
		:: stops && !stopped ->
			stopped = true;
			filled = false;
#ifndef FAULT_4
			LOAD_relaxed(t, GEN, n);
			STORE_release(t, GEN, n + 1);
#endif
			DROP(t, guard);
			TAKE(t, TABLE_LOCK);
			TOUCH(t, TABLE);
			free_again = true;
			DROP(t, TABLE_LOCK)
		:: else -> DROP(t, guard)
		fi
	:: else
	fi;
	n = 0; guard = 0; now_guard = 0; ok = false
}

proctype maker()
{
	byte gen, taken;

	/* pick_locked makes the slot; the chunk is new memory */
	TAKE(0, TABLE_LOCK);
	TOUCH(0, CHUNK);
#ifdef FAULT_3
	STORE_relaxed(0, USED, 1);
#else
	STORE_release(0, USED, 1);
#endif
	DROP(0, TABLE_LOCK);
	do
	:: free_again && taken < 3 ->
		taken++;
		if
		:: taken == 2 -> take_slot(0, DESCRIPTOR)
		:: else -> take_slot(0, OWN)
		fi
	:: taken == 3 || ended == 2 -> break
	od
}

proctype user(byte t, id, stops, other_id)
{
	byte n, guard, now_guard;
	bool ok;

	/* A thread learns an id in ways that publish nothing. */
	NEWEST(GEN) >= id || ended > 0;
	use(t, id, stops);
	NEWEST(GEN) >= other_id || ended > 0;
	use(t, other_id, true);
	ended++
}

init {
	atomic {
		run maker();
		run user(1, 1, true, 3);
		run user(2, 1, false, 1)
	}
}
