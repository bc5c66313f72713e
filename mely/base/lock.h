/* SPDX-License-Identifier: MIT */
/*
 * lock.h: the lock of a core's queues. Held for a few dozen instructions, never while a handler
 * runs. Unlocking is a plain store; a waiter spins a little, then gives up its time slice, and
 * sleeps for growing spells, so that a holder that was preempted (more cores than processors)
 * gets the processor back.
 */
#ifndef MELYINT_BASE_LOCK_H
#define MELYINT_BASE_LOCK_H

#include "base/atomic.h"
#include "base/compiler.h"

struct melyint_lock {
	_Atomic uint32_t held; /* anyone */
};

/* Where a thread counts what it waits for locks: how often, how many ns. NULL: nowhere. */
struct melyint_lock_waits {
	_Atomic uint64_t *times, *ns;
};

extern MELY_TLS struct melyint_lock_waits melyint_lock_waits;

void melyint_lock_wait_slow(struct melyint_lock *lock);

MELY_INLINE void
melyint_lock_init(struct melyint_lock *lock)
{
	/* relaxed: nobody else knows the lock yet */
	MELY_STORE(&lock->held, 0, relaxed);
}

MELY_INLINE bool
melyint_lock_try(struct melyint_lock *lock)
{
	/* relaxed: only a hint that the exchange is worth its cache miss */
	if (MELY_LOAD(&lock->held, relaxed) != 0)
		return false;
	/* acquire: pairs with the release in melyint_lock_drop */
	return MELY_EXCHANGE(&lock->held, 1, acquire) == 0;
}

MELY_INLINE void
melyint_lock_take(struct melyint_lock *lock)
{
	/* acquire: pairs with the release in melyint_lock_drop */
	if (MELY_UNLIKELY(MELY_EXCHANGE(&lock->held, 1, acquire) != 0))
		melyint_lock_wait_slow(lock);
}

MELY_INLINE void
melyint_lock_drop(struct melyint_lock *lock)
{
	/* release: pairs with the acquire in melyint_lock_take and melyint_lock_try */
	MELY_STORE(&lock->held, 0, release);
}

#endif
