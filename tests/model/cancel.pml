/* SPDX-License-Identifier: MIT */
/*
 * cancel.pml: an embedded event is cancelled while its color runs. Mirrors mely_event_cancel and
 * the functions that it calls (sched/cancel.c), melyint_post and melyint_append_locked
 * (sched/post.c), melyint_event_enter, melyint_event_drop and melyint_turn_frame (sched/end.h),
 * take_some and requeue (sched/turn.c): NOTE(cancel).
 *
 * An outside thread posts an event and cancels it, with a completion. Core 0 runs the event's
 * color. Behind the event is a second one whose handler may cancel the first, too (B of
 * NOTE(cancel)); the batch may end before either has run. In some runs the event's handler posts it
 * again, in some a second thread cancels it, too.
 *
 *   assert in settled()   invariant 9: after a cancel that returns 0, and after the completion of
 *                         one that returns -EINPROGRESS, the event has run, was dropped or
 *                         unlinked, and will not run; and, at the end, invariant 4
 *   TOUCH(MEMORY)         only the thread that owns the event touches it: the poster, the core
 *                         until the handler is entered, the handler, the canceller; invariant 3
 *
 *   FAULT_1   the caller does not wait for the completion: it treats -EINPROGRESS as 0
 *   FAULT_2   the core sets `current` after it has given the event back
 *   FAULT_3   the core gives the event back relaxed
 *   FAULT_4   the core posts the completions before it puts the batch back
 *   FAULT_5   a cancel does not read the state again under the lock
 *   FAULT_6   requeue marks a cancelled event queued again
 *   FAULT_7   `current` is stored relaxed: a cancel that finds the next event there, and returns
 *             -ENOENT, does not come after the handler that has ended
 *   FAULT_8   an event that is unlinked is not marked before the lock is dropped: two cancels win
 */
#define THREADS 3
#define CORE 0
#define OUTSIDE 1
#define SECOND 2
#define ATOMICS 3
#define PLAIN 2
#define WRITES 12
#define LOCKS 1
#include "memory.h"

#define STATE 0    /* ev->_state */
#define CURRENT 1  /* core->shown.current: 1 the event, 2 the other */
#define OVER 2     /* the completion, an event of another color */
#define MEMORY 3
#define LISTS 4    /* of the color */
#define LOCK 0

#define IDLE 0
#define CLAIMED 1
#define QUEUED 2
#define PRIVATE 3
#define CANCELLED 4

#ifdef FAULT_7
#define STORE_CURRENT(ev) STORE_relaxed(CORE, CURRENT, ev)
#else
#define STORE_CURRENT(ev) STORE_release(CORE, CURRENT, ev)
#endif

bool queued;       /* in the color-queue */
bool waiter;       /* core->locked.waiters, under the lock */
bool shared;       /* handlers of its color post it again, or cancel it: no thread has it alone */
bool again;        /* its handler will post it again */
byte posts, ran, gone;  /* gone: cancelled or dropped */
byte ended;        /* threads outside */
bool over;         /* after a cancel reported the end */

#define settled() assert(posts == ran + gone)

/* ---- the core ------------------------------------------------------------------------------- */

inline drop()
{
	gone++;
	STORE_release(CORE, STATE, IDLE)
}

inline run_event()
{
	TOUCH(CORE, MEMORY); /* _next, _handler, _arg */
	private = false;
	LOAD_relaxed(CORE, STATE, state);
	if
	:: state != PRIVATE -> drop()
	:: else ->
#ifdef FAULT_2
		STORE_release(CORE, STATE, IDLE);
		STORE_CURRENT(1);
#else
		STORE_CURRENT(1);
#ifdef FAULT_3
		STORE_relaxed(CORE, STATE, IDLE);
#else
		STORE_release(CORE, STATE, IDLE);
#endif
#endif
		/* the handler */
		if
		:: again ->
			again = false;
			CAS_acquire(CORE, STATE, IDLE, CLAIMED, done);
			if
			:: done ->
				TOUCH(CORE, MEMORY);
				posts++;
				STORE_release(CORE, STATE, PRIVATE);
				private = true
			:: else
			fi
		:: else -> TOUCH(CORE, MEMORY)
		fi;
		assert(!over || shared);
		ran++
	fi;
	state = 0; done = false
}

/* Its handler may cancel the first: B of NOTE(cancel). */
inline run_other()
{
	STORE_CURRENT(2);
	if
	:: private && shared ->
		LOAD_acquire(CORE, STATE, state);
		if
		:: state == PRIVATE ->
			TOUCH(CORE, MEMORY);
			private = false;
			gone++;
			STORE_release(CORE, STATE, IDLE);
			TOUCH(CORE, MEMORY)
		:: else
		fi
	:: true
	fi;
	state = 0
}

inline complete()
{
	if
	:: waiter ->
		waiter = false;
		DROP(CORE, LOCK);
		STORE_release(CORE, OVER, 1);
		TAKE(CORE, LOCK)
	:: else
	fi
}

/* Put back, post the completions, take again. */
inline turn()
{
	TAKE(CORE, LOCK);
	TOUCH(CORE, LISTS);
#ifdef FAULT_4
	complete();
#endif
	if
	:: private ->
		private = false;
		LOAD_relaxed(CORE, STATE, state);
		TOUCH(CORE, MEMORY);
		if
#ifdef FAULT_6
		:: true ->
#else
		:: state == PRIVATE ->
#endif
			STORE_relaxed(CORE, STATE, QUEUED);
			queued = true
#ifndef FAULT_6
		:: else -> drop()
#endif
		fi;
		state = 0
	:: else
	fi;
	STORE_relaxed(CORE, CURRENT, 0);
#ifndef FAULT_4
	complete();
#endif
	if
	:: queued ->
		queued = false;
		TOUCH(CORE, MEMORY);
		STORE_relaxed(CORE, STATE, PRIVATE);
		private = true
	:: else
	fi;
	DROP(CORE, LOCK)
}

proctype core()
{
	byte state, chances = 1;
	bool private, other, done;

	do
	:: queued || waiter || private ->
		turn();
		do
		:: private -> run_event()
		:: !other -> other = true; run_other()
		:: private && chances > 0 -> chances--; break /* the batch ends */
		:: !private -> break
		od;
		other = false
	:: ended == 2 && !queued && !waiter && !private -> break
	od
}

/* ---- outside -------------------------------------------------------------------------------- */

inline post(t)
{
	CAS_acquire(t, STATE, IDLE, CLAIMED, done);
	assert(done);
	TOUCH(t, MEMORY);
	TAKE(t, LOCK);
	TOUCH(t, LISTS);
	posts++;
	STORE_release(t, STATE, QUEUED);
	queued = true;
	DROP(t, LOCK)
}

/* After a cancel the event is the caller's. */
inline mine(t)
{
	settled();
	over = true;
	TOUCH(t, MEMORY)
}

inline hang_completion()
{
	waiter = true /* for two, where there are two */
}

inline in_progress(t)
{
#ifndef FAULT_1
	AWAIT_acquire(t, OVER, 1);
#endif
	if
	:: shared
	:: else -> mine(t)
	fi
}

inline cancel(t)
{
	do
	:: true ->
		LOAD_acquire(t, STATE, state);
		if
		:: state == CLAIMED -> skip
		:: else ->
			TAKE(t, LOCK);
#ifndef FAULT_5
			LOAD_acquire(t, STATE, state);
#endif
			if
			:: state == CLAIMED -> DROP(t, LOCK)
			:: else -> break
			fi
		fi
	od;
	if
	:: state == QUEUED ->
		TOUCH(t, LISTS);
		TOUCH(t, MEMORY);
		queued = false;
#ifndef FAULT_8
		STORE_relaxed(t, STATE, CLAIMED);
#endif
		DROP(t, LOCK);
		gone++;
		STORE_release(t, STATE, IDLE);
		mine(t)
	:: state == PRIVATE || state == CANCELLED ->
		hang_completion();
		CAS_relaxed(t, STATE, PRIVATE, CANCELLED, done);
		DROP(t, LOCK);
		in_progress(t)
	:: else ->
		LOAD_acquire(t, CURRENT, state);
		if
		:: state == 1 ->
			hang_completion();
			DROP(t, LOCK);
			in_progress(t)
		:: else -> /* -ENOENT: it has run */
			DROP(t, LOCK);
			if
			:: shared
			:: else -> mine(t)
			fi
		fi
	fi
}

proctype outside()
{
	byte state;
	bool done;

	post(OUTSIDE);
	cancel(OUTSIDE);
	ended++
}

proctype second()
{
	byte state;
	bool done;

	posts > 0;
	cancel(SECOND);
	ended++
}

init {
	atomic {
		if
		:: again = true; shared = true; ended = 1
		:: again = false; shared = true; ended = 1
		:: shared = false; ended = 1
		:: shared = true; run second()
		fi;
		run core();
		run outside()
	}
	_nr_pr == 1;
	settled();
	assert(NEWEST(STATE) == IDLE)
}
