/* SPDX-License-Identifier: MIT */
/*
 * grace.c: how much of a grace period has passed.
 */
#include "base/assert.h"
#include "core/grace.h"

/* Has the core passed a turn since it was first looked at? */
static bool
core_passed(struct melyint_core *core, struct melyint_grace *grace)
{
	uint64_t turns;
	bool quiet;

	melyint_lock_take(&core->lock);
	/* relaxed: under the lock */
	quiet = !core->locked.attended ||
	    MELY_LOAD(&core->locked.sleep, relaxed) != MELYINT_AWAKE;
	turns = core->locked.turns;
	melyint_lock_drop(&core->lock);
	MELY_DEBUG_ASSERT(!grace->looked || turns >= grace->turns);
	if (quiet || (grace->looked && turns != grace->turns))
		return true;
	grace->looked = true;
	grace->turns = turns;
	return false;
}

bool
melyint_grace_passed(struct mely_runtime *rt, struct melyint_grace *grace,
    _Atomic uint32_t *readers)
{
	MELY_ASSERT(melyint_self == NULL || melyint_self->rt != rt); /* would wait for itself */
	for (; grace->core < rt->cores_count; grace->core++) {
		if (!core_passed(&rt->cores[grace->core], grace))
			return false;
		grace->looked = false;
	}
	/* acq_rel: pairs with the additions and subtractions of the readers */
	return MELY_ADD(readers, 0, acq_rel) == 0;
}
