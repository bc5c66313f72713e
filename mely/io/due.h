/* SPDX-License-Identifier: MIT */
/*
 * due.h: a descriptor for the timers of a core whose thread waits in the program's own loop. The
 * protocol is NOTE(outside) in sched/park.c.
 */
#ifndef MELYINT_IO_DUE_H
#define MELYINT_IO_DUE_H

#include "io/poller.h"
#include "io/watch.h"

/*
 * Core 0's thread, in no handler: from now on the poller's set becomes readable whenever the
 * program's loop is to make a pass; it is readable now. 0, -ENOMEM or what the system said.
 */
int melyint_due_open(struct melyint_core *core);
/* Any thread: when the set becomes readable though nothing comes; UINT64_MAX: never. */
uint64_t melyint_due_at(struct melyint_core *core);

/* Holding the poller: a timer was armed. */
void melyint_due_armed(struct melyint_poller *p);
/* Nothing running. */
void melyint_due_free(struct melyint_poller *p);

#endif
