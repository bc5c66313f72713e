/* SPDX-License-Identifier: MIT */
/*
 * closing.c: handlers that run when a drain begins, in the colors that asked for it, so that a
 * server can close what is idle. A registration is a record like a watcher's, which nothing in the
 * kernel stands behind: the walk that stops all watchers posts its event instead (state.c).
 */
#include <errno.h>

#include "base/assert.h"
#include "check/check.h"
#include "io/state.h"
#include "io/watch.h"

/* The trampoline. */
static void
run(void *arg)
{
	struct melyint_watch *w = arg;

	if (!melyint_watch_enter(w))
		return;
	melyint_lock_drop(&w->own);
	melyint_check_watch_call(w);
	melyint_watch_guard(w);
	if (!melyint_watch_leave(w))
		return;
	w->stopped = true; /* once only */
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
	if (watch != NULL)
		*watch = melyint_watch_id(w);
	melyint_watch_drop(w);
	return 0;
}
