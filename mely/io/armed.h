/* SPDX-License-Identifier: MIT */
/*
 * armed.h: the armed timers of a poller, as a heap: the first one is due first. All of it is under
 * the poller's hold.
 */
#ifndef MELYINT_IO_ARMED_H
#define MELYINT_IO_ARMED_H

#include "io/poller.h"
#include "io/watch.h"

/* Add a timer that is due at armed_ns, which stays until it is removed. Needs no memory. */
void melyint_armed_add(struct melyint_poller *p, struct melyint_watch *w);
void melyint_armed_remove(struct melyint_poller *p, struct melyint_watch *w);

/* When the first timer is due; UINT64_MAX: none is armed. */
MELY_INLINE uint64_t
melyint_armed_first_ns(const struct melyint_poller *p)
{
	MELY_DEBUG_ASSERT((p->first == NULL) == (p->armed == 0));
	return p->first != NULL ? p->first->u.timer.armed_ns : UINT64_MAX;
}

#endif
