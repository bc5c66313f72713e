/* SPDX-License-Identifier: MIT */
/*
 * post_calls.h: the public calls that post, but for mely_post_id, which each scheduler does in its own
 * way. Included once, as post_rules.h, below its post_pooled.
 */
#ifndef MELYINT_SCHED_POST_CALLS_H
#define MELYINT_SCHED_POST_CALLS_H

#include <errno.h>

#include "color/misuse.h"
#include "color/table.h"
#include "sched/post.h"

static MELY_NOINLINE int
post_id_slow(struct melyint_core *self, struct mely_runtime *rt, uint32_t id,
    struct mely_handler *handler, void *arg, unsigned flags)
{
	struct mely_color *color;
	int error;

	melyint_examine_runtime("mely_post_id", rt);
	melyint_examine_handler("mely_post_id", handler);
	if (rt == NULL || handler == NULL)
		return -EINVAL;
	do {
		error = melyint_colortab_enter(rt, self, id, &color);
		if (error != 0)
			return error;
		error = post_pooled(self, color, handler, arg, 0, flags);
		melyint_colortab_leave(rt, self);
	} while (MELY_UNLIKELY(error == -ESTALE) && melyint_colortab_settle(rt));
	return error;
}

int
mely_post_head_id(struct mely_runtime *rt, uint32_t id, struct mely_handler *handler, void *arg)
{
	return post_id_slow(melyint_self, rt, id, handler, arg, MELYINT_POST_HEAD);
}

int
mely_post(struct mely_color *color, struct mely_handler *handler, void *arg)
{
	melyint_examine_color(__func__, color);
	melyint_examine_handler(__func__, handler);
	if (MELY_UNLIKELY(color == NULL || handler == NULL))
		return -EINVAL;
	return post_pooled(melyint_self, color, handler, arg, 0, 0);
}

int
mely_post_head(struct mely_color *color, struct mely_handler *handler, void *arg)
{
	melyint_examine_color(__func__, color);
	melyint_examine_handler(__func__, handler);
	if (MELY_UNLIKELY(color == NULL || handler == NULL))
		return -EINVAL;
	return post_pooled(melyint_self, color, handler, arg, 0, MELYINT_POST_HEAD);
}

int
mely_post_timed(struct mely_color *color, struct mely_handler *handler, void *arg,
    uint32_t time_ns)
{
	melyint_examine_color(__func__, color);
	melyint_examine_handler(__func__, handler);
	if (MELY_UNLIKELY(color == NULL || handler == NULL))
		return -EINVAL;
	return post_pooled(melyint_self, color, handler, arg, time_ns, 0);
}

/* ---- embedded events ------------------------------------------------------------------------ */

int
mely_event_post(struct mely_color *color, struct mely_event *ev)
{
	melyint_examine_color(__func__, color);
	melyint_examine_event(__func__, ev);
	if (MELY_UNLIKELY(color == NULL || ev == NULL))
		return -EINVAL;
	return melyint_post(color, ev, 0);
}

int
mely_event_post_head(struct mely_color *color, struct mely_event *ev)
{
	melyint_examine_color(__func__, color);
	melyint_examine_event(__func__, ev);
	if (MELY_UNLIKELY(color == NULL || ev == NULL))
		return -EINVAL;
	return melyint_post(color, ev, MELYINT_POST_HEAD);
}

int
mely_event_post_id(struct mely_runtime *rt, uint32_t id, struct mely_event *ev)
{
	struct melyint_core *self = melyint_self;
	struct mely_color *color;
	int error;

	melyint_examine_runtime(__func__, rt);
	melyint_examine_event(__func__, ev);
	if (MELY_UNLIKELY(rt == NULL || ev == NULL))
		return -EINVAL;
	if (self != NULL && self->batch.color_id == id && self->rt == rt)
		return melyint_post(mely_current_color(), ev, 0); /* held, as in append */
	do {
		error = melyint_colortab_enter(rt, self, id, &color);
		if (error != 0)
			return error;
		error = melyint_post(color, ev, 0);
		melyint_colortab_leave(rt, self);
	} while (MELY_UNLIKELY(error == -ESTALE) && melyint_colortab_settle(rt));
	return error;
}

#endif
