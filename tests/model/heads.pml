/* SPDX-License-Identifier: MIT */
/*
 * heads.pml: head posts reach a color that is running. Mirrors melyint_append_locked
 * (sched/post.c), next_event (sched/run.c), melyint_batch_take, melyint_batch_take_heads, take_some
 * and put_back (sched/turn.c): B and C of NOTE(batch).
 *
 * Core 0 runs a color with two tails, in batches of two events; one of the handlers posts head 3 to
 * its own color. An outside thread posts heads 1 and 2, and reports each. A list of events is a
 * number in base 4, its first event in the lowest digit.
 *
 *   assert in run_tail()   invariant 2: heads whose post happens before go before tails
 *   assert in run_head()   invariant 2: heads of one producer in order; invariant 4: none twice
 *   assert at the end      invariant 4: none is lost
 *
 *   FAULT_1   next_event does not read color->_heads between events
 *   FAULT_2   melyint_batch_take_heads takes no lock: an append between its load and store is lost
 *   FAULT_3   melyint_batch_take_heads leaves no rest when it does not take all
 *   FAULT_4   put_back forgets what came meanwhile
 *   FAULT_5   put_back joins what it had taken behind what came meanwhile
 *
 * With RELAXED the load between events is relaxed, and the model still holds: the value only
 * decides whether to take the lock, and coherence is enough for what happens before.
 */
#define THREADS 2
#define CORE 0
#define OUTSIDE 1
#define ATOMICS 2
#define PLAIN 1
#define WRITES 12
#define LOCKS 1
#include "memory.h"

#define HEADS 0 /* color->_heads */
#define SAID 1  /* the last head that the outside thread has reported */
#define COLOR 2 /* the rest of the color */
#define LOCK 0

byte tails = 2;     /* how many are in the list of the color, and how many have run */
byte tails_ran, heads_ran;
bool head_ran[4];
bool known[4];      /* heads that the handlers know to be posted */

inline join_lists(to, first, second)
{
	if
	:: first == 0 -> to = second
	:: first > 0 && first < 4 -> to = first + 4 * second
	:: first >= 4 -> to = first + 16 * second
	fi
}

inline post_head(t, number)
{
	TAKE(t, LOCK);
	TOUCH(t, COLOR);
	LOAD_relaxed(t, HEADS, list);
	join_lists(list, list, number);
	STORE_release(t, HEADS, list);
	DROP(t, LOCK);
	list = 0
}

/* What a handler knows: what other threads have reported. */
inline listen()
{
	LOAD_acquire(CORE, SAID, list);
	d_step {
		if
		:: list > 0 -> known[1] = true
		:: else
		fi;
		if
		:: list > 1 -> known[2] = true
		:: else
		fi;
		list = 0
	}
}

inline run_head()
{
	d_step {
		number = batch_heads % 4;
		batch_heads = batch_heads / 4;
		assert(number != 0 && !head_ran[number]);
		assert(number != 2 || head_ran[1]);
		head_ran[number] = true;
		heads_ran++;
		number = 0
	}
	listen()
}

inline run_tail()
{
	d_step {
		assert(!known[1] || head_ran[1]);
		assert(!known[2] || head_ran[2]);
		assert(!known[3] || head_ran[3]);
		batch_tails--;
		tails_ran++
	}
	listen();
	if
	:: !known[3] ->
		post_head(CORE, 3);
		known[3] = true
	:: else
	fi
}

/* take_some: all of them, or, when there is only room for one, the first. */
inline take_some(to)
{
	LOAD_relaxed(CORE, HEADS, list);
	if
	:: list > 0 ->
		if
		:: to = list; list = 0
#ifdef FAULT_3
		:: to = list % 4; list = 0
#else
		:: to = list % 4; list = list / 4
#endif
		fi;
		STORE_relaxed(CORE, HEADS, list);
		list = 0
	:: else
	fi
}

inline look_for_heads()
{
#ifdef RELAXED
	LOAD_relaxed(CORE, HEADS, list);
#else
	LOAD_acquire(CORE, HEADS, list);
#endif
	if
	:: list != 0 ->
		list = 0;
#ifndef FAULT_2
		TAKE(CORE, LOCK);
#endif
		take_some(batch_heads);
#ifndef FAULT_2
		DROP(CORE, LOCK)
#endif
	:: else
	fi
}

inline take()
{
	TAKE(CORE, LOCK);
	TOUCH(CORE, COLOR);
	take_some(batch_heads);
	batch_tails = tails;
	tails = 0;
	DROP(CORE, LOCK)
}

inline put_back()
{
	TAKE(CORE, LOCK);
	TOUCH(CORE, COLOR);
	LOAD_relaxed(CORE, HEADS, list);
	if
	:: batch_heads > 0 ->
#ifdef FAULT_4
		list = batch_heads;
#else
#ifdef FAULT_5
		join_lists(list, list, batch_heads);
#else
		join_lists(list, batch_heads, list);
#endif
#endif
		STORE_release(CORE, HEADS, list);
		batch_heads = 0
	:: else
	fi;
	tails = tails + batch_tails;
	batch_tails = 0;
	list = 0;
	DROP(CORE, LOCK)
}

proctype core()
{
	byte list, number, batch_heads, batch_tails, room;

	do
	:: heads_ran == 3 && tails_ran == 2 -> break
	:: NEWEST(HEADS) != 0 || tails != 0 -> /* the color is linked */
		take();
		room = 2;
		do
		:: room > 0 ->
#ifndef FAULT_1
			if
			:: batch_heads == 0 -> look_for_heads()
			:: else
			fi;
#endif
			if
			:: batch_heads > 0 -> run_head()
			:: batch_heads == 0 && batch_tails > 0 -> run_tail()
			:: else -> break
			fi;
			room--
		:: else -> break
		od;
		room = 0;
		put_back()
	od
}

proctype outside()
{
	byte list;

	post_head(OUTSIDE, 1);
	STORE_release(OUTSIDE, SAID, 1);
	post_head(OUTSIDE, 2);
	STORE_release(OUTSIDE, SAID, 2)
}

init {
	atomic {
		run core();
		run outside()
	}
	_nr_pr == 1;
	assert(heads_ran == 3 && tails_ran == 2)
}
