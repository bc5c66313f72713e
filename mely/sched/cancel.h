/* SPDX-License-Identifier: MIT */
/*
 * cancel.h: cancels inside the library: NOTE(cancel) in cancel.c.
 */
#ifndef MELYINT_SCHED_CANCEL_H
#define MELYINT_SCHED_CANCEL_H

#include "core/core.h"

/* As mely_event_cancel, but an event that another core has taken stays as it is: it will run. Any
 * thread. */
int melyint_cancel_queued(struct mely_event *ev);

/* Owner, no lock held: post the completions that waited for the end of a batch. */
void melyint_cancel_complete(struct mely_event *waiters);

#endif
