/* SPDX-License-Identifier: MIT */
/*
 * park.pml: no wake-up is lost and none is sent in vain. Mirrors melyint_set_sleep,
 * melyint_wake_locked, wake_searcher (sched/wake.c), fall_asleep, doze and stand_up (sched/park.c)
 * against enqueue_slow (sched/post.c): A of NOTE(park).
 *
 * One core runs what is posted to it and sleeps; a thread posts to it twice; another wakes it as a
 * searcher. The wake-up is an eventfd: written, never read, each write an edge.
 *
 *   assert in the monitor   invariant 7: at rest nothing is queued; the counts are right again,
 *                           and no core has the role of the searcher
 *   assert in wake_finish   at most one system call for each sleep
 *   TOUCH(QUEUE)            the core-queue is touched under the lock only; invariant 3
 *
 *   FAULT_1   fall_asleep does not read the queue under the lock
 *   FAULT_2   a poster reads core->locked.sleep before it takes the lock, not under it
 *   FAULT_3   fall_asleep stores that it sleeps after it has dropped the lock
 *   FAULT_4   the poster marks the core awake and makes no system call
 *   FAULT_5   stand_up does not mark the core awake
 */
#define THREADS 3
#define CORE 0
#define ATOMICS 1
#define PLAIN 1
#define WRITES 12
#define LOCKS 1
#include "memory.h"

#define SLEEP 0 /* core->sleep; written under the lock */
#define QUEUE 1 /* core->ready */
#define LOCK 0

#define AWAKE 0
#define ASLEEP 1

byte ready, ran;
byte sleepers;   /* rt->idle.sleepers; a count, whose order does not matter */
byte searching;  /* rt->idle.searching */
bool search;     /* core->locked.searching, under the lock */
byte wake;       /* edges of the eventfd that the poller has not reported */
byte sleeps, calls, posts;
bool dozing;

inline wake_locked(t, woken)
{
	LOAD_relaxed(t, SLEEP, was);
	if
	:: was == AWAKE -> woken = false
	:: else ->
		STORE_relaxed(t, SLEEP, AWAKE);
		sleepers--;
		woken = true
	fi
}

inline wake_finish()
{
	skip;
#ifndef FAULT_4
	atomic {
		calls++;
		assert(calls <= sleeps);
		wake++
	}
#endif
}

inline turn()
{
	TAKE(CORE, LOCK);
	TOUCH(CORE, QUEUE);
	if
	:: ready > 0 -> ready--; ran++; some = true
	:: else -> some = false
	fi;
	DROP(CORE, LOCK)
}

inline fall_asleep()
{
	TAKE(CORE, LOCK);
	TOUCH(CORE, QUEUE);
#ifdef FAULT_1
	nothing = true;
#else
	nothing = (ready == 0);
#endif
#ifdef FAULT_3
	DROP(CORE, LOCK);
#endif
	if
	:: nothing ->
		sleeps++;
		STORE_relaxed(CORE, SLEEP, ASLEEP);
		sleepers++
	:: else
	fi;
#ifndef FAULT_3
	DROP(CORE, LOCK)
#endif
}

inline doze()
{
	dozing = true;
end_doze:
	if
	:: atomic { wake > 0 -> wake = 0 }
	:: chance > 0 -> chance-- /* a descriptor, or a timer */
	fi;
	dozing = false
}

inline stand_up()
{
	skip;
#ifndef FAULT_5
	TAKE(CORE, LOCK);
	wake_locked(CORE, some);
	DROP(CORE, LOCK)
#endif
}

inline end_search()
{
	TAKE(CORE, LOCK);
	some = search;
	search = false;
	DROP(CORE, LOCK);
	if
	:: some -> searching = 0
	:: else
	fi
}

active proctype core()
{
	byte was, chance = 1;
	bool some, nothing;

	do
	:: turn();
	   if
	   :: some
	   :: else ->
		fall_asleep();
		if
		:: nothing ->
			doze();
			stand_up();
			end_search()
		:: else
		fi
	   fi
	od
}

proctype poster(byte t; byte left_to_post)
{
	byte was;
	bool woken;

	do
	:: left_to_post > 0 ->
#ifdef FAULT_2
		LOAD_relaxed(t, SLEEP, was);
		woken = (was != AWAKE);
#endif
		TAKE(t, LOCK);
		TOUCH(t, QUEUE);
		ready++;
#ifdef FAULT_2
		if
		:: woken -> wake_locked(t, woken)
		:: else
		fi;
#else
		wake_locked(t, woken);
#endif
		posts++;
		DROP(t, LOCK);
		if
		:: woken -> wake_finish()
		:: else
		fi;
		left_to_post--
	:: else -> break
	od
}

/* wake_searcher, by a thread that has left work elsewhere */
proctype offerer(byte t)
{
	byte was;
	bool woken = false;

	atomic {
		searching == 0;
		searching = 1
	}
	LOAD_relaxed(t, SLEEP, was); /* a hint */
	if
	:: was != AWAKE ->
		TAKE(t, LOCK);
		wake_locked(t, woken);
		if
		:: woken -> search = true
		:: else
		fi;
		DROP(t, LOCK)
	:: else
	fi;
	if
	:: woken -> wake_finish()
	:: else -> searching = 0
	fi
}

active proctype monitor()
{
end:	timeout;
	assert(dozing && wake == 0);
	assert(ready == 0 && ran == posts);
	assert(sleepers == 1 && NEWEST(SLEEP) == ASLEEP);
	assert(searching == 0 && !search)
}

init {
	atomic {
		run poster(1, 2);
		run offerer(2)
	}
}
