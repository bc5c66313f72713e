/* SPDX-License-Identifier: MIT */
/* operation_timer.c: operations with timers; see operation.c. */
#include "world.h"

#include <errno.h>

void
world_do_timer_start(const struct doer *doer, const struct op *op)
{
	struct world_color *wc = &world.color[op->color];
	struct world_timer *wt = &world.timer[op->item];
	const struct program *p = world.program;
	uint64_t repeat_ns = op->value % 3 == 0 ? 1000 + op->value : 0;
	uint32_t mark = world_open_mark(wc);
	struct mely_color *color;
	mely_watch id;
	int error;

	(void)doer;
	if (wt->started || wt->busy || wt->running || wt->done_out || wc->released || wc->freed)
		return;
	wt->busy = true;
	wc->held++;
	color = world_color_of(wc);
	wt->color = op->color;
	wt->closes = wc->closes;
	wt->ran = 0;
	wt->pushed = wt->exact = false;
	wt->repeats = repeat_ns != 0;
	wt->started = true;
	wt->due_ps = (sim_now_ps() / 1000 + op->value) * 1000;
	wt->awaited = true;
	wt->late_ps = wt->due_ps;
	error = mely_timer_start(color, op->value, repeat_ns, 0,
	    &world.handler[HANDLER_TIMER][p->script[p->timer_script[op->item]].handler], wt, &id);
	wt->busy = false;
	if (error == 0) {
		/* The library read the time at some point of the call: take the latest. */
		wt->late_ps = (sim_now_ps() / 1000 + op->value) * 1000;
		wt->id = id;
		if (!world_open_since(wc, mark)) {
			wt->closes = wc->closes;
			wt->pushed = true;
			wt->awaited = false;
		}
		return;
	}
	wt->started = false;
	if (error != -ESHUTDOWN ||
	    (!world_runtime_of(wc)->stopping && world_open_since(wc, mark)))
		sim_fail("mely_timer_start: error %d", error);
}

/* Suspend the timer and resume it at once: the library must not lose an expiration. */
static void
suspend(struct world_timer *wt)
{
	struct mely_runtime *rt = world.color[wt->color].rt;
	uint64_t now_ps;

	wt->busy = true;
	if (mely_watch_enable(rt, wt->id, 0) == 0)
		(void)mely_watch_enable(rt, wt->id, 1);
	check_left();
	now_ps = sim_now_ps();
	if (wt->late_ps < now_ps)
		wt->late_ps = now_ps;
	wt->busy = false;
}

void
world_do_timer_again(const struct doer *doer, const struct op *op)
{
	struct world_timer *wt = &world.timer[op->item];
	const struct world_color *wc = &world.color[wt->color];
	uint32_t mark = world_open_mark(wc);

	if (!wt->started || wt->busy || wt->id == 0)
		return;
	if (op->value % 5 == 4) {
		suspend(wt);
		return;
	}
	wt->busy = true;
	wt->pushed = true;
	/* In a handler of its color no event is left for the old time. */
	wt->exact = doer->color == wt->color;
	wt->due_ps = (sim_now_ps() / 1000 + op->value) * 1000;
	wt->awaited = true;
	wt->late_ps = (sim_now_ps() / 1000 + op->value) * 1000;
	if (mely_timer_again(wc->rt, wt->id, op->value, wt->repeats ? 1000 + op->value : 0) != 0 ||
	    !world_open_since(wc, mark))
		wt->awaited = false;
	else
		wt->late_ps = (sim_now_ps() / 1000 + op->value) * 1000;
	check_left();
	wt->busy = false;
}

void
world_do_timer_stop(const struct doer *doer, struct world_timer *wt)
{
	struct world_color *wc = &world.color[wt->color];
	bool with_done = ++wt->stops % 2 != 0 && !wt->done_out && !doer->left;
	int error;

	if (!wt->started || wt->busy || wt->id == 0)
		return;
	wt->busy = true;
	if (with_done) {
		wt->done_out = true;
		error = mely_watch_stop(wc->rt, wt->id, world_color_of(wc), wt->done);
	} else {
		error = mely_watch_stop(wc->rt, wt->id, NULL, NULL);
	}
	check_left();
	wt->busy = false;
	if (with_done && error != -EINPROGRESS) {
		if (!wt->done_out)
			sim_fail("a stop of a timer says %d and posts its event", error);
		wt->done_out = false;
	}
	if (error == 0 || error == -EINPROGRESS) {
		if (error == 0 && wt->running && doer->color != wt->color)
			sim_fail("a timer was stopped exactly while its handler ran");
		wt->started = false;
		wt->id = 0;
	} else if (error == -ENOENT) {
		wt->started = wt->running;
	} else {
		sim_fail("mely_watch_stop: error %d", error);
	}
}

/* The event of a stop that came while the handler ran. */
void
world_stopped_handler(void *arg)
{
	struct world_timer *wt = arg;

	check_begin(wt->color, NULL);
	world_stopped_back(wt);
	check_end(wt->color);
}

void
world_stopped_back(struct world_timer *wt)
{
	if (!wt->done_out)
		sim_fail("a stopped timer says twice, or unasked, that it has ended");
	if (wt->running)
		sim_fail("a timer is said to have ended while its handler runs");
	wt->done_out = false;
}

void
world_timer_handler(void *arg)
{
	struct world_timer *wt = arg;
	struct doer doer = {wt->color, wt->color, false};

	if (wt->running)
		sim_fail("a timer's handler runs twice at once");
	if (!wt->started && !wt->busy)
		sim_fail("a timer runs although it was stopped");
	promise_watcher(wt->color);
	if ((!wt->pushed || wt->exact) && sim_now_ps() < wt->due_ps)
		sim_fail("a timer runs %llu ps early",
		    (unsigned long long)(wt->due_ps - sim_now_ps()));
	wt->running = true;
	wt->awaited = false;
	wt->ran++;
	check_begin(wt->color, NULL);
	world_script(world.program->timer_script[wt - world.timer], wt->color, wt->color);
	if (wt->repeats && wt->ran >= 3)
		world_do_timer_stop(&doer, wt);
	wt->running = false;
	if (!wt->repeats && !wt->busy && !wt->pushed)
		wt->started = false;
	check_end(wt->color);
}
