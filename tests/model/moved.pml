/* SPDX-License-Identifier: MIT */
/*
 * moved.pml: a handler cancels an embedded event that moves to its color meanwhile. Mirrors cancel,
 * in_own_batch and cancel_queued (sched/cancel.c), melyint_event_claim (sched/post.h),
 * melyint_append_locked and append_own (sched/post.c), take_some and requeue (sched/turn.c): A and B
 * of NOTE(cancel).
 *
 * The event is in the batch of core 1, of color D. Its handler posts it to color C, which core 0
 * runs. Two threads cancel it, as often as it changes under their eyes: a handler of C and a third
 * thread. Each loads the state and then the color, and between the two the event may run, be queued
 * behind C's batch, be cancelled there, and be posted to color E, which core 1 runs, and puts back
 * once. Both post what they have cancelled to E. The handler cancels once more, and posts that to
 * its own color. In some runs the event comes to C before core 0 takes the batch.
 *
 *   assert in cancel_own(), cancel_queued()   only an event that is there is taken out of the own
 *                                             batch, and of the queue of C: invariant 9
 *   last assert in core0()                    what waits in the queue of C is found there
 *
 *   FAULT_1   the cancel takes the event without a second check
 *   FAULT_2   the second check does not read the state
 *   FAULT_3   the second check does not read the color
 *   FAULT_4   the core that takes the event says so relaxed: the color found with it is an old one
 *   FAULT_5   the core that puts it back says so relaxed: the same
 *   FAULT_6   a post to the own color stores the color as one that is stored under the lock
 *   FAULT_7   the core that puts such an event back leaves it so
 */
#define THREADS 3
#define CORE0 0
#define CORE1 1
#define THIRD 2
#define ATOMICS 2
#define PLAIN 1
#define WRITES 24
#define LOOKS 3
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
#define OWN 3 /* C, stored without the lock */
#ifdef FAULT_6
#define STORED_OWN C
#else
#define STORED_OWN OWN
#endif

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

inline put_back(t, from, to, color)
{
	TAKE(t, t);
	if
	:: place == from ->
		STORE_relaxed(t, COLOR, color);
		STORE_QUEUED(t);
		place = to
	:: else
	fi;
	DROP(t, t)
}

inline post_own()
{
	CAS_acquire(CORE0, STATE, IDLE, CLAIMED, done);
	assert(done);
	STORE_release(CORE0, COLOR, STORED_OWN);
	STORE_release(CORE0, STATE, PRIVATE);
	place = batch0;
	done = false
}

/* Under the lock of the color's owner: one round of cancel_queued. */
inline cancel_queued(t, owner, stored, queue)
{
	TAKE(t, owner);
	LOAD_acquire(t, STATE, state);
	LOAD_relaxed(t, COLOR, color);
	if
	:: state == QUEUED && color == stored ->
		assert(place == queue);
		STORE_relaxed(t, STATE, CLAIMED);
		place = nowhere;
		DROP(t, owner);
		STORE_release(t, STATE, IDLE);
		took = true
	:: else -> DROP(t, owner)
	fi
}

proctype core1()
{
	bool done;

	place = nowhere;
	STORE_release(CORE1, STATE, IDLE); /* enters the handler */
	post(CORE1, C, CORE0, queue_c);
	take(CORE1, queue_e, batch1);
	put_back(CORE1, batch1, queue_e, E)
}

proctype third()
{
	byte state, color, looks;
	bool done, took;

	do
	:: looks < LOOKS && !took ->
		looks++;
		LOAD_acquire(THIRD, STATE, state);
		LOAD_acquire(THIRD, COLOR, color);
		if
		:: state == QUEUED && (color == C || color == OWN) ->
			cancel_queued(THIRD, CORE0, C, queue_c)
		:: state == QUEUED && color == E ->
			cancel_queued(THIRD, CORE1, E, queue_e)
		:: else
		fi
	:: else -> break
	od;
	if
	:: took -> post(THIRD, E, CORE1, queue_e)
	:: else
	fi
}

inline cancel_own()
{
	assert(place == batch0);
	place = nowhere;
	STORE_release(CORE0, STATE, IDLE);
	took = true
}

/* A handler of C. A check that finds the event on its way is repeated. */
inline cancel()
{
	looks = 0;
	took = false;
	do
	:: looks < LOOKS && !took ->
		looks++;
		LOAD_acquire(CORE0, STATE, state);
		LOAD_acquire(CORE0, COLOR, color);
		if
		:: state == CLAIMED
		:: state == PRIVATE && (color == C || color == OWN) ->
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
			:: state == PRIVATE && (color == C || color == OWN) -> cancel_own()
			:: else
			fi
#endif
		:: state == QUEUED && (color == C || color == OWN) ->
			cancel_queued(CORE0, CORE0, C, queue_c)
		:: state == QUEUED && color == E ->
			cancel_queued(CORE0, CORE1, E, queue_e)
		:: else -> break /* cancel.pml has the rest */
		fi
	:: else -> break
	od
}

proctype core0()
{
	byte state, color, looks;
	bool done, took;

	take(CORE0, queue_c, batch0);
	cancel();
	if
	:: took ->
		post(CORE0, E, CORE1, queue_e);
		cancel();
		if
		:: took -> post_own()
		:: else
		fi
	:: else
	fi;
#ifdef FAULT_7
	put_back(CORE0, batch0, queue_c, STORED_OWN);
#else
	put_back(CORE0, batch0, queue_c, C);
#endif
	/* When all is quiet, a cancel finds what is in the queue of C. */
	_nr_pr == 2; /* this one and init */
	TAKE(CORE0, CORE0);
	DROP(CORE0, CORE0);
	cancel();
	assert(place != queue_c)
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
