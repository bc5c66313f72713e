/* SPDX-License-Identifier: MIT */
/*
 * wake.h: wake-ups: NOTE(park) in park.c. core/upcalls.h declares the others, for rooms below.
 */
#ifndef MELYINT_SCHED_WAKE_H
#define MELYINT_SCHED_WAKE_H

#include "base/assert.h"
#include "core/core.h"
#include "core/upcalls.h"

/* Like melyint_offer, for work that waits behind a batch that begins now. */
void melyint_offer_behind(struct melyint_core *self, struct melyint_core *core);

/* Wake every core of rt that sleeps. Any thread. */
void melyint_wake_all(struct mely_runtime *rt);

/* Every change of core->locked.sleep. Under core->lock. */
MELY_INLINE void
melyint_set_sleep(struct melyint_core *core, uint8_t to)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock));
	MELY_DEBUG_ASSERT((MELY_PEEK(&core->locked.sleep) == MELYINT_AWAKE) !=
	    (to == MELYINT_AWAKE) || (to == MELYINT_SENTRY &&
	    MELY_PEEK(&core->locked.sleep) == MELYINT_ASLEEP));
	MELY_DEBUG_ASSERT(to == MELYINT_AWAKE || core->ready.length == 0);
	MELY_DEBUG_ASSERT(to != MELYINT_OUTSIDE || core->index == 0);
	MELY_STORE(&core->locked.sleep, to, relaxed); /* under the lock */
}

#endif
