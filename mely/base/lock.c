/* SPDX-License-Identifier: MIT */
/*
 * lock.c: waiting for a lock that another thread holds, and the witness of developer builds. Any
 * thread.
 */
#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "base/lock.h"

enum {
	SPINS = 200,          /* about a microsecond: longer than any critical section */
	YIELDS = 16,
	NAP_NS_MAX = 200000
};

MELY_TLS struct melyint_lock_waits melyint_lock_waits;

#ifdef MELY_DEVELOPER
uintptr_t
melyint_lock_self(void)
{
#ifdef MELYINT_SIM /* virtual threads share the addresses of thread-local variables */
	static uintptr_t last MELY_LASTING;
	static MELY_TLS uintptr_t number;

	if (number == 0)
		number = ++last;
	return number;
#else
	return (uintptr_t)&melyint_lock_waits;
#endif
}
#endif

static void
wait_for(struct melyint_lock *lock)
{
	struct timespec nap = {0, 1000};
	unsigned round;

	for (round = 0;; round++) {
		int i;

		for (i = 0; i < SPINS; i++) {
			if (melyint_lock_try(lock))
				return;
			melyint_cpu_relax();
		}
		/* The holder has lost its processor: let it run. */
		if (round < YIELDS) {
			sched_yield();
		} else {
			nanosleep(&nap, NULL);
			if (nap.tv_nsec < NAP_NS_MAX)
				nap.tv_nsec *= 2;
		}
	}
}

MELY_NOINLINE void
melyint_lock_wait_slow(struct melyint_lock *lock)
{
	uint64_t began;

	MELY_DEBUG_ASSERT(!melyint_lock_held(lock)); /* it would wait forever */
	if (melyint_lock_waits.times == NULL) {
		wait_for(lock);
		return;
	}
	began = melyint_ticks();
	wait_for(lock);
	MELY_COUNT(melyint_lock_waits.times, 1);
	MELY_COUNT(melyint_lock_waits.ns, melyint_ticks_to_ns(melyint_ticks() - began));
}
