/* SPDX-License-Identifier: MIT */
/*
 * closing.c: closing a color, and the handlers that run when a drain begins, so that a server can
 * close what is idle. A registration for the second is a record like a watcher's, with nothing in
 * the kernel behind it: the walk that stops all watchers posts its event instead (state.c).
 */
#include <errno.h>

#include "base/assert.h"
#include "core/hooks.h"
#include "io/kinds.h"
#include "io/slots.h"
#include "io/state.h"
#include "io/watch.h"
#include "sched/post.h"

/* ---- when a drain begins --------------------------------------------------------------------- */

/* The trampoline. */
static void
run(void *arg)
{
	struct melyint_watch *w = arg;

	if (!melyint_watch_enter(w))
		return;
	MELY_DEBUG_ASSERT(w->kind == MELYINT_KIND_DRAIN && melyint_lock_held(&w->own));
	melyint_lock_drop(&w->own);
	melyint_run_watcher(w, w->fn, w->arg);
	melyint_watch_guard(w);
	if (!melyint_watch_leave(w))
		return;
	w->stopped = true; /* once only */
	MELY_ASSERT(w->refs == 0); /* the drop frees it */
	melyint_watch_drop(w);
}

int
mely_drain_watch(struct mely_color *color, struct mely_handler *handler, void *arg,
    mely_watch *watch)
{
	struct melyint_watch_ask ask = {.kind = MELYINT_KIND_DRAIN, .color = color,
	    .handler = handler, .arg = arg, .trampoline = run};
	struct melyint_watch *w;
	int r;

	if (color == NULL || handler == NULL || handler->fn == NULL)
		return -EINVAL;
	r = melyint_io_usable(mely_color_runtime(color));
	if (r == 0)
		r = melyint_watch_new(mely_color_runtime(color)->io, &ask, &w);
	if (r < 0)
		return r;
	MELY_DEBUG_ASSERT(w->stage == MELYINT_STAGE_REST && melyint_lock_held(&w->own));
	if (watch != NULL)
		*watch = melyint_watch_id(w);
	melyint_watch_drop(w);
	return 0;
}

/* ---- closing a color ------------------------------------------------------------------------- */

static void
end_one(void *arg, mely_watch id)
{
	struct melyint_watch *w = melyint_watch_hold(arg, id);

	if (w == NULL)
		return;
	MELY_DEBUG_ASSERT(w->io == arg);
	if (!w->stopped) {
		(void)melyint_stop_kind(w, id, NULL, NULL);
		return;
	}
	/* A stop of the runtime has left the timer in its loop until the end of the run. */
	if (w->kind == MELYINT_KIND_TIMER)
		melyint_timer_settle(w);
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && w->stopped);
	melyint_watch_drop(w);
}

int
mely_color_close(struct mely_color *color, struct mely_event *closed)
{
	struct mely_runtime *rt;
	int r;

	if (color == NULL || closed == NULL)
		return -EINVAL;
	rt = mely_color_runtime(color);
	r = melyint_io_unforked(rt);
	if (r == 0 && mely_event_pending(closed))
		r = -EALREADY;
	/* From here on nothing new is accepted, so that what follows meets all there is. */
	if (r == 0)
		r = melyint_watches_await(rt->io, color, closed);
	if (r == -ENOENT)
		return melyint_post(color, closed, MELYINT_POST_INTERNAL);
	if (r == 0)
		melyint_watches_of_color(rt->io, color, end_one, rt->io);
	return r;
}
