/* SPDX-License-Identifier: MIT */
/*
 * drain.c: finding out that nothing is left to run. Any core's thread.
 *
 * The thread holds all core locks at once, taken in the order of the cores: the only place where a
 * thread holds more than one. A core takes a batch, its own or a stolen one, under some core's
 * lock; so does a core that pulls colors, and a thread that pins one. So a thread that holds all
 * locks sees a consistent cut: no color waits, no batch runs, no color is on its way from core to
 * core. After that, new events can come only from helper threads, whose work the I/O counts, and
 * from outside threads, whose posts are refused.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "core/worth.h"
#include "sched/drain.h"
#include "sched/wait.h"
#include "sched/wake.h"

static bool
nothing_left(struct mely_runtime *rt)
{
	bool empty;
	int i;

	for (i = 0; i < rt->cores_count; i++)
		melyint_lock_take(&rt->cores[i].lock);
	/* Under the locks: before, a handler could still have started helper work, and a completion
	 * that is posted after this check had not been counted down. */
	empty = melyint_io_pending(rt) == 0 && MELY_LOAD(&rt->flow.arriving, relaxed) == 0;
	for (i = 0; i < rt->cores_count && empty; i++) {
		const struct melyint_core *core = &rt->cores[i];

		MELY_DEBUG_ASSERT(melyint_core_counts_agree(core));
		MELY_DEBUG_ASSERT(core->locked.has_batch || core->batch.color == NULL);
		/* relaxed: under all locks */
		empty = core->ready.length == 0 && core->locked.waiters == NULL &&
		    !core->locked.has_batch && MELY_LOAD(&core->hint.moving, relaxed) == 0;
	}
	for (i = rt->cores_count - 1; i >= 0; i--)
		melyint_lock_drop(&rt->cores[i].lock);
	return empty;
}

void
melyint_drain_look(struct mely_runtime *rt)
{
	/* relaxed: set before the phase became DRAINING */
	uint64_t until = MELY_LOAD(&rt->life.drain_until_ns, relaxed);
	int draining = MELYINT_DRAINING;
	bool drained;

	MELY_ASSERT(melyint_self == NULL || melyint_self->rt == rt);
	/* Else the deadline is that of an earlier stop. */
	MELY_ASSERT(MELY_PEEK(&rt->phase) >= MELYINT_DRAINING);
	drained = nothing_left(rt);
	if (!drained && !(until != 0 && melyint_now_ns() >= until))
		return;
	if (drained)
		MELY_STORE(&rt->life.drained, true, relaxed); /* published by the phase */
	/* release: pairs with the acquire loads of the cores */
	if (MELY_CAS(&rt->phase, &draining, MELYINT_STOPPED, release))
		melyint_wake_all(rt);
}
