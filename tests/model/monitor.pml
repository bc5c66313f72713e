/* SPDX-License-Identifier: MIT */
/*
 * monitor.pml: no core runs on unseen by the monitor. Mirrors rest, rouse, prepare and await
 * (look/watchdog/monitor.c) against melyint_monitor_awake: B and C of NOTE(monitor).
 *
 * Two cores wake and sleep a time or two; then one of them stays awake permanently, as in a handler
 * that does not end. The monitor must see it without the help of a later event.
 *
 *   assert in the watch     at rest, the monitor does not rest while a core is busy
 *   assert in rouse         a core makes a system call at most once for each rest
 *
 *   FAULT_1   the monitor rests without checking the cores after it has announced that
 *   FAULT_2   a core checks whether the monitor rests before it marks itself busy
 *   FAULT_3   a core's load of resting is relaxed
 *   FAULT_4   the monitor's second check of the cores is relaxed
 *   FAULT_5   a core takes back the monitor's announcement and arms no timer
 */
#define THREADS 3
#define MONITOR 2
#define ATOMICS 3
#define PLAIN 1
#define WRITES 24
#define LOCKS 1
#include "memory.h"

/* Locations: core->hint.busy of cores 0 and 1; m->resting */
#define RESTING 2

byte timer;      /* it is armed, or has fired and has not been read */
byte rests, calls;
bool waiting;    /* the monitor, without a limit */

/* Loads among accesses that are all seq_cst see the newest: all of them have one order. */
inline LOAD_seq_cst(t, loc, to)
{
	d_step {
		SEEN(t, loc) = last[loc];
		to = NEWEST(loc);
		join_carried(t, loc, last[loc])
	}
}

inline rouse()
{
	CAS_relaxed(me, RESTING, 1, 0, done);
	if
	:: done ->
		atomic {
			calls++;
			assert(calls <= rests);
#ifndef FAULT_5
			timer = 1
#endif
		}
	:: else
	fi
}

inline awake()
{
#ifdef FAULT_2
	LOAD_seq_cst(me, RESTING, resting);
	STORE_release(me, own, 1);
#else
	STORE_release(me, own, 1);
#ifdef FAULT_3
	LOAD_relaxed(me, RESTING, resting);
#else
	LOAD_seq_cst(me, RESTING, resting);
#endif
#endif
	if
	:: resting == 1 -> rouse()
	:: else
	fi
}

proctype core(byte me; byte naps; bool stays)
{
	byte resting, own = me; /* its core->hint.busy has its number */
	bool done;

	do
	:: naps > 0 ->
		awake();
		STORE_relaxed(me, own, 0);
		naps--
	:: else -> break
	od;
	if
	:: stays -> awake()
	:: else
	fi
}

inline any_awake(yes)
{
	LOAD_seq_cst(MONITOR, 0, seen_busy);
	yes = (seen_busy == 1);
	if
	:: !yes ->
		LOAD_seq_cst(MONITOR, 1, seen_busy);
		yes = (seen_busy == 1)
	:: else
	fi
}

inline any_awake_again(yes)
{
#ifdef FAULT_4
	LOAD_relaxed(MONITOR, 0, seen_busy);
	yes = (seen_busy == 1);
	if
	:: !yes ->
		LOAD_relaxed(MONITOR, 1, seen_busy);
		yes = (seen_busy == 1)
	:: else
	fi
#else
	any_awake(yes)
#endif
}

/* While cores are awake the monitor checks once a period. The model leaves out how often, and keeps
 * that the monitor checks again after a change. */
active proctype monitor()
{
	byte seen_busy;
	bool yes, done;

	do
	:: any_awake(yes);
	   if
	   :: yes ->
		/* looks on, by itself */
end_looks:
		if
		:: NEWEST(0) == 0 && NEWEST(1) == 0
		:: timer == 1 -> timer = 0
		fi
	   :: else ->
		atomic {
			rests++;
			STORE_release(MONITOR, RESTING, 1)
		}
#ifndef FAULT_1
		any_awake_again(yes);
		if
		:: yes -> CAS_relaxed(MONITOR, RESTING, 1, 0, done)
		:: else
		fi;
#endif
		if
		:: yes
		:: !yes ->
			waiting = true;
end_rests:
			timer == 1;
			atomic { timer = 0; waiting = false }
		fi
	   fi
	od
}

active proctype watch()
{
end:	timeout;
	assert(!waiting || (NEWEST(0) == 0 && NEWEST(1) == 0))
}

init {
	atomic {
		run core(0, 1, true);
		run core(1, 2, false)
	}
}
