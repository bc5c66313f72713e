/* SPDX-License-Identifier: MIT */
/*
 * colortab.pml: a color that is given back is not in use. Mirrors melyint_colortab_enter and
 * _leave (color/table.c), bury, unlink_entries and melyint_trim_step (color/trim.c) and
 * melyint_grace_passed (core/grace.c) against posts by id (sched/calls.c): NOTE(colortab).
 *
 * One id. An outside thread posts to it, and so does core 0, in a handler. Each looks the id up,
 * makes the color when there is none, and posts; it starts again when it finds the color dead. A
 * third thread trims: it buries the color when that is idle, unlinks it, waits for the grace period
 * and frees the memory. There are two places where the color can be made.
 *
 *   LOOK, TOUCH            no thread uses the memory of a place after it has been freed, and what a
 *                          thread finds there is complete: invariants 3 and 10
 *   assert in append()     an event goes to a living color: invariant 4
 *   assert at the end      all events have run
 *
 *   FAULT_1   a poster does not check whether the color is dead
 *   FAULT_2   leaving is relaxed
 *   FAULT_3   the trim does not wait for outside readers
 *   FAULT_4   the trim does not wait for the cores
 *   FAULT_5   the new color is published relaxed
 *   FAULT_6   entering is release only: a reader that comes after the grace period may still see
 *             what was unlinked before
 */
#define PLACES 2
#define POSTS 2
#define THREADS 3
#define CORE 0
#define OUTSIDE 1
#define TRIMMER 2
#define ATOMICS 2
#define PLAIN (2 * PLACES)
#define WRITES 8
#define LOCKS 2
#include "memory.h"

#define CHAIN 0    /* where the id leads: 0 nowhere, else place + 1 */
#define READERS 1  /* table->readers */
#define MADE 2     /* + place: the color as it was made, or freed */
#define PLACE (MADE + PLACES) /* + place: what is under the owner's lock */

#define TABLE_LOCK 0  /* the table's mutex */
#define CORE_LOCK 1   /* all colors live on core 0 */

byte made;            /* places used so far */
byte events[PLACES];  /* queued */
bool dead[PLACES];
bool freed[PLACES];
byte turns;           /* core->locked.turns, under its lock */
bool asleep;          /* the core sleeps, under its lock */
byte posted, ran;
byte left_to_post = POSTS;

/* find, then make_slow. */
inline enter(t)
{
	LOAD_acquire(t, CHAIN, at);
	if
	:: at == 0 ->
		TAKE(t, TABLE_LOCK);
		LOAD_acquire(t, CHAIN, at);
		if
		:: at == 0 ->
			assert(made < PLACES);
			TOUCH(t, MADE + made);
			made++;
			at = made;
#ifdef FAULT_5
			STORE_relaxed(t, CHAIN, at)
#else
			STORE_release(t, CHAIN, at)
#endif
		:: else
		fi;
		DROP(t, TABLE_LOCK)
	:: else
	fi;
	LOOK(t, MADE + at - 1); /* color->_owner, which names the lock */
	assert(!freed[at - 1])
}

/* melyint_append_locked: done, unless the color is dead. */
inline append(t)
{
	TAKE(t, CORE_LOCK);
	TOUCH(t, PLACE + at - 1);
	assert(!freed[at - 1]);
#ifdef FAULT_1
	done = true;
#else
	done = !dead[at - 1];
#endif
	if
	:: done ->
		assert(!dead[at - 1]);
		events[at - 1]++;
		posted++
	:: else
	fi;
	DROP(t, CORE_LOCK)
}

inline post_by_id(t)
{
	done = false;
	do
	:: !done ->
		if
		:: t == CORE
#ifdef FAULT_6
		:: t != CORE -> RMW_release(t, READERS, count, count + 1)
#else
		:: t != CORE -> RMW_acq_rel(t, READERS, count, count + 1)
#endif
		fi;
		enter(t);
		append(t);
		if
		:: t == CORE
#ifdef FAULT_2
		:: t != CORE -> RMW_relaxed(t, READERS, count, count - 1)
#else
		:: t != CORE -> RMW_release(t, READERS, count, count - 1)
#endif
		fi;
		if
		:: !done -> /* it looks until there is something new */
			atomic {
				NEWEST(CHAIN) != at;
				SEEN(t, CHAIN) = last[CHAIN]
			}
		:: else
		fi
	:: else -> break
	od;
	left_to_post--;
	count = 0; at = 0; done = false
}

/* A turn: run what is queued. Then a handler posts, or the core sleeps. */
proctype core()
{
	byte count, at, place;
	bool done, will_post = true;

	do
	:: (made > 0 && events[0] > 0) || (made > 1 && events[1] > 0) || (will_post && !asleep) ->
		TAKE(CORE, CORE_LOCK);
		turns++;
		asleep = false;
		for (place : 0 .. PLACES - 1) {
			if
			:: events[place] > 0 ->
				assert(!freed[place]);
				TOUCH(CORE, PLACE + place);
				ran = ran + events[place];
				events[place] = 0
			:: else
			fi
		}
		place = 0;
		DROP(CORE, CORE_LOCK);
		if
		:: will_post -> will_post = false; post_by_id(CORE)
		:: !will_post
		:: will_post && events[0] + events[1] > 0 /* later */
		fi
	:: !asleep && events[0] == 0 && events[1] == 0 ->
		TAKE(CORE, CORE_LOCK);
		asleep = (events[0] == 0 && events[1] == 0);
		DROP(CORE, CORE_LOCK)
	:: asleep && will_post -> will_post = false; left_to_post-- /* it never does */
	:: left_to_post == 0 && ran == posted && asleep -> break
	od
}

proctype outside()
{
	byte count, at;
	bool done;

	post_by_id(OUTSIDE)
}

inline bury(at)
{
	TAKE(TRIMMER, CORE_LOCK);
	TOUCH(TRIMMER, PLACE + at - 1);
	done = (events[at - 1] == 0);
	if
	:: done -> dead[at - 1] = true
	:: else
	fi;
	DROP(TRIMMER, CORE_LOCK)
}

inline wait_for_grace()
{
#ifndef FAULT_4
	TAKE(TRIMMER, CORE_LOCK);
	quiet = asleep;
	seen_turns = turns;
	DROP(TRIMMER, CORE_LOCK);
	do
	:: quiet -> break
	:: !quiet && (turns != seen_turns || asleep) ->
		TAKE(TRIMMER, CORE_LOCK);
		quiet = (asleep || turns != seen_turns);
		DROP(TRIMMER, CORE_LOCK)
	od;
#endif
#ifndef FAULT_3
	atomic {
		NEWEST(READERS) == 0;
		RMW_acq_rel(TRIMMER, READERS, count, count)
	}
#endif
	quiet = false; seen_turns = 0; count = 0
}

proctype trimmer()
{
	byte place, count, seen_turns;
	bool done, quiet;

	made > 0;
	TAKE(TRIMMER, TABLE_LOCK);
	LOAD_relaxed(TRIMMER, CHAIN, place);
	assert(place == 1);
	bury(place);
	if
	:: done -> STORE_release(TRIMMER, CHAIN, 0)
	:: else
	fi;
	DROP(TRIMMER, TABLE_LOCK);
	if
	:: done ->
		wait_for_grace();
		TOUCH(TRIMMER, MADE + place - 1);
		TOUCH(TRIMMER, PLACE + place - 1);
		freed[place - 1] = true
	:: else
	fi
}

init {
	atomic {
		run core();
		run outside();
		run trimmer()
	}
	_nr_pr == 1;
	assert(ran == posted && (posted == POSTS || posted == POSTS - 1))
}
