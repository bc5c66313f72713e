/* SPDX-License-Identifier: MIT */
/*
 * grace.h: grace periods. A core uses what it has found without a lock until its turn ends at the
 * latest; any other thread counts itself in a word as long as it uses something. So memory that was
 * unlinked is unused once every core has passed a turn, or was seen asleep or without a thread, and
 * the count was 0 once. A core in a long handler makes that last.
 */
#ifndef MELYINT_CORE_GRACE_H
#define MELYINT_CORE_GRACE_H

#include "core/core.h"

/* Zero when the period begins. Of one thread. */
struct melyint_grace {
	int core;       /* the cores before this one have passed */
	bool looked;    /* at this core, whose turns were ... */
	uint64_t turns; /* ... these */
};

/* Has the period passed? If not, ask again a little later. readers counts the other threads. Any
 * thread that is not a core of rt and holds no lock of a core. */
bool melyint_grace_passed(struct mely_runtime *rt, struct melyint_grace *grace,
    _Atomic uint32_t *readers);

#endif
