/* SPDX-License-Identifier: MIT */
/*
 * lock.h: the lock of a core's queues. A thread holds it for a few dozen instructions and never
 * while a handler runs. Unlocking is a plain store. A waiter spins a little, then yields its time
 * slice, then sleeps for growing spells, so that a holder that was preempted (more cores than
 * processors) gets a processor back. Not recursive. The thread that takes a lock drops it.
 *
 * In developer builds the lock has a witness, the thread that holds it: melyint_lock_held.
 */
#ifndef MELYINT_BASE_LOCK_H
#define MELYINT_BASE_LOCK_H

#include "base/assert.h"
#include "base/atomic.h"
#include "base/compiler.h"

struct melyint_lock {
	_Atomic uint32_t held; /* any thread */
#ifdef MELY_DEVELOPER
	_Atomic uintptr_t holder; /* 0: none; written by the holder */
#endif
};

/* Where a thread counts its waits for locks: how many, and their ns. NULL: it does not count. */
struct melyint_lock_waits {
	_Atomic uint64_t *times, *ns;
};

extern MELY_TLS struct melyint_lock_waits melyint_lock_waits;

void melyint_lock_wait_slow(struct melyint_lock *lock);

/* ---- the witness ----------------------------------------------------------------------------- */

#ifdef MELY_DEVELOPER
/* A word that differs between threads, never 0. */
uintptr_t melyint_lock_self(void);

/* Does the calling thread hold the lock? For assertions. Release builds always say yes. */
MELY_INLINE bool
melyint_lock_held(const struct melyint_lock *lock)
{
	return MELY_PEEK(&lock->holder) == melyint_lock_self();
}

MELY_INLINE void
melyint_lock_set_holder(struct melyint_lock *lock, bool holds)
{
	MELY_POKE(&lock->holder, holds ? melyint_lock_self() : 0);
}
#else
MELY_INLINE bool
melyint_lock_held(const struct melyint_lock *lock)
{
	(void)lock;
	return true;
}

MELY_INLINE void
melyint_lock_set_holder(struct melyint_lock *lock, bool holds)
{
	(void)lock;
	(void)holds;
}
#endif

/* ---- the lock -------------------------------------------------------------------------------- */

MELY_INLINE void
melyint_lock_init(struct melyint_lock *lock)
{
	/* relaxed: no other thread knows the lock yet */
	MELY_STORE(&lock->held, 0, relaxed);
	melyint_lock_set_holder(lock, false);
}

MELY_INLINE bool
melyint_lock_try(struct melyint_lock *lock)
{
	/* relaxed: only a hint that the exchange is worth its cache miss */
	if (MELY_LOAD(&lock->held, relaxed) != 0)
		return false;
	/* acquire: pairs with the release in melyint_lock_drop */
	if (MELY_EXCHANGE(&lock->held, 1, acquire) != 0)
		return false;
	melyint_lock_set_holder(lock, true);
	return true;
}

MELY_INLINE void
melyint_lock_take(struct melyint_lock *lock)
{
	/* acquire: pairs with the release in melyint_lock_drop */
	if (MELY_UNLIKELY(MELY_EXCHANGE(&lock->held, 1, acquire) != 0))
		melyint_lock_wait_slow(lock);
	melyint_lock_set_holder(lock, true);
}

MELY_INLINE void
melyint_lock_drop(struct melyint_lock *lock)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(lock));
	melyint_lock_set_holder(lock, false);
	/* release: pairs with the acquire in melyint_lock_take and melyint_lock_try */
	MELY_STORE(&lock->held, 0, release);
}

#endif
