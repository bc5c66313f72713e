/* SPDX-License-Identifier: MIT */
/*
 * event.c: handlers, embedded events and join counters. Any thread.
 */
#include <errno.h>
#include <string.h>

#include "color/misuse.h"
#include "core/handlers.h"
#include "sched/post.h"

void
mely_handler_init(struct mely_handler *handler, void (*fn)(void *arg), const char *name)
{
	if (handler == NULL)
		return;
	memset(handler, 0, sizeof *handler);
	handler->fn = fn;
	handler->name = name;
}

void
mely_event_init(struct mely_event *ev, struct mely_handler *handler, void *arg)
{
	if (ev == NULL)
		return;
	melyint_examine_init(ev);
	ev->_next = ev->_prev = NULL;
	ev->_handler = handler != NULL ? handler : &melyint_no_handler;
	ev->_arg = arg;
	ev->_time = 0;
	ev->_flags = 0;
	/* relaxed, both: the event is not queued, so no other thread uses it */
	MELY_STORE(&ev->_color, NULL, relaxed);
	MELY_STORE(&ev->_state, MELYINT_EV_IDLE, relaxed);
}

void
mely_event_set_time(struct mely_event *ev, uint32_t time_ns)
{
	melyint_examine_event(__func__, ev);
	if (ev == NULL)
		return;
	/* A queued event keeps its weight in _time: A of NOTE(weight). relaxed: the caller must not
	 * let another thread post it meanwhile */
	if (MELY_LOAD(&ev->_state, relaxed) != MELYINT_EV_IDLE)
		return;
	ev->_time = time_ns;
	ev->_flags = time_ns != 0 ? MELYINT_EV_TIMED : 0;
}

int
mely_event_pending(const struct mely_event *ev)
{
	melyint_examine_event(__func__, ev);
	return ev != NULL && MELY_LOAD(&ev->_state, relaxed) != MELYINT_EV_IDLE; /* a hint */
}

int
mely_join_init(struct mely_join *join, uint32_t count, struct mely_color *color,
    struct mely_event *ev)
{
	if (join == NULL || count == 0 || color == NULL || ev == NULL)
		return -EINVAL;
	melyint_color_hold(color);
	join->_color = color;
	join->_event = ev;
	/* release: pairs with the acquire of the parties' subtractions */
	MELY_STORE(&join->_left, count, release);
	return 0;
}

void
mely_join_add(struct mely_join *join, uint32_t count)
{
	if (join == NULL)
		return;
	/* relaxed: the caller holds one count, so the last report comes after this */
	MELY_ADD(&join->_left, count, relaxed);
}

int
mely_join_done(struct mely_join *join)
{
	int error;

	if (join == NULL)
		return -EINVAL;
	melyint_check_promise(join->_event);
	/* acq_rel: release what this party did; the last one acquires what all did */
	if (MELY_SUB(&join->_left, 1, acq_rel) != 1)
		return 0;
	melyint_examine_color(__func__, join->_color);
	melyint_examine_event(__func__, join->_event);
	error = melyint_post(join->_color, join->_event, MELYINT_POST_INTERNAL);
	return error == 0 ? 1 : error;
}
