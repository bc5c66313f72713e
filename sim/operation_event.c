/* SPDX-License-Identifier: MIT */
/*
 * operation_event.c: operations with embedded events, which can be cancelled, and with the
 * completions of cancels; see operation.c.
 */
#include "world.h"

#include <errno.h>

#include "core/core.h"
#include "order.h"

/* ---- posting --------------------------------------------------------------------------------- */

void
world_do_event_post(const struct doer *doer, const struct op *op, bool head)
{
	struct world_color *wc = &world.color[op->color];
	struct world_event *we = &world.event[op->item];
	struct world_mark_post mark = world_mark_begin(wc);
	bool alone = we->posting == 0 && we->cancelling == 0 && check_outstanding(we) == 0;
	struct post *post = alone ? world_new_post(doer, op, head, op->item) : NULL;
	bool refused = world_refuses(doer, wc);
	uint32_t runs = world_runtime_of(wc)->runs, calls;
	int error;

	/* A later cancel reads the color that the event was last posted to. */
	if ((alone && post == NULL) || wc->freed || wc->released) {
		if (post != NULL)
			post->state = POST_REFUSED;
		return;
	}
	/* Of two concurrent posts it is not known which one succeeds. */
	if (!alone && we->post != NULL)
		check_gone(we->post);
	we->post = post;
	we->colors |= 1u << op->color;
	wc->posting++;
	promise_post(doer->color, wc, 1);
	we->posting++;
	calls = ++we->calls;
	if (wc->color == NULL)
		error = mely_event_post_id(wc->rt, wc->id, we->event);
	else if (head)
		error = mely_event_post_head(wc->color, we->event);
	else
		error = mely_event_post(wc->color, we->event);
	wc->posting--;
	promise_post(doer->color, wc, -1);
	we->posting--;
	if (error == 0) {
		world_admitted(doer, wc, refused, runs);
		we->posted++;
		if (alone && we->calls == calls)
			we->colors = 1u << op->color;
		if (alone)
			check_posted(post);
		return;
	}
	if (alone) {
		post->state = POST_REFUSED;
		if (we->post == post)
			we->post = NULL;
	}
	if (error == -EAGAIN)
		world_mark_refused(doer, wc, mark);
	if (error != -EALREADY)
		world_refused(doer, wc, error);
}

/* ---- cancelling ------------------------------------------------------------------------------ */

void
world_event_ended(struct world_event *we, const char *how)
{
	if (we->ran + we->cancelled + we->handed_back + we->dropped > we->posted + we->posting)
		sim_fail("event %d %s more often than it was posted", (int)(we - world.event), how);
	if (we->post != NULL)
		check_gone(we->post);
	we->post = NULL;
}

/* Is the memory of all colors that the event may refer to there until the cancel returns? A color
 * that is released goes with its last event, or at once: no other event of it may end meanwhile,
 * and the release must have returned. */
static bool
may_cancel(const struct doer *doer, struct world_event *we)
{
	bool before = world.runtime[0].runner == 0, gone = false;
	int i;

	for (i = 0; i < world.program->colors; i++) {
		const struct world_color *wc = &world.color[i];

		if ((we->colors & 1u << i) == 0 || !wc->released)
			continue;
		gone |= wc->freed;
		if (wc->releasing)
			return false;
		if (!before && doer->color != i && (doer->color < 0 ||
		    world.color[doer->color].rt != wc->rt || wc->rt->cores_count > 1))
			return false;
	}
	if (!gone)
		return true;
	if (we->posting != 0 || we->cancelling != 0 || we->running != 0 ||
	    check_outstanding(we) != 0)
		return false;
	/* Programs order this before later posts by other threads, which this one does not: those
	 * come behind the end of the last post, as if the event were as it was. */
	sim_looking(true);
	mely_event_init(we->event, we->event->_handler, we);
	sim_looking(false);
	we->colors = 0;
	return true;
}

/* Cancel the completion of a cancel. */
static void
cancel_done(struct world_event *we)
{
	struct world_color *wc = &world.color[we->done_color];
	int error;

	if (!we->done_out || !we->done_posted)
		return;
	wc->held++;
	error = mely_event_cancel(we->done, NULL, NULL);
	wc->held--;
	switch (error) {
	case 0:
		check_left();
		if (!we->done_out)
			sim_fail("a completion was cancelled that was not promised");
		we->done_out = we->done_posted = false;
		world.color[we->done_color].held--;
		break;
	case -EINPROGRESS:
		we->done_vague = true;
		break;
	case -EBUSY: case -ENOENT:
		break;
	default:
		sim_fail("cancel of a completion: error %d", error);
	}
}

void
world_do_cancel(const struct doer *doer, const struct op *op)
{
	struct world_event *we = &world.event[op->item];
	struct world_color *wc = &world.color[op->color];
	struct post *post = we->post;
	bool with_done = !we->done_out && !wc->released && !wc->freed && !doer->left;
	bool exact = post != NULL && post->ordered && post->made && post->state == POST_MADE &&
	    (post->color == doer->color || doer->left) && we->posting == 0 &&
	    we->cancelling == 0 && we->pleas == 0;
	uint32_t calls, posted = we->posted, ran = we->ran;
	bool elsewhere = we->running != 0 && we->running != doer->color + 1 &&
	    we->last_runs && we->posting == 0 && posted == we->posted_before;
	bool other;
	int error;

	if (op->value % 8 == 7) {
		cancel_done(we);
		return;
	}
	if (!may_cancel(doer, we))
		return;
	if (post != NULL)
		check_vague(post);
	calls = ++we->calls;
	we->cancelling++;
	if (with_done) {
		we->done_out = true;
		/* In another runtime it would wait on a core that no drain of this one visits. */
		we->done_inside = doer->color >= 0 && world.program->runtimes == 1;
		we->done_runtime = world_runtime_of(wc);
		we->done_color = op->color;
		wc->held++;
	}
	error = mely_event_cancel(we->event, with_done ? world_color_of(wc) : NULL,
	    with_done ? we->done : NULL);
	we->cancelling--;
	other = we->calls != calls || we->post != post;
	if (with_done && error != -EINPROGRESS) {
		we->done_out = false;
		wc->held--;
	}
	switch (error) {
	case 0:
		check_left();
		we->cancelled++;
		world_event_ended(we, "was cancelled");
		return;
	case -EINPROGRESS:
		we->pleas++;
		if (with_done && we->done_out) {
			we->done_posted = true;
			we->plea_posted = posted;
		}
		break;
	case -EALREADY:
		if (with_done)
			sim_fail("cancel: done was said to be queued");
		break;
	case -ENOENT:
		/* The same handler has run all the time. */
		if (elsewhere && !other && we->running != 0 && we->ran == ran)
			sim_fail("event %d: its handler runs elsewhere, a cancel says -ENOENT",
			    (int)(we - world.event));
		break;
	default:
		sim_fail("cancel: error %d", error);
	}
	if (exact && !other)
		sim_fail("event %d: a cancel in its own color says %d", (int)(we - world.event),
		    error);
}

/* ---- handlers -------------------------------------------------------------------------------- */

int
world_this_color(void)
{
	struct mely_runtime *rt = mely_current_runtime();
	struct mely_color *color = mely_current_color();
	int i;

	for (i = 0; i < world.program->colors; i++) {
		const struct world_color *wc = &world.color[i];

		if (wc->freed || wc->rt != rt)
			continue;
		if (wc->object != NULL ? wc->object == color :
		    !mely_color_is_object(color) && mely_color_id(color) == wc->id)
			return i;
	}
	sim_fail("an event runs in a color that the program does not have");
}

void
world_event_handler(void *arg)
{
	struct world_event *we = arg;
	int color = world_this_color();
	struct post *post = we->post;

	we->post = NULL;
	we->ran++;
	world_event_ended(we, "ran");
	check_begin(color, post);
	we->running = color + 1;
	/* The library gives the event back before its handler is entered. If another thread posts
	 * it at once, a cancel is about that post, and says -ENOENT when that one has ended,
	 * although the handler of the first one runs. Here that second post began while the first
	 * had not ended, so that which of them runs is not known. */
	we->last_runs = post != NULL;
	we->posted_before = we->posted;
	world_script(world.program->event_script[we - world.event], color, color);
	we->running = 0;
	check_end(color);
}

void
world_done_handler(void *arg)
{
	struct world_event *we = arg;
	int color = world_this_color();

	if (!we->done_out)
		sim_fail("event %d: a completion that was not requested",
		    (int)(we - world.event));
	check_begin(color, NULL);
	/* Only now is it certain whether the event ran or was dropped. */
	if (we->done_posted && we->posted == we->plea_posted && we->posting == 0) {
		we->dropped += check_outstanding(we);
		world_event_ended(we, "was dropped");
	}
	we->done_out = false;
	we->done_posted = false;
	world.color[color].held--;
	check_end(color);
}
