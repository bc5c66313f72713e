/* SPDX-License-Identifier: MIT */
/*
 * operation_close.c: the operation that closes a color, and what mely_color_close promises: its
 * event runs once, after all handlers and functions of what the call ends, and nothing that it has
 * ended runs later. A call of another thread that overlaps the close may come before it or after
 * it; of what such a call starts, nothing is expected. See operation.c.
 */
#include "world.h"

/* ---- overlaps -------------------------------------------------------------------------------- */

uint32_t
world_open_mark(const struct world_color *wc)
{
	return wc->closing ? 0 : wc->closes + 1;
}

bool
world_open_since(const struct world_color *wc, uint32_t mark)
{
	return mark == wc->closes + 1;
}

/* ---- what a close ends ----------------------------------------------------------------------- */

/* Its timers are no longer expected to expire. */
static void
await_no_timer(int color)
{
	int i;

	for (i = 0; i < world.program->timers; i++) {
		struct world_timer *wt = &world.timer[i];

		if (wt->started && wt->color == color) {
			wt->pushed = true;
			wt->awaited = false;
		}
	}
}

/* None of its watchers that were started before the close may run from now on. */
static void
end_watchers(int color)
{
	uint32_t closes = world.color[color].closes;
	int i;

	for (i = 0; i < world.program->timers; i++) {
		struct world_timer *wt = &world.timer[i];

		if (wt->started && !wt->busy && wt->color == color && wt->closes < closes) {
			wt->started = false;
			wt->id = 0;
		}
	}
	for (i = 0; i < PROGRAM_FDS; i++) {
		struct world_fd *wf = &world.fd[i];

		if (!wf->started || wf->color != color || wf->closes >= closes)
			continue;
		/* A call about it that runs now, to suspend it say, may find it or not. */
		if (wf->busy)
			wf->perhaps_closed = true;
		else
			wf->started = false;
	}
}

/* Its work that had begun has ended, its handler, too; no other work will begin. */
static void
end_work(int color)
{
	int i;

	for (i = 0; i < world.posts; i++) {
		struct post *post = &world.post[i];

		if (!post->work || post->color != color || post->state != POST_MADE ||
		    post->perhaps_dropped || post->closes >= world.color[color].closes)
			continue;
		if (post->work_begun)
			sim_fail("color %d is closed, its work %s", color, post->work_ended ?
			    "has ended and its handler has not run" : "runs");
		check_gone(post);
	}
}

/* ---- the call and its event ------------------------------------------------------------------ */

void
world_do_close(const struct doer *doer, const struct op *op)
{
	struct world_color *wc = &world.color[op->color];
	int error;

	if (wc->released || wc->freed || wc->closing)
		return;
	wc->closing = true;
	wc->close_inside = doer->color >= 0 && world.program->runtimes == 1;
	wc->closes++;
	wc->held++;
	await_no_timer(op->color);
	error = mely_color_close(world_color_of(wc), wc->closed);
	if (error != 0)
		sim_fail("mely_color_close: error %d", error);
	check_left();
	if (doer->color == op->color)
		end_watchers(op->color);
}

static void
end_close(struct world_color *wc)
{
	if (!wc->closing)
		sim_fail("the event of a close ends twice");
	wc->closing = false;
	wc->held--;
}

void
world_closed_handler(void *arg)
{
	struct world_color *wc = arg;
	int color = (int)(wc - world.color);

	check_begin(color, NULL);
	end_watchers(color);
	end_work(color);
	end_close(wc);
	check_end(color);
}

/* It was handed back: the order of the close and of the end of the run is not known. */
void
world_closed_back(struct world_color *wc)
{
	int color = (int)(wc - world.color), i;

	promise_handed_back(world_runtime_of(wc), wc->close_inside);
	for (i = 0; i < world.posts; i++) {
		if (world.post[i].work && world.post[i].color == color)
			world.post[i].perhaps_dropped = true;
	}
	end_close(wc);
}
