/* SPDX-License-Identifier: MIT */
/*
 * outbox.h: the outbox of a core, a ring of posts to colors of other cores that are not delivered
 * yet. A handler that posts a row of events to another core thus takes that core's lock once.
 * NOTE(outbox) in sched/outbox.c is the protocol; that file defines the functions.
 */
#ifndef MELYINT_QUEUE_OUTBOX_H
#define MELYINT_QUEUE_OUTBOX_H

#include <mely/color.h>

#include "queue/evq.h"
#include "base/lock.h"

enum {
	MELYINT_OUTBOX = 64,      /* entries of the ring; a bit each in outbox.c */
	MELYINT_OUTBOX_FULL = 32, /* struct melyint_limits, outside of the simulation */
	MELYINT_OUTBOX_AFTER = 4  /* as above */
};

struct melyint_outbox {
	/* owner; the core that empties the outbox closes it */
	_Alignas(MELY_CACHE_LINE) _Atomic uint32_t tail; /* entries put in; owner */
	_Atomic bool open;
	uint32_t remote;          /* posts to other cores in this batch; owner */
	/* the core that empties it, under the lock */
	_Alignas(MELY_CACHE_LINE) _Atomic uint32_t head; /* entries delivered */
	struct melyint_lock lock;
	/* written by the owner at tail, read under the lock */
	struct {
		struct mely_color *color;
		struct mely_event *ev;
	} ring[MELYINT_OUTBOX];
};

struct melyint_core;
struct mely_runtime;

/* Deliver the posts in box's outbox. self: the calling core. */
void melyint_outbox_deliver(struct melyint_core *self, struct melyint_core *box);

/* Idle core: deliver the posts in all other outboxes. True: there were some. */
bool melyint_outbox_collect(struct melyint_core *self);

/* Any core but box: deliver the posts in box's outbox. True: there were some. */
bool melyint_outbox_collect_from(struct melyint_core *self, struct melyint_core *box);

/* Deliver every post made before this call. self: the calling core or NULL. */
void melyint_outbox_deliver_all(struct mely_runtime *rt, struct melyint_core *self);

/* The entries that wait, for assertions of the owner and under the lock. */
MELY_INLINE uint32_t
melyint_outbox_length(const struct melyint_outbox *out)
{
	return MELY_PEEK(&out->tail) - MELY_PEEK(&out->head);
}

/* Exact for the owner; a hint for other threads. */
MELY_INLINE bool
melyint_outbox_empty(const struct melyint_outbox *out)
{
	/* relaxed tail: the caller owns it, or a hint; acquire head: delivered posts are queued */
	return MELY_LOAD(&out->tail, relaxed) == MELY_LOAD(&out->head, acquire);
}

#endif
