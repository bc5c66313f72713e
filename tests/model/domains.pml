/* SPDX-License-Identifier: MIT */
/*
 * domains.pml: no work waits behind a busy core while another one sleeps for ever. Mirrors
 * fall_asleep, take_sentry, doze, melyint_rise, stand_up, melyint_hand_over_sentry (sched/park.c),
 * melyint_wake_locked and offer_slow (sched/wake.c): C and E of NOTE(park).
 *
 * Two cores of one domain fall asleep. A core of another domain rises, posts two colors that wait
 * behind its batch, and stays in the batch; so does a core that takes a color. What the sentry
 * finds at its next check it finds at once here.
 *
 * Each thread has a store buffer, as in search.pml.
 *
 *   assert in the monitor      at rest the colors are taken, or no core sleeps; the counts
 *                              are right
 *   assert in wake_locked      the number of domains does not fall below 0
 *
 *   FAULT_1   fall_asleep has no fence
 *   FAULT_2   melyint_rise has no fence
 *   FAULT_3   a thief does not offer what it leaves
 *   FAULT_4   each core that wakes takes its domain off the count
 *   FAULT_5   a core counts its domain after it has checked all work
 */
#define SLEEPERS 2
#define POSTER SLEEPERS
#define THREADS (SLEEPERS + 1)

/* Words: core->hint.busy of each, domain->sleepers, rt->idle.domains and .sentries, and
 * core->hint.stealable of the poster */
#define BUSY(i) (i)
#define COUNT 3
#define DOMAINS 4
#define SENTRIES 5
#define WAITS 6
#define HELD(i) (7 + (i)) /* core->lock */
#define WORDS 9

#define AWAKE 0
#define ASLEEP 1
#define SENTRY 2

short memory[WORDS];
chan buffer[THREADS] = [6] of { byte, short };
bool changing[WORDS]; /* a read-modify-write of the word waits in a buffer */
byte sleep[SLEEPERS]; /* under the lock */
byte taken;           /* colors */

inline STORE(t, word, value)
{
	buffer[t]!word, value
}

inline FENCE(t)
{
	empty(buffer[t])
}

/* old = what the word had; it changes by `by` if the condition, which may use old, holds. */
inline CHANGE(t, word, old, condition, by)
{
	atomic {
		empty(buffer[t]) && !changing[word];
		old = memory[word];
		if
		:: condition -> changing[word] = true; STORE(t, word, old + by)
		:: else
		fi
	}
}

inline LOCK(t, i)
{
	atomic {
		empty(buffer[t]) && !changing[HELD(i)] && memory[HELD(i)] == 0;
		memory[HELD(i)] = 1
	}
}

inline UNLOCK(t, i)
{
	STORE(t, HELD(i), 0)
}

/* The stores of a thread arrive. */
proctype arrive(byte t)
{
	byte word;
	short value;

end_arrive:
	do
	:: atomic {
		buffer[t]?word, value ->
		memory[word] = value;
		changing[word] = false
	   }
	od
}

/* melyint_wake_locked, by thread t. Under the lock of core i. */
inline wake_locked(t, i)
{
	if
	:: sleep[i] == SENTRY -> CHANGE(t, SENTRIES, old, true, -1)
	:: else
	fi;
	sleep[i] = AWAKE;
	CHANGE(t, COUNT, old, true, -1);
	if
#ifdef FAULT_4
	:: true ->
#else
	:: old == 1 ->
#endif
		CHANGE(t, DOMAINS, old, true, -1);
		assert(old > 0)
	:: else
	fi
}

/* melyint_offer, by thread t, of what waits on the poster */
inline offer(t)
{
	/* The poster knows that its colors wait: the store may still be in its buffer. */
	left = (memory[DOMAINS] <= 0 || (t != POSTER && memory[WAITS] <= taken));
	/* left_to_sentry */
	if
	:: !left && memory[SENTRIES] != 0 -> FENCE(t); left = (memory[SENTRIES] != 0)
	:: else
	fi;
	i = 0;
	do
	:: left || i == SLEEPERS || memory[COUNT] == 0 -> break
	:: else ->
		if
		:: i != t && sleep[i] != AWAKE ->
			LOCK(t, i);
			if
			:: sleep[i] != AWAKE -> wake_locked(t, i); left = true
			:: else
			fi;
			UNLOCK(t, i)
		:: else
		fi;
		i++
	od
}

/* melyint_steal of a sleeper: under the poster's lock, so in one step. */
inline steal()
{
	atomic {
		got = (memory[WAITS] > taken);
		taken = taken + got
	}
#ifndef FAULT_3
	if
	:: got -> offer(me)
	:: else
	fi
#endif
}

proctype sleeper(byte me)
{
	short old, first;
	byte i;
	bool got, left, duty;

park:	duty = false;
	/* fall_asleep */
	LOCK(me, me);
	sleep[me] = ASLEEP;
	CHANGE(me, COUNT, first, true, 1);
#ifndef FAULT_5
	if
	:: first == 0 -> CHANGE(me, DOMAINS, old, true, 1)
	:: else
	fi;
#endif
	UNLOCK(me, me);
#ifndef FAULT_1
	FENCE(me);
#endif
	steal();
#ifdef FAULT_5
	if
	:: first == 0 -> CHANGE(me, DOMAINS, old, true, 1)
	:: else
	fi;
#endif
	if
	:: got -> goto up
	:: else
	fi;
	/* take_sentry; other_busy */
	if
	:: memory[SENTRIES] == 0 &&
	    (memory[BUSY(POSTER)] != 0 || memory[BUSY(1 - me)] != 0) ->
		CHANGE(me, SENTRIES, old, old == 0, 1);
		if
		:: old == 0 ->
			LOCK(me, me);
			if
			:: sleep[me] == ASLEEP -> sleep[me] = SENTRY
			:: else -> CHANGE(me, SENTRIES, old, true, -1)
			fi;
			UNLOCK(me, me)
		:: else
		fi
	:: else
	fi;
	/* doze: until it is woken; as the sentry, until it finds something or no core is busy */
	STORE(me, BUSY(me), 0);
end_doze:
	if
	:: sleep[me] == AWAKE
	:: sleep[me] == SENTRY && memory[WAITS] > taken
	:: sleep[me] == SENTRY && memory[BUSY(POSTER)] == 0 && memory[BUSY(1 - me)] == 0
	fi;
	duty = true; /* it was the sentry, or is to search */
	/* melyint_rise */
	STORE(me, BUSY(me), 1);
#ifndef FAULT_2
	FENCE(me);
#endif
	steal();
up:
	/* stand_up */
	LOCK(me, me);
	if
	:: sleep[me] != AWAKE -> wake_locked(me, me)
	:: else
	fi;
	UNLOCK(me, me);
	if
	:: !got -> goto park
	:: got && duty -> /* melyint_hand_over_sentry */
		FENCE(me);
		offer(me)
	:: else
	fi
}

proctype poster()
{
	short old;
	byte i;
	bool left;

	STORE(POSTER, BUSY(POSTER), 1);
#ifndef FAULT_2
	FENCE(POSTER);
#endif
	STORE(POSTER, WAITS, 2);
	offer(POSTER)
}

active proctype monitor()
{
end:	timeout;
	assert(taken == 2 || (sleep[0] == AWAKE && sleep[1] == AWAKE));
	assert(memory[COUNT] == (sleep[0] != AWAKE) + (sleep[1] != AWAKE));
	assert(memory[DOMAINS] == (memory[COUNT] > 0))
}

init {
	byte i;

	atomic {
		memory[BUSY(0)] = 1;
		memory[BUSY(1)] = 1;
		i = 0;
		do
		:: i < THREADS -> run arrive(i); i++
		:: else -> break
		od;
		run sleeper(0);
		run sleeper(1);
		run poster()
	}
}
