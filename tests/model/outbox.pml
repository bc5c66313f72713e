/* SPDX-License-Identifier: MIT */
/*
 * outbox.pml: rows of posts. Mirrors put_in_outbox (sched/post.c), melyint_outbox_deliver,
 * deliver_to and melyint_outbox_collect (sched/outbox.c), end_row (sched/run.c): NOTE(outbox).
 *
 * The owner posts numbered events to one color that lives elsewhere, through a ring of two entries
 * that it delivers when full; at some time it makes a post of another kind, which delivers first;
 * then its batch ends. A collector, a core without work, delivers at any time.
 *
 *   assert in append()    invariant 2, order of one producer's posts; invariant 4, none twice
 *   assert at the end     invariant 4: none is lost when the batch has ended
 *   TOUCH(ENTRY)          an entry is not written again before it has been delivered; invariant 3
 *
 *   FAULT_1   the owner stores its tail relaxed: a collector may see the entry before its content
 *   FAULT_2   the owner reads the head relaxed before it uses an entry again
 *   FAULT_3   the head is stored before the entries are delivered
 *   FAULT_4   two deliverers do not exclude each other
 *   FAULT_5   a post of another kind does not deliver first
 *   FAULT_6   the batch ends without a delivery
 *   FAULT_7   the head is stored relaxed: the owner writes an entry that is still being read
 */
#define THREADS 2
#define OWNER 0
#define COLLECTOR 1
#define ATOMICS 2
#define PLAIN 3
#define WRITES 8
#define LOCKS 2
#include "memory.h"

#define TAIL 0
#define HEAD 1
#define ENTRY 2 /* + index */
#define COLOR 4

#define BOX 0   /* locks */
#define CORE 1

#define RING 2
#define POSTS 4

byte entry[RING];  /* the number of the event; 0: delivered */
byte appended;     /* the last that is in the color-queue */

inline append(t, number)
{
	TAKE(t, CORE);
	TOUCH(t, COLOR);
	assert(number == appended + 1);
	appended = number;
	DROP(t, CORE)
}

inline deliver(t)
{
#ifndef FAULT_4
	TAKE(t, BOX);
#endif
	LOAD_relaxed(t, HEAD, at);
	LOAD_acquire(t, TAIL, until);
#ifdef FAULT_3
	STORE_release(t, HEAD, until);
#endif
	do
	:: at != until ->
		TOUCH(t, ENTRY + at % RING);
		if
		:: entry[at % RING] != 0 ->
			append(t, entry[at % RING]);
			entry[at % RING] = 0
		:: else
		fi;
		at++
	:: else -> break
	od;
#if defined(FAULT_7)
	STORE_relaxed(t, HEAD, until);
#elif !defined(FAULT_3)
	STORE_release(t, HEAD, until);
#endif
#ifndef FAULT_4
	DROP(t, BOX);
#endif
	at = 0; until = 0
}

inline deliver_unless_nothing(t)
{
	LOAD_relaxed(t, TAIL, tail);
	LOAD_acquire(t, HEAD, head);
	if
	:: tail != head -> deliver(t)
	:: else
	fi
}

inline put(number)
{
	LOAD_relaxed(OWNER, TAIL, tail);
#ifdef FAULT_2
	LOAD_relaxed(OWNER, HEAD, head);
#else
	LOAD_acquire(OWNER, HEAD, head);
#endif
	TOUCH(OWNER, ENTRY + tail % RING);
	assert(entry[tail % RING] == 0);
	entry[tail % RING] = number;
#ifdef FAULT_1
	STORE_relaxed(OWNER, TAIL, tail + 1);
#else
	STORE_release(OWNER, TAIL, tail + 1);
#endif
	if
	:: tail + 1 - head >= RING -> deliver(OWNER)
	:: else
	fi
}

proctype owner()
{
	byte at, until, tail, head, number = 1;
	bool other = false;

	do
	:: number <= POSTS -> put(number); number++
	:: number <= POSTS && !other -> /* enqueue_slow */
#ifndef FAULT_5
		deliver_unless_nothing(OWNER);
#endif
		append(OWNER, number);
		other = true;
		number++
	:: number > POSTS -> break
	od;
#ifndef FAULT_6
	deliver_unless_nothing(OWNER) /* end_row */
#endif
}

proctype collector()
{
	byte at, until, tail, head, looks = 3;

	do
	:: looks > 0 -> deliver_unless_nothing(COLLECTOR); looks--
	:: break
	od
}

init {
	atomic {
		run owner();
		run collector()
	}
	_nr_pr == 1;
	assert(appended == POSTS && entry[0] == 0 && entry[1] == 0)
}
