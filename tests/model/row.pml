/* SPDX-License-Identifier: MIT */
/*
 * row.pml: a delivery of a row of posts while a color with several of them moves. Mirrors
 * living_on, deliver_to and deliver_row (sched/outbox.c), melyint_color_lock (core/core.h), and
 * what a steal, a pin or an adoption does to a color's owner: D of NOTE(outbox).
 *
 * Three numbered events of one color wait in an outbox. The deliverer begins with the row of some
 * core, for another color's event that the model leaves out; then it delivers what is left, where
 * the color lives. The mover sends the color to the other core and back.
 *
 *   assert in row()       invariant 2: the events arrive in the order posted
 *   TOUCH(COLOR)          the color-queue is touched under its owner's lock only; invariant 3
 *
 *   FAULT_1   one pass, from the first event to the last, reads the owners and appends
 *   FAULT_2   the delivery does not read the owner of the color
 */
#define THREADS 2
#define DELIVERER 0
#define MOVER 1
#define ATOMICS 1
#define PLAIN 1
#define WRITES 4
#define LOCKS 2 /* of core 0 and core 1 */
#include "memory.h"

#define OWNER 0
#define COLOR 1

#define POSTS 3

bool entry[POSTS] = true;
byte appended; /* events in the color-queue */

inline append(at)
{
	TOUCH(DELIVERER, COLOR);
	assert(at == appended);
	appended++;
	entry[at] = false
}

/* deliver_to, the lock of core held */
inline row(core)
{
#ifndef FAULT_1
	at = POSTS;
	do
	:: at > 0 ->
		at--;
		LOAD_acquire(DELIVERER, OWNER, owner);
#ifdef FAULT_2
		owner = core;
#endif
		living[at] = entry[at] && owner == core
	:: else -> break
	od;
#endif
	do
	:: at < POSTS ->
#ifdef FAULT_1
		LOAD_acquire(DELIVERER, OWNER, owner);
		living[at] = entry[at] && owner == core;
#endif
		if
		:: living[at] -> append(at)
		:: else
		fi;
		at++
	:: else -> break
	od;
	at = 0
}

proctype deliverer()
{
	byte at, core, owner;
	bool living[POSTS];

	if
	:: core = 0
	:: core = 1
	fi;
	TAKE(DELIVERER, core);
	row(core);
	DROP(DELIVERER, core);
	do
	:: appended < POSTS ->
		LOAD_acquire(DELIVERER, OWNER, core);
		TAKE(DELIVERER, core);
		LOAD_acquire(DELIVERER, OWNER, owner);
		if
		:: owner == core -> row(core)
		:: else
		fi;
		DROP(DELIVERER, core)
	:: else -> break
	od
}

proctype mover()
{
	byte core, owner, moves = 2;

	do
	:: moves > 0 ->
		LOAD_acquire(MOVER, OWNER, core);
		TAKE(MOVER, core);
		LOAD_acquire(MOVER, OWNER, owner);
		if
		:: owner == core ->
			TOUCH(MOVER, COLOR);
			STORE_release(MOVER, OWNER, 1 - core)
		:: else
		fi;
		DROP(MOVER, core);
		moves--
	:: break
	od
}

init {
	atomic {
		run deliverer();
		run mover()
	}
	_nr_pr == 1;
	assert(appended == POSTS)
}
