/* SPDX-License-Identifier: MIT */
/*
 * eventmem.h: memory for the events of pools: cache lines cut from blocks of pages, so that an
 * event costs 64 bytes, and a block whose events are all free goes back to the system. An event may
 * be freed in another runtime than it was made in: the blocks belong to the process. Any thread; no
 * other lock is taken under the locks of this file.
 *
 * With a sanitizer and in the simulation, which watch each event, events come from malloc.
 */
#ifndef MELYINT_QUEUE_EVENTMEM_H
#define MELYINT_QUEUE_EVENTMEM_H

#include <mely/event.h>

#include "base/compiler.h"

#if (defined(MELYINT_SIM) || defined(MELYINT_ASAN) || defined(MELYINT_TSAN) || \
    defined(MELYINT_COLOR_CHECK)) && !defined(MELYINT_EVENTS_CUT) /* its unit test */
#define MELYINT_EVENTS_WATCHED 1
#endif

/* Store up to n new events in to. Returns how many: fewer than n when memory runs out. */
uint32_t melyint_events_new(struct mely_event **to, uint32_t n);
/* Free n events. */
void melyint_events_free(struct mely_event *const *events, uint32_t n);
/* Give the empty blocks that are kept for reuse back to the system. Returns the bytes. */
size_t melyint_events_trim(void);

/* A count that rises with each call of melyint_events_free. */
uint64_t melyint_events_freed(void);

/* Around a fork: take and drop all locks of this file. */
void melyint_events_lock(void);
void melyint_events_unlock(void);

MELY_INLINE void
melyint_event_free(struct mely_event *ev)
{
	melyint_events_free(&ev, 1);
}

#endif
