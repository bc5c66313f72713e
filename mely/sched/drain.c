/* SPDX-License-Identifier: MIT */
/*
 * drain.c: finding out that nothing is left to run. Any core's thread.
 *
 * All core locks are held at once, in the order of the cores, the only place where more than one
 * is. A core that takes a batch, its own or a stolen one, does so under some core's lock, and so
 * does one that pulls colors, and any thread that pins one; so what is seen under all of them is a
 * true cut: no color waits, no batch runs, none is on its way from core to core. Nothing can come
 * after it but from helper threads, whose work is counted by the I/O half, and from outside, who
 * are refused.
 */
#include "base/clock.h"
#include "sched/drain.h"
#include "io/state.h"
#include "sched/park.h"

static bool
nothing_left(struct mely_runtime *rt)
{
	bool empty;
	int i;

	for (i = 0; i < rt->cores_count; i++)
		melyint_lock_take(&rt->cores[i].lock);
	/* Under the locks: before, a handler could still have asked for helper work, and a
	 * completion that is posted after this look had not been counted down. */
	empty = melyint_io_pending(rt) == 0 && MELY_LOAD(&rt->flow.arriving, relaxed) == 0;
	for (i = 0; i < rt->cores_count && empty; i++) {
		const struct melyint_core *core = &rt->cores[i];

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
	/* relaxed: set before the phase that brought us here */
	uint64_t until = MELY_LOAD(&rt->life.drain_until_ns, relaxed);
	int draining = MELYINT_DRAINING;

	bool drained = nothing_left(rt);

	if (!drained && !(until != 0 && melyint_now_ns() >= until))
		return;
	if (drained)
		MELY_STORE(&rt->life.drained, true, relaxed); /* published by the phase */
	/* release: pairs with the acquire loads of the cores */
	if (MELY_CAS(&rt->phase, &draining, MELYINT_STOPPED, release))
		melyint_wake_all(rt);
}
