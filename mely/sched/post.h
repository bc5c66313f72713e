/* SPDX-License-Identifier: MIT */
/*
 * post.h: posting from inside the library.
 */
#ifndef MELYINT_SCHED_POST_H
#define MELYINT_SCHED_POST_H

#include "core/core.h"

enum {
	MELYINT_POST_HEAD = 1,
	/* Not the program's post: never refused at a high-water mark nor while stopping. */
	MELYINT_POST_INTERNAL = 2
};

/* What became of melyint_append_locked. */
enum {
	MELYINT_APPEND_QUEUED,
	/* The color was idle and is in the core-queue now, or has become worth more to a
	 * thief: the owner may need help (melyint_offer). */
	MELYINT_APPEND_LINKED,
	MELYINT_APPEND_DEAD,   /* nothing done: the color was given back */
	MELYINT_APPEND_RELEASED /* nothing done: the program misused a released color */
};

/* Append a claimed or pooled event to a color. Under the lock of owner, who owns the color. */
int melyint_append_locked(struct melyint_core *owner, struct mely_color *color,
    struct mely_event *ev, unsigned flags);

/* Take a QUEUED event out of its color. Under the lock of owner, who owns the color. True: that was
 * the last one, and the color is idle now. */
bool melyint_remove_locked(struct melyint_core *owner, struct mely_color *color,
    struct mely_event *ev);

/* Post an embedded event to a color. Any thread. Errors as mely_event_post. */
int melyint_post(struct mely_color *color, struct mely_event *ev, unsigned flags);

#endif
