/* SPDX-License-Identifier: MIT */
/*
 * calls.c: the public calls that post, but for the fastest three, which each scheduler has beside
 * its queue (post.c, fifo/post.c). Any thread.
 */
#include "base/assert.h"
#include "color/misuse.h"
#include "color/names_marks.h"
#include "color/table.h"
#include "sched/post.h"

int
melyint_post_mark(struct melyint_core *self, struct mely_color *color, struct mely_event *ev)
{
	MELY_DEBUG_ASSERT(self == NULL || self == melyint_self);
	MELY_DEBUG_ASSERT(!(ev->_flags & MELYINT_EV_COUNTED)); /* a post counts once */
	if (melyint_mark_admit(color)) {
		ev->_flags |= MELYINT_EV_COUNTED;
		return 0;
	}
	if (self != NULL)
		MELY_COUNT(&self->counters.refused, 1);
	else
		/* relaxed: a count */
		MELY_ADD(&mely_color_runtime(color)->outside.refused, 1, relaxed);
	return -EAGAIN;
}

void
melyint_post_unmark(struct mely_color *color, struct mely_event *ev)
{
	if (!(ev->_flags & MELYINT_EV_COUNTED))
		return;
	ev->_flags &= (uint16_t)~MELYINT_EV_COUNTED;
	melyint_mark_ran(color);
}

/* ---- pooled events --------------------------------------------------------------------------- */

int
melyint_post_id_slow(struct melyint_core *self, struct mely_runtime *rt, uint32_t id,
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
		MELY_DEBUG_ASSERT(color->_id == id); /* two ids never share a color */
		error = melyint_post_pooled(self, color, handler, arg, 0, flags);
		melyint_colortab_leave(rt, self);
	} while (MELY_UNLIKELY(error == -ESTALE) && melyint_colortab_settle(rt));
	return error;
}

int
mely_post_head_id(struct mely_runtime *rt, uint32_t id, struct mely_handler *handler, void *arg)
{
	return melyint_post_id_slow(melyint_self, rt, id, handler, arg, MELYINT_POST_HEAD);
}

int
mely_post_head(struct mely_color *color, struct mely_handler *handler, void *arg)
{
	melyint_examine_color(__func__, color);
	melyint_examine_handler(__func__, handler);
	if (MELY_UNLIKELY(color == NULL || handler == NULL))
		return -EINVAL;
	return melyint_post_pooled(melyint_self, color, handler, arg, 0, MELYINT_POST_HEAD);
}

int
mely_post_timed(struct mely_color *color, struct mely_handler *handler, void *arg,
    uint32_t time_ns)
{
	melyint_examine_color(__func__, color);
	melyint_examine_handler(__func__, handler);
	if (MELY_UNLIKELY(color == NULL || handler == NULL))
		return -EINVAL;
	return melyint_post_pooled(melyint_self, color, handler, arg, time_ns, 0);
}

/* ---- embedded events ------------------------------------------------------------------------- */

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
		return melyint_post(self->batch.color, ev, 0);
	do {
		error = melyint_colortab_enter(rt, self, id, &color);
		if (error != 0)
			return error;
		MELY_DEBUG_ASSERT(color->_id == id); /* two ids never share a color */
		error = melyint_post(color, ev, 0);
		melyint_colortab_leave(rt, self);
	} while (MELY_UNLIKELY(error == -ESTALE) && melyint_colortab_settle(rt));
	return error;
}
