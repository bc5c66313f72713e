/* SPDX-License-Identifier: MIT */
/*
 * control.c: what a program does to a watcher, whatever its kind: stop it, suspend it, resume it.
 */
#include <errno.h>

#include "base/assert.h"
#include "core/hooks.h"
#include "io/kinds.h"
#include "io/slots.h"
#include "sched/post.h"

int
melyint_stop_kind(struct melyint_watch *w, mely_watch id, struct mely_color *done_color,
    struct mely_event *done)
{
	struct melyint_io *io = w->io;
	int r;

	MELY_DEBUG_ASSERT(!w->stopped && melyint_watch_id(w) == id);
	switch (w->kind) {
	case MELYINT_KIND_FD:
	case MELYINT_KIND_CHILD:
		return melyint_fd_stop(w, done_color, done);
	case MELYINT_KIND_TIMER:
		return melyint_timer_stop(w, done_color, done);
	case MELYINT_KIND_SIGNAL:
		melyint_watch_drop(w); /* the lock of the signals comes before the guard */
		return melyint_signal_stop(io, id, done_color, done);
	case MELYINT_KIND_DRAIN:
		r = melyint_watch_stop(w, done_color, done);
		melyint_watch_drop(w);
		return r;
	default:
		MELY_ASSERT(w->kind == MELYINT_KIND_WORK);
		return melyint_work_stop(w, done_color, done);
	}
}

static int
stop(struct melyint_io *io, mely_watch id, struct mely_color *done_color, struct mely_event *done)
{
	struct melyint_watch *w = melyint_watch_hold(io, id);
	int r;

	if (w == NULL)
		return -ENOENT;
	MELY_DEBUG_ASSERT(w->io == io);
	if (!w->stopped)
		return melyint_stop_kind(w, id, done_color, done);
	r = melyint_watch_stop_late(w, done_color, done);
	melyint_watch_drop(w);
	return r;
}

int
mely_watch_stop(struct mely_runtime *rt, mely_watch id, struct mely_color *done_color,
    struct mely_event *done)
{
	int r = melyint_io_unforked(rt);

	if (r == 0 && done != NULL && done_color == NULL)
		r = -EINVAL;
	return r < 0 ? r : stop(rt->io, id, done_color, done);
}

/* Under the guard, not stopped. */
static int
enable(struct melyint_watch *w, bool on)
{
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && !w->stopped);
	switch (w->kind) {
	case MELYINT_KIND_FD:
	case MELYINT_KIND_CHILD:
		return melyint_fd_enable(w, on);
	case MELYINT_KIND_TIMER:
		melyint_timer_enable(w, on);
		return 0;
	case MELYINT_KIND_SIGNAL:
		melyint_signal_enable(w, on);
		return 0;
	default:
		MELY_ASSERT(w->kind == MELYINT_KIND_WORK || w->kind == MELYINT_KIND_DRAIN);
		return -EINVAL; /* fn takes its time, whatever the color does */
	}
}

int
mely_watch_enable(struct mely_runtime *rt, mely_watch id, int on)
{
	int r = melyint_io_unforked(rt);
	struct melyint_watch *w;

	if (r < 0)
		return r;
	w = melyint_watch_hold(rt->io, id);
	if (w == NULL)
		return -ENOENT;
	r = w->stopped ? -ENOENT : enable(w, on != 0);
	/* enable may have let go of it. */
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && w->io == rt->io);
	melyint_watch_drop(w);
	return r;
}

/* ---- all of one color ------------------------------------------------------------------------ */

void
melyint_watches_of_color(struct melyint_io *io, struct mely_color *color,
    void (*fn)(void *arg, mely_watch id), void *arg)
{
	struct mely_event *ended = melyint_slots_each(&io->slots, color, fn, arg);

	MELY_DEBUG_ASSERT(mely_color_runtime(color) == io->rt);
	if (ended != NULL)
		(void)melyint_post(color, ended, MELYINT_POST_INTERNAL);
}

static void
stop_one(void *io, mely_watch id)
{
	(void)stop(io, id, NULL, NULL);
}

void
melyint_watches_stop_all(struct melyint_io *io, struct mely_color *color)
{
	melyint_watches_of_color(io, color, stop_one, io);
}

int
melyint_watches_await(struct melyint_io *io, struct mely_color *color, struct mely_event *ended)
{
	MELY_DEBUG_ASSERT(mely_color_runtime(color) == io->rt);
	melyint_check_promise(ended);
	return melyint_slots_await(&io->slots, color, ended);
}
