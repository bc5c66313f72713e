/* SPDX-License-Identifier: MIT */
/*
 * owner.pml: a color changes cores while other threads post to it. Mirrors melyint_color_lock
 * (core/core.h), melyint_append_locked and adopt (sched/post.c), steal_from, hand_over and pull
 * (sched/steal.c), take_next and put_back (sched/turn.c): NOTE(steal), B and C of NOTE(post).
 *
 * One color, three cores, and an outside thread. The color begins on core 0, which runs it; core 1
 * steals it to run it, core 2 pulls it into its queue, or they take it back from each other; core 1
 * also posts to it, which may adopt it, and so does the outside thread.
 *
 *   assert in run()        invariant 1, exclusion, and 6: a running color is never stolen
 *   TOUCH(COLOR)           only the thread that holds the color touches its words; invariant 3
 *   assert at the end      invariant 4: all posts have run, once
 *   no invalid end state   no event is left where no core finds it
 *
 *   FAULT_1   hand_over stores relaxed
 *   FAULT_2   melyint_color_lock does not load the owner a second time
 *   FAULT_3   its second load is relaxed: the color may have been stolen and stolen back
 *   FAULT_4   hand_over is not the last access to the color under the victim's lock
 *   FAULT_5   a poster links a MOVING color, which its thief is about to link
 *   FAULT_6   a core that adopts goes on under the lock of the old owner
 */
#define THREADS 4
#define OUTSIDE 3
#define ATOMICS 1
#define PLAIN 2
#define WRITES 5
#define LOCKS 3
#include "memory.h"

#define OWNER 0
#define COLOR 1 /* _state and the lists */
#define DATA 2  /* what the handlers of the color work on */
#define POSTS 2
#ifdef FAULT_5
#define LINKS(state) (state == IDLE || state == MOVING)
#else
#define LINKS(state) (state == IDLE)
#endif

mtype = { IDLE, QUEUED, RUNNING, MOVING };

mtype state = IDLE;
byte pending;     /* events in its lists */
bool linked[3];   /* in that core's core-queue; under the lock of that core */
byte inside, ran;

inline color_lock(t)
{
	do
	:: true ->
		LOAD_acquire(t, OWNER, owner);
		TAKE(t, owner);
#ifdef FAULT_2
		break
#else
#ifdef FAULT_3
		LOAD_relaxed(t, OWNER, now_owner);
#else
		LOAD_acquire(t, OWNER, now_owner);
#endif
		if
		:: owner == now_owner -> break
		:: else -> DROP(t, owner)
		fi
#endif
	od
}

/* melyint_append_locked and the unlock. */
inline append(t)
{
	TOUCH(t, COLOR);
	pending++;
	if
	:: LINKS(state) ->
		state = QUEUED;
		assert(!linked[owner]);
		linked[owner] = true
	:: else
	fi;
	DROP(t, owner)
}

/* The batch is run without a lock, then put back under the core's own. */
inline run_batch(t)
{
	inside++;
	assert(inside == 1);
	TOUCH(t, DATA);
	inside--;
	ran = ran + batch;
	batch = 0;
	TAKE(t, t);
	TOUCH(t, COLOR);
	assert(state == RUNNING);
	if
	:: pending > 0 ->
		state = QUEUED;
		assert(!linked[t]);
		linked[t] = true
	:: else -> state = IDLE
	fi;
	DROP(t, t)
}

/* melyint_batch_take, under the lock of the core that the color is linked on. */
inline batch_take(t, from)
{
	linked[from] = false;
	TOUCH(t, COLOR);
	assert(state == QUEUED);
	state = RUNNING;
	batch = pending;
	pending = 0
}

inline turn(t)
{
	TAKE(t, t);
	if
	:: linked[t] ->
		batch_take(t, t);
		DROP(t, t);
		run_batch(t)
	:: else -> DROP(t, t)
	fi
}

inline steal(t, victim)
{
	TRY(t, victim, got);
	if
	:: got && linked[victim] ->
#ifdef FAULT_4
		STORE_release(t, OWNER, t);
#endif
		batch_take(t, victim);
#ifdef FAULT_1
		STORE_relaxed(t, OWNER, t);
#endif
#if !defined(FAULT_1) && !defined(FAULT_4)
		STORE_release(t, OWNER, t);
#endif
		DROP(t, victim);
		run_batch(t)
	:: got && !linked[victim] -> DROP(t, victim)
	:: !got
	fi
}

/* Balance: the color is MOVING between the two locks. */
inline pull(t, victim)
{
	TRY(t, victim, got);
	if
	:: got && linked[victim] ->
		linked[victim] = false;
		TOUCH(t, COLOR);
		state = MOVING;
		STORE_release(t, OWNER, t);
		DROP(t, victim);
		TAKE(t, t);
		TOUCH(t, COLOR);
		assert(!linked[t]);
		state = QUEUED;
		linked[t] = true;
		DROP(t, t)
	:: got && !linked[victim] -> DROP(t, victim)
	:: !got
	fi
}

/* A post by a core to a color that is not its running one. */
inline post_inside(t)
{
	color_lock(t);
	if
	:: owner != t ->
		TOUCH(t, COLOR);
		if
		:: state == IDLE ->
			STORE_release(t, OWNER, t);
#ifndef FAULT_6
			DROP(t, owner);
			color_lock(t)
#endif
		:: else
		fi
	:: else
	fi;
	append(t)
}

proctype core0()
{
	byte batch, owner, now_owner;
	bool got;

	do
	:: ran < POSTS && linked[0] -> turn(0)
	:: ran == POSTS -> break
	od
}

proctype core1()
{
	byte batch, owner, now_owner, moves = 2;
	bool got, posted = false;

	do
	:: ran < POSTS && linked[1] -> turn(1)
	:: moves > 0 -> steal(1, 0); moves--
	:: moves > 0 -> steal(1, 2); moves--
	:: !posted -> post_inside(1); posted = true
	:: ran == POSTS -> break
	od
}

proctype core2()
{
	byte batch, owner, now_owner, moves = 1;
	bool got;

	do
	:: ran < POSTS && linked[2] -> turn(2)
	:: moves > 0 -> pull(2, 0); moves--
	:: moves > 0 -> pull(2, 1); moves--
	:: ran == POSTS -> break
	od
}

proctype outside()
{
	byte owner, now_owner;
	byte posts = 1;

	do
	:: posts > 0 ->
		color_lock(OUTSIDE);
		append(OUTSIDE);
		posts--
	:: else -> break
	od
}

init {
	atomic {
		run core0();
		run core1();
		run core2();
		run outside()
	}
	_nr_pr == 1;
	assert(ran == POSTS && pending == 0 && inside == 0)
}
