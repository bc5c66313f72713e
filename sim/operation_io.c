/* SPDX-License-Identifier: MIT */
/*
 * operation_io.c: operations outside the queues: blocking work, descriptors, and enough ids to make
 * the table of colors grow. See operation.c.
 */
#include "world.h"

#include <errno.h>

#include "shim.h"

#undef free
#undef read
#undef write
#undef close

/* ---- blocking work --------------------------------------------------------------------------- */

/* Runs on a helper thread. It sees the caller's writes, and the handler sees its writes. */
static void
work(void *arg)
{
	struct post *post = arg;

	post->work_begun = true;
	if (!sim_word_write(sim_self->id, &post->data))
		sim_fail("blocking work does not see what was done before it");
	sim_work(post->script * 1000000ull);
	post->work_ended = true;
}

void
world_do_work(const struct doer *doer, const struct op *op)
{
	struct world_color *wc = &world.color[op->color];
	struct post *post = wc->released ? NULL : world_new_post(doer, op, false, -1);
	uint32_t mark = world_open_mark(wc);
	struct mely_handler *handler;
	int error;

	if (post == NULL)
		return;
	post->work = true;
	post->closes = wc->closes;
	post->ordered = false; /* the helpers decide the order */
	handler = &world.handler[HANDLER_POST][world.program->script[op->script].handler];
	wc->held++;
	error = mely_work(world_color_of(wc), (enum mely_work_class)(op->value % 3), work, handler,
	    post, NULL);
	post->perhaps_dropped = !world_open_since(wc, mark);
	if (error == 0) {
		check_posted(post);
		return;
	}
	wc->held--;
	post->state = POST_REFUSED;
	/* A handler gets -ESHUTDOWN, too, if the stopping runtime would drop the work. */
	if (error != -ESHUTDOWN || (!world_runtime_of(wc)->stopping && !post->perhaps_dropped))
		world_refused(doer, wc, error);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

void
world_fds_open(void)
{
	int i;

	for (i = 0; i < PROGRAM_FDS; i++) {
		world.fd[i].world = &world;
		world.fd[i].fd = sim_eventfd();
	}
}

void
world_fds_close(void)
{
	int i;

	for (i = 0; i < world.answers; i++)
		sim_thread_join(world.answer[i]);
	for (i = 0; i < PROGRAM_FDS; i++)
		(void)sim_close(world.fd[i].fd);
}

static void
watch(struct world_fd *wf, const struct op *op)
{
	struct world_color *wc = &world.color[op->color];
	uint32_t mark = world_open_mark(wc);
	mely_watch id;
	int error;

	if (wf->started || wf->busy || wf->running || wc->released || wc->freed)
		return;
	wf->busy = wf->started = true;
	wf->edge = op->value & 1;
	wf->color = op->color;
	wf->id = 0;
	wc->held++;
	error = mely_fd_watch(world_color_of(wc), wf->fd, MELY_FD_READ |
	    (wf->edge ? MELY_FD_EDGE : 0u), &world.handler[HANDLER_FD][0], wf, &id);
	wf->busy = false;
	wf->closes = wc->closes;
	wf->perhaps_closed = !world_open_since(wc, mark);
	if (error == 0) {
		wf->id = id;
		return;
	}
	wf->started = false;
	wc->held--;
	/* A stop of the runtime that has not ended yet may have closed the watcher. */
	if ((error != -ESHUTDOWN && error != -EEXIST) ||
	    (!world_runtime_of(wc)->stopping && !wf->perhaps_closed))
		sim_fail("mely_fd_watch: error %d", error);
}

void
world_do_fd_stop(const struct doer *doer, struct world_fd *wf)
{
	int error;

	if (!wf->started || wf->busy || wf->id == 0)
		return;
	wf->busy = true;
	error = mely_watch_stop(world.color[wf->color].rt, wf->id, NULL, NULL);
	check_left();
	wf->busy = false;
	if (error != 0 && error != -EINPROGRESS && error != -ENOENT)
		sim_fail("mely_watch_stop: error %d", error);
	if (error == 0 && wf->running && doer->color != wf->color)
		sim_fail("a watcher was stopped exactly while its handler ran");
	wf->started = false;
}

static void
suspend(struct world_fd *wf)
{
	struct mely_runtime *rt = world.color[wf->color].rt;

	if (!wf->started || wf->busy || wf->id == 0)
		return;
	wf->busy = true;
	if (mely_watch_enable(rt, wf->id, 0) == 0)
		(void)mely_watch_enable(rt, wf->id, 1);
	check_left();
	wf->busy = false;
}

/* Close the descriptor and open another one, often with the same number. Only its own color knows
 * that the handler does not run. */
static void
reopen(const struct doer *doer, struct world_fd *wf)
{
	int error;

	if (!wf->started || wf->busy || wf->id == 0 || doer->color != wf->color)
		return;
	wf->busy = true;
	error = mely_fd_close(world.color[wf->color].rt, wf->fd);
	if (error != 0)
		sim_fail("mely_fd_close: error %d", error);
	wf->fd = sim_eventfd();
	wf->busy = wf->started = false;
}

void
world_do_fd(const struct doer *doer, const struct op *op)
{
	struct world_fd *wf = &world.fd[op->item];
	const uint64_t one = 1;

	if (op->kind == OP_FD_WATCH)
		watch(wf, op);
	else if (op->kind == OP_FD_STOP && op->value % 5 == 4)
		suspend(wf);
	else if (op->kind == OP_FD_STOP && op->value % 5 >= 2)
		reopen(doer, wf);
	else if (op->kind == OP_FD_STOP)
		world_do_fd_stop(doer, wf);
	else
		(void)sim_write(wf->fd, &one, sizeof one);
}

/* A thread: the peer of the descriptor answers, perhaps while the handler still runs or the library
 * looks at the descriptor once more. */
static void *
answer(void *arg)
{
	const struct world_fd *wf = arg;
	const uint64_t one = 1;

	(void)sim_write(wf->fd, &one, sizeof one);
	return NULL;
}

void
world_fd_handler(void *arg)
{
	struct world_fd *wf = arg;
	uint64_t count;

	if (wf->running)
		sim_fail("a descriptor's handler runs twice at once");
	if (!wf->started)
		sim_fail("a descriptor's handler runs although its watcher was stopped");
	promise_watcher(wf->color);
	wf->running = true;
	check_begin(wf->color, NULL);
	if ((mely_fd_ready() & MELY_READY_READ) == 0)
		sim_fail("mely_fd_ready does not report that a descriptor is ready");
	if (sim_read(wf->fd, &count, sizeof count) < 0) {
		/* Nothing else reads it. */
		if (!wf->edge)
			sim_fail("a level-triggered handler runs with nothing to read");
		mely_fd_drained();
	} else if (world.answers < world.program->answers) {
		world.answer[world.answers++] = sim_thread_new(answer, wf);
	}
	wf->running = false;
	check_end(wf->color);
}

enum { SPREAD_MAX = 200 };

/* ---- many ids -------------------------------------------------------------------------------- */

void
world_spread_handler(void *arg)
{
	int i;

	(void)arg;
	world.spread_ended++;
	for (i = 0; i < world.program->runtimes; i++) {
		world.behind_since_ps[i] = 0; /* progress */
		world.runtime[i].idle_sleeps = 0; /* not idle: it had this event */
	}
	if (world.spread_ended > world.spread_posted)
		sim_fail("an event to one of many ids runs twice");
}

void
world_do_spread(const struct doer *doer, const struct op *op)
{
	struct world_color *wc = &world.color[op->color];
	uint32_t count = 20 + op->value % 100, i;

	for (i = 0; i < count && world.spread_posted < SPREAD_MAX; i++) {
		int error;

		world.spread_posted++;
		error = mely_post_id(wc->rt, 0xc0000000u + i * 0x10001u,
		    &world.handler[HANDLER_SPREAD][0], &world);
		if (error == 0)
			continue;
		world.spread_posted--;
		world_refused(doer, wc, error);
	}
}
