/* SPDX-License-Identifier: MIT */
/*
 * search.pml: no post is left to a search that misses it. Mirrors left_to_searcher, wake_searcher
 * (sched/wake.c), end_search and melyint_hand_over_sentry (sched/park.c): D of NOTE(park), in a
 * runtime without a sentry.
 *
 * One core searches. Posters make work wait, each behind another core, and leave it to the search
 * if there is one; else they begin one. The core ends its search and looks at all that waits.
 *
 * Each thread has a store buffer: its stores reach the memory later, in their order. A fence waits
 * until the buffer is empty. So does a read-modify-write; its own store goes into the buffer, where
 * the next read-modify-write of the word waits for it. No thread loads a word that it has stored,
 * so no load has to look into a buffer. memory.h, which the other models use, has no fences.
 *
 *   assert in the monitor   at rest, a search has seen all that waits
 *
 *   FAULT_1   left_to_searcher has no fence
 *   FAULT_2   the core that ends a search has no fence (melyint_hand_over_sentry)
 *   FAULT_3   its fence comes before the exchange
 *   FAULT_4   left_to_searcher does not load the word again behind its fence
 */
#define POSTERS 3
#define SEARCHER POSTERS

/* Words: rt->idle.searching, and core->hint.stealable of the core that a poster posts to */
#define SEARCHING 0
#define WAITS(i) (1 + (i))

#define NONE 0
#define ONE 1
#define MORE 2

byte memory[1 + POSTERS];
chan buffer[POSTERS + 1] = [2] of { byte, byte };
bool changing;       /* a read-modify-write of SEARCHING waits in a buffer */
byte searches = 1;   /* begun and not ended: the core is woken */
bool seen[POSTERS];  /* by a search, of the work of each poster */

inline STORE(t, word, value)
{
	buffer[t]!word, value
}

inline FENCE(t)
{
	empty(buffer[t])
}

/* old = what the word had; value is stored if the condition, which may use old, holds. */
inline CHANGE(t, old, condition, value)
{
	atomic {
		empty(buffer[t]) && !changing;
		old = memory[SEARCHING];
		if
		:: condition -> changing = true; STORE(t, SEARCHING, value)
		:: else
		fi
	}
}

/* The stores of a thread arrive. */
proctype arrive(byte t)
{
	byte word, value;

end_arrive:
	do
	:: atomic {
		buffer[t]?word, value ->
		memory[word] = value;
		if
		:: word == SEARCHING -> changing = false
		:: else
		fi
	   }
	od
}

inline left_to_searcher()
{
	now = memory[SEARCHING];
	if
	:: now == MORE ->
#ifndef FAULT_1
		FENCE(me);
#endif
#ifndef FAULT_4
		now = memory[SEARCHING];
#endif
		left = (now == MORE)
	:: else
	fi;
	do
	:: left || now == NONE -> break
	:: else ->
		expected = now;
		CHANGE(me, now, now == expected, MORE);
		left = (now == expected)
	od
}

proctype poster(byte me)
{
	byte now, expected;
	bool left = false;

	STORE(me, WAITS(me), 1);
	left_to_searcher();
	if
	:: !left ->
		/* wake_searcher: another poster may have begun a search meanwhile */
		CHANGE(me, now, now == NONE, ONE);
		if
		:: now == NONE -> searches++
		:: else
		fi
	:: else
	fi
}

proctype core()
{
	byte old, i;

end_core:
	do
	:: searches > 0 ->
		searches--;
#ifdef FAULT_3
		FENCE(SEARCHER);
#endif
		CHANGE(SEARCHER, old, true, NONE);
		assert(old != NONE); /* as in end_search */
#if !defined(FAULT_2) && !defined(FAULT_3)
		FENCE(SEARCHER);
#endif
		i = 0;
		do
		:: i < POSTERS ->
			if
			:: memory[WAITS(i)] != 0 -> seen[i] = true
			:: else
			fi;
			i++
		:: else -> break
		od
	od
}

active proctype monitor()
{
end:	timeout;
	assert(seen[0] && seen[1] && seen[2]);
	assert(searches == 0 && memory[SEARCHING] == NONE)
}

init {
	byte i;

	atomic {
		memory[SEARCHING] = ONE;
		i = 0;
		do
		:: i < POSTERS -> run poster(i); run arrive(i); i++
		:: else -> break
		od;
		run arrive(SEARCHER);
		run core()
	}
}
