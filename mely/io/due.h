/* SPDX-License-Identifier: MIT */
/*
 * due.h: the times of the timers of a core whose thread waits in the program's own loop, where
 * libev cannot wait for them. The protocol is NOTE(outside) in sched/park.c.
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

/* Holding the poller, which keeps times: the loop has armed the timer, or no longer has it. */
void melyint_due_add(struct melyint_poller *p, struct melyint_watch *w);
void melyint_due_remove(struct melyint_poller *p, struct melyint_watch *w);
/* Nothing running. */
void melyint_due_free(struct melyint_poller *p);

#endif
