/* SPDX-License-Identifier: MIT */
/*
 * upcalls.h: what rooms below the scheduler ask of it. A seam: room sched defines the functions.
 */
#ifndef MELYINT_CORE_UPCALLS_H
#define MELYINT_CORE_UPCALLS_H

#include "core/core.h"

/* Flags of a post. */
enum {
	MELYINT_POST_HEAD = 1,
	/* The library's own post: never refused at a high-water mark or while the runtime stops. */
	MELYINT_POST_INTERNAL = 2,
	/* A poller has found a descriptor ready: the color may be lent. */
	MELYINT_POST_READY = 4
};

/* Post an embedded event to a color. Any thread. Errors as mely_event_post. */
int melyint_post(struct mely_color *color, struct mely_event *ev, unsigned flags);

/* Under core->lock: if core sleeps, mark it awake. True: the caller owes it melyint_wake_finish
 * after it has dropped the lock. */
bool melyint_wake_locked(struct melyint_core *core);
void melyint_wake_finish(struct melyint_core *self, struct melyint_core *core);

/* Work waits on core, which is busy: wake a sleeper to take it, if that pays. self: the calling
 * core or NULL. No lock held. */
void melyint_offer(struct melyint_core *self, struct melyint_core *core);

#endif
