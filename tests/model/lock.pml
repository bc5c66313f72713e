/* SPDX-License-Identifier: MIT */
/*
 * lock.pml: mely/base/lock.h. Three threads, one of which only tries, exclude each other from a
 * piece of data. Invariants 1 and 3 as far as they depend on a core's lock.
 *
 *   FAULT_1   melyint_lock_drop stores relaxed: it does not publish what was done under the lock
 *   FAULT_2   melyint_lock_take exchanges relaxed
 *   FAULT_3   melyint_lock_try trusts its first load and only stores
 */
#define THREADS 3
#define ATOMICS 1
#define PLAIN 1
#define WRITES 20
#define LOCKS 1
#include "memory.h"

#define HELD 0
#define DATA 1

byte inside, tried;

inline lock_try(t, done)
{
	LOAD_relaxed(t, HELD, old);
	if
	:: old != 0 -> done = false
	:: else ->
#ifdef FAULT_3
		STORE_relaxed(t, HELD, 1);
#else
		RMW_acquire(t, HELD, old, 1);
#endif
		done = (old == 0)
	fi
}

inline lock_take(t)
{
#ifdef FAULT_2
	RMW_relaxed(t, HELD, old, 1);
#else
	RMW_acquire(t, HELD, old, 1);
#endif
	got = (old == 0);
	do
	:: got -> break
	:: else -> /* melyint_lock_wait_slow: until it looks free */
		NEWEST(HELD) == 0;
		lock_try(t, got)
	od
}

inline lock_drop(t)
{
#ifdef FAULT_1
	STORE_relaxed(t, HELD, 0)
#else
	STORE_release(t, HELD, 0)
#endif
}

inline section(t)
{
	inside++;
	assert(inside == 1);
	TOUCH(t, DATA);
	inside--
}

proctype taker(byte t, rounds)
{
	byte old;
	bool got;

	do
	:: rounds > 0 ->
		lock_take(t);
		section(t);
		lock_drop(t);
		rounds--
	:: else -> break
	od
}

proctype trier(byte t, rounds)
{
	byte old;
	bool got;

	do
	:: rounds > 0 ->
		lock_try(t, got);
		if
		:: got ->
			section(t);
			lock_drop(t)
		:: else
		fi;
		rounds--
	:: else -> break
	od
}

init {
	atomic {
		run taker(0, 2);
		run taker(1, 2);
		run trier(2, 2)
	}
}
