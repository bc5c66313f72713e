/* SPDX-License-Identifier: MIT */
/*
 * outbox.h: what a handler that posts to many colors of other cores has not delivered yet, so that
 * a row of posts takes another core's lock once. The protocol is NOTE(outbox) in outbox.c.
 */
#ifndef MELYINT_QUEUE_OUTBOX_H
#define MELYINT_QUEUE_OUTBOX_H

#include <mely/color.h>

#include "queue/evq.h"
#include "base/lock.h"

enum {
	MELYINT_OUTBOX = 64,      /* entries of the ring; a bit each in outbox.c */
	MELYINT_OUTBOX_FULL = 32, /* delivered when so many wait */
	MELYINT_OUTBOX_AFTER = 4  /* posts to other cores in one batch that open it */
};

struct melyint_outbox {
	/* owner; closed by whoever empties it */
	_Alignas(MELY_CACHE_LINE) _Atomic uint32_t tail; /* entries put in; owner */
	_Atomic bool open;
	uint32_t remote;          /* posts to other cores in this batch; owner */
	/* whoever empties it, under the lock */
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

/* Deliver what is in box's outbox. self: the calling core. */
void melyint_outbox_deliver(struct melyint_core *self, struct melyint_core *box);

/* Idle core: deliver what the others hold back. True: there was something. */
bool melyint_outbox_collect(struct melyint_core *self);

/* Any core but box: deliver what box holds back. True: there was something. */
bool melyint_outbox_collect_from(struct melyint_core *self, struct melyint_core *box);

/* What has been posted before is in its color-queue. self: the calling core or NULL. */
void melyint_outbox_deliver_all(struct mely_runtime *rt, struct melyint_core *self);

/* By the owner, or as a hint. */
MELY_INLINE bool
melyint_outbox_empty(const struct melyint_outbox *out)
{
	/* relaxed tail: the owner's own, or a hint; acquire head: what was delivered is queued */
	return MELY_LOAD(&out->tail, relaxed) == MELY_LOAD(&out->head, acquire);
}

#endif
