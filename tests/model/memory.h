/* SPDX-License-Identifier: MIT */
/*
 * memory.h: C11's relaxed, acquire and release, and core locks, for the models in this directory.
 *
 * Every atomic keeps the history of its writes. A thread knows, of each location, the oldest write
 * that it may still read (its view); a load takes any write from there on, so that a relaxed load
 * may be stale. A write carries a view: its writer's with release, nothing but itself with relaxed.
 * An acquire load adopts the view it finds. A read-modify-write takes the newest write and carries
 * on what that one carried. This is the release/acquire consistency of the C standard with two
 * exceptions: writes of one location are ordered as they are executed, and no load takes a value
 * from a write that comes after it. A failing compare-and-swap reads the newest value, as machines
 * do.
 *
 * Plain data has no history. TOUCH and LOOK are the accesses of a thread that relies on having the
 * data to itself, or on no thread writing: they fail unless the last write (TOUCH: the last access)
 * is in the thread's view, that is, happens before. So a missing release or acquire is found as the
 * race that it is: invariant 3, visibility.
 *
 * Locks are those of mely/base/lock.h; lock.pml shows that its few instructions have the properties
 * that are assumed here.
 *
 * A model defines before it includes this:
 *   THREADS         number of threads, 0 up
 *   ATOMICS         number of atomics, locations 0 up
 *   PLAIN           number of plain locations, numbered behind the atomics
 *   WRITES          longest history of an atomic
 *   LOCKS           number of locks
 */

#define LOCATIONS (ATOMICS + PLAIN)
#define SEEN(t, loc) seen[(t) * LOCATIONS + (loc)]
#define WROTE(loc, n) wrote[(loc) * WRITES + (n)]
#define NEWEST(loc) WROTE(loc, last[loc])
#define CARRIED(loc, n, k) carried[((loc) * WRITES + (n)) * LOCATIONS + (k)]

byte seen[THREADS * LOCATIONS];              /* the view of each thread */
byte last[LOCATIONS];                        /* the newest write; of plain data, the access */
byte wrote[ATOMICS * WRITES];                /* the value of each write */
byte carried[ATOMICS * WRITES * LOCATIONS];  /* the view that it carries */
bit held[LOCKS];
byte handed[LOCKS * LOCATIONS];              /* the view of the thread that dropped the lock last */
hidden byte k_;                               /* scratch; a d_step may not end in a loop */

inline join_carried(t, loc, n)
{
	for (k_ : 0 .. LOCATIONS - 1) {
		if
		:: CARRIED(loc, n, k_) > SEEN(t, k_) -> SEEN(t, k_) = CARRIED(loc, n, k_)
		:: else
		fi
	};
	k_ = 0
}

/* The relaxed part of a load: step to any write that is not too old. */
inline step(t, loc)
{
	do
	:: SEEN(t, loc) < last[loc] -> SEEN(t, loc)++
	:: break
	od
}

inline LOAD_relaxed(t, loc, to)
{
	atomic {
		step(t, loc);
		to = WROTE(loc, SEEN(t, loc))
	}
}

inline LOAD_acquire(t, loc, to)
{
	atomic {
		step(t, loc);
		d_step {
			to = WROTE(loc, SEEN(t, loc));
			join_carried(t, loc, SEEN(t, loc))
		}
	}
}

/* Until the newest write is v: a loop of acquire loads. */
inline AWAIT_acquire(t, loc, v)
{
	atomic {
		NEWEST(loc) == v ->
		d_step {
			SEEN(t, loc) = last[loc];
			join_carried(t, loc, last[loc])
		}
	}
}

inline add_write(t, loc, v)
{
	last[loc]++;
	assert(last[loc] < WRITES); /* else the model needs longer histories */
	NEWEST(loc) = v;
	SEEN(t, loc) = last[loc];
	CARRIED(loc, last[loc], loc) = last[loc]
}

inline carry_all(t, loc)
{
	for (k_ : 0 .. LOCATIONS - 1) {
		if
		:: SEEN(t, k_) > CARRIED(loc, last[loc], k_) ->
			CARRIED(loc, last[loc], k_) = SEEN(t, k_)
		:: else
		fi
	};
	k_ = 0
}

inline STORE_relaxed(t, loc, v)
{
	d_step {
		add_write(t, loc, v)
	}
}

inline STORE_release(t, loc, v)
{
	d_step {
		add_write(t, loc, v);
		carry_all(t, loc)
	}
}

/* A read-modify-write carries on what the write before it carried. */
inline carry_on(loc)
{
	for (k_ : 0 .. LOCATIONS - 1) {
		if
		:: k_ != loc ->
			CARRIED(loc, last[loc], k_) = CARRIED(loc, last[loc] - 1, k_)
		:: else
		fi
	};
	k_ = 0
}

/* v may use what was read, in old. */
inline RMW_relaxed(t, loc, old, v)
{
	d_step {
		old = NEWEST(loc);
		add_write(t, loc, v);
		carry_on(loc)
	}
}

inline RMW_acquire(t, loc, old, v)
{
	d_step {
		old = NEWEST(loc);
		join_carried(t, loc, last[loc]);
		add_write(t, loc, v);
		carry_on(loc)
	}
}

inline RMW_release(t, loc, old, v)
{
	d_step {
		old = NEWEST(loc);
		add_write(t, loc, v);
		carry_on(loc);
		carry_all(t, loc)
	}
}

inline RMW_acq_rel(t, loc, old, v)
{
	d_step {
		old = NEWEST(loc);
		join_carried(t, loc, last[loc]);
		add_write(t, loc, v);
		carry_on(loc);
		carry_all(t, loc)
	}
}

/* Compare and swap; done says whether. A failure is a relaxed load of the newest. */
inline CAS_acquire(t, loc, expected, v, done)
{
	d_step {
		if
		:: NEWEST(loc) == expected ->
			join_carried(t, loc, last[loc]);
			add_write(t, loc, v);
			carry_on(loc);
			done = true
		:: else ->
			SEEN(t, loc) = last[loc];
			done = false
		fi
	}
}

inline CAS_relaxed(t, loc, expected, v, done)
{
	d_step {
		if
		:: NEWEST(loc) == expected ->
			add_write(t, loc, v);
			carry_on(loc);
			done = true
		:: else ->
			SEEN(t, loc) = last[loc];
			done = false
		fi
	}
}

/* Plain data that a thread has to itself: everything done to it before must happen before. */
inline TOUCH(t, loc)
{
	d_step {
		assert(SEEN(t, loc) == last[loc]);
		last[loc]++;
		SEEN(t, loc) = last[loc]
	}
}

/* Plain data that is only read: the last write must happen before. */
inline LOOK(t, loc)
{
	d_step {
		assert(SEEN(t, loc) == last[loc])
	}
}

/* ---- locks ----------------------------------------------------------------------------------- */

inline take_over(t, l)
{
	held[l] = 1;
	for (k_ : 0 .. LOCATIONS - 1) {
		if
		:: handed[(l) * LOCATIONS + k_] > SEEN(t, k_) ->
			SEEN(t, k_) = handed[(l) * LOCATIONS + k_]
		:: else
		fi
	};
	k_ = 0
}

inline TAKE(t, l)
{
	atomic {
		held[l] == 0 ->
		d_step {
			take_over(t, l)
		}
	}
}

inline TRY(t, l, done)
{
	d_step {
		done = (held[l] == 0);
		if
		:: done -> take_over(t, l)
		:: else
		fi
	}
}

inline DROP(t, l)
{
	d_step {
		assert(held[l] == 1);
		held[l] = 0;
		for (k_ : 0 .. LOCATIONS - 1) {
			handed[(l) * LOCATIONS + k_] = SEEN(t, k_)
		};
		k_ = 0
	}
}
