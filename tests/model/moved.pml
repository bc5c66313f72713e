/* SPDX-License-Identifier: MIT */
/*
 * moved.pml: a handler cancels an embedded event that moves to its color meanwhile. Mirrors cancel,
 * in_own_batch and cancel_queued (sched/cancel.c), melyint_event_claim (sched/post.h),
 * melyint_append_locked (sched/post.c), take_some and requeue (sched/turn.c): A and B of
 * NOTE(cancel).
 *
 * The event is in the batch of core 1, of color D. Its handler posts it to color C, which core 0
 * runs. A handler of C cancels it: it loads the state and then the color, and between the two the
 * event may run, be queued behind C's batch, be cancelled there by a third thread, and be posted to
 * color E, which core 1 runs, and puts back once. In some runs it comes to C before core 0 takes
 * the batch.
 *
 *   assert in cancel_own(), cancel_queued()   only an event that is there is taken out of the own
 *                                             batch, and of the queue of C: invariant 9
 *
 *   FAULT_1   the cancel takes the event without a second check
 *   FAULT_2   the second check does not read the state
 *   FAULT_3   the second check does not read the color
 *   FAULT_4   the core that takes the event says so relaxed: the color found with it is an old one
 *   FAULT_5   the core that puts it back says so relaxed: the same
 */
#define THREADS 3
#define CORE0 0
#define CORE1 1
#define THIRD 2
#define ATOMICS 2
#define PLAIN 1
#define WRITES 12
#define LOCKS 2
#include "memory.h"

#define STATE 0    /* ev->_state */
#define COLOR 1    /* ev->_color */
#define LISTS 2    /* of color C */

/* The first of each holds in the beginning. */
#define PRIVATE 0
#define IDLE 1
#define CLAIMED 2
#define QUEUED 3

#define D 0
#define C 1
#define E 2

/* Where the event is, for the assertions: under the lock of the core, or in a batch. */
mtype = {batch0, batch1, queue_c, queue_e, nowhere};
mtype place = batch1;

/* owner: the core of the color, whose lock has its number */
inline post(t, color, owner, to)
{
	CAS_acquire(t, STATE, IDLE, CLAIMED, done);
	assert(done);
	TAKE(t, owner);
	STORE_release(t, COLOR, color);
	STORE_release(t, STATE, QUEUED);
	place = to;
	DROP(t, owner);
	done = false
}

#ifdef FAULT_4
#define STORE_PRIVATE(t) STORE_relaxed(t, STATE, PRIVATE)
#else
#define STORE_PRIVATE(t) STORE_release(t, STATE, PRIVATE)
#endif
#ifdef FAULT_5
#define STORE_QUEUED(t) STORE_relaxed(t, STATE, QUEUED)
#else
#define STORE_QUEUED(t) STORE_release(t, STATE, QUEUED)
#endif

inline take(t, from, to)
{
	TAKE(t, t);
	if
	:: place == from ->
		STORE_PRIVATE(t);
		place = to
	:: else
	fi;
	DROP(t, t)
}

inline put_back(t, from, to)
{
	TAKE(t, t);
	if
	:: place == from ->
		STORE_QUEUED(t);
		place = to
	:: else
	fi;
	DROP(t, t)
}

proctype core1()
{
	bool done;

	place = nowhere;
	STORE_release(CORE1, STATE, IDLE); /* enters the handler */
	post(CORE1, C, CORE0, queue_c);
	take(CORE1, queue_e, batch1);
	put_back(CORE1, batch1, queue_e)
}

/* Cancels what waits in C, and posts it to E. */
proctype third()
{
	bool done, took;

	TAKE(THIRD, CORE0);
	if
	:: place == queue_c ->
		STORE_relaxed(THIRD, STATE, CLAIMED);
		place = nowhere;
		took = true
	:: else
	fi;
	DROP(THIRD, CORE0);
	if
	:: took ->
		STORE_release(THIRD, STATE, IDLE);
		post(THIRD, E, CORE1, queue_e)
	:: else
	fi
}

inline cancel_own()
{
	assert(place == batch0);
	place = nowhere;
	STORE_release(CORE0, STATE, IDLE);
	break
}

inline cancel_queued()
{
	TAKE(CORE0, CORE0);
	LOAD_acquire(CORE0, STATE, state);
	LOAD_relaxed(CORE0, COLOR, color);
	if
	:: state == QUEUED && color == C ->
		assert(place == queue_c);
		STORE_relaxed(CORE0, STATE, CLAIMED);
		place = nowhere;
		DROP(CORE0, CORE0);
		STORE_release(CORE0, STATE, IDLE);
		break
	:: else -> DROP(CORE0, CORE0)
	fi
}

proctype core0()
{
	byte state, color, looks;

	take(CORE0, queue_c, batch0);
	/* A handler of C. A check that finds the event on its way is repeated. */
	do
	:: looks < 4 ->
		looks++;
		LOAD_acquire(CORE0, STATE, state);
		LOAD_acquire(CORE0, COLOR, color);
		if
		:: state == CLAIMED
		:: state == PRIVATE && color == C ->
#ifdef FAULT_1
			cancel_own()
#else
			TAKE(CORE0, CORE0);
#ifdef FAULT_2
			state = PRIVATE;
#else
			LOAD_acquire(CORE0, STATE, state);
#endif
#ifndef FAULT_3
			LOAD_relaxed(CORE0, COLOR, color);
#endif
			DROP(CORE0, CORE0);
			if
			:: state == PRIVATE && color == C -> cancel_own()
			:: else
			fi
#endif
		:: state == QUEUED && color == C -> cancel_queued()
		:: else -> break /* cancel.pml has the rest */
		fi
	:: looks == 4 -> break
	od;
	/* What is in the own batch is found. */
	assert(place != batch0)
}

init {
	atomic {
		run core0();
		run core1();
		run third()
	}
	_nr_pr == 1;
	assert(place != batch0)
}
