/* SPDX-License-Identifier: MIT */
/*
 * operation.c: executes the operations of a program and checks the result of each call. Between two
 * interleaving points nothing else runs, so the records need no locks.
 */
#include "world.h"

#include <errno.h>
#include <string.h>

#include "color/trim.h"
#include "core/core.h"
#include "memory.h"
#include "shim.h"

#undef free

enum { WORK_NS_MAX = 200000000, SNAPSHOTS_MAX = 50 };

struct world_runtime *
world_runtime_of(const struct world_color *wc)
{
	const struct color_plan *plan = &world.program->color[wc - world.color];

	return &world.runtime[plan->runtime];
}

struct mely_color *
world_color_of(struct world_color *wc)
{
	struct mely_color *color;

	if (wc->color == NULL) {
		if (mely_color_of_id(wc->rt, wc->id, &color) != 0)
			sim_fail("mely_color_of_id failed");
		if (wc->color != NULL && wc->color != color)
			sim_fail("color id 0x%x is two objects", wc->id);
		wc->color = color;
	}
	return wc->color;
}

/* ---- posting --------------------------------------------------------------------------------- */

struct post *
world_new_post(const struct doer *doer, const struct op *op, bool head, int item)
{
	struct world_color *wc = &world.color[op->color];
	struct post *post;

	if (world.posts >= world.posts_max || world.posts == WORLD_POSTS ||
	    (wc->released && op->color != doer->color) || wc->freed)
		return NULL;
	post = &world.post[world.posts++];
	memset(post, 0, sizeof *post);
	post->world = &world;
	post->head = head;
	post->color = op->color;
	post->script = item < 0 ? op->script : world.program->event_script[item];
	post->item = (int8_t)item;
	post->producer = (uint8_t)doer->producer;
	post->ordered = true;
	post->number = ++world.numbers;
	sim_word_init(&post->data);
	(void)sim_word_write(sim_self->id, &post->data);
	return post;
}

bool
world_refuses(const struct doer *doer, const struct world_color *wc)
{
	return (doer->color < 0 || world.color[doer->color].rt != wc->rt) &&
	    wc->rt->phase >= MELYINT_DRAINING;
}

void
world_admitted(const struct doer *doer, const struct world_color *wc, bool refused, uint32_t runs)
{
	if (refused && world_refuses(doer, wc) && world_runtime_of(wc)->runs == runs)
		sim_fail("a post from outside is admitted although the runtime is stopping");
}

void
world_refused(const struct doer *doer, struct world_color *wc, int error)
{
	bool inside = doer->color >= 0 && world.color[doer->color].rt == wc->rt;

	if (error == -EAGAIN && wc->mark.ever)
		return;
	if (error == -ESHUTDOWN && !inside && world_runtime_of(wc)->stopping)
		return;
	sim_fail("a post was refused: error %d", error);
}

static void
do_post(const struct doer *doer, const struct op *op, bool head)
{
	struct world_color *wc = &world.color[op->color];
	struct world_mark_post mark = world_mark_begin(wc);
	struct post *post = world_new_post(doer, op, head, -1);
	bool refused = world_refuses(doer, wc);
	uint32_t runs = world_runtime_of(wc)->runs;
	struct mely_handler *handler;
	int error;

	if (post == NULL)
		return;
	handler = &world.handler[HANDLER_POST][world.program->script[op->script].handler];
	wc->posting++;
	promise_post(doer->color, wc, 1);
	if (wc->color == NULL || (op->kind == OP_POST_ID && wc->object == NULL))
		error = head ?
		    mely_post_head_id(wc->rt, wc->id, handler, post) :
		    mely_post_id(wc->rt, wc->id, handler, post);
	else if (op->kind == OP_POST_TIMED)
		error = mely_post_timed(wc->color, handler, post, op->value);
	else if (head)
		error = mely_post_head(wc->color, handler, post);
	else
		error = mely_post(wc->color, handler, post);
	wc->posting--;
	promise_post(doer->color, wc, -1);
	if (error == 0) {
		world_admitted(doer, wc, refused, runs);
		check_posted(post);
		world_mark_admitted(doer, wc, post, mark);
		return;
	}
	post->state = POST_REFUSED;
	if (error == -EAGAIN)
		world_mark_refused(doer, wc, mark);
	world_refused(doer, wc, error);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void
color_is_free(void *arg)
{
	struct world_color *wc = arg;

	if (wc->running || wc->freed)
		sim_fail("a color was given back while it ran, or twice");
	wc->freed = true;
	sim_free(wc->object);
}

static void
do_release(const struct op *op)
{
	struct world_color *wc = &world.color[op->color];
	int i;

	if (wc->object == NULL || wc->released || wc->posting > 0 || wc->held > 0)
		return;
	/* A cancel reads the color that its event was last posted to. */
	for (i = 0; i < world.program->events; i++) {
		const struct world_event *we = &world.event[i];

		if ((we->colors & 1u << op->color) && we->cancelling > 0)
			return;
	}
	wc->released = wc->releasing = true;
	if (mely_color_release(wc->color, color_is_free, wc) != 0)
		sim_fail("mely_color_release failed");
	wc->releasing = false;
}

static void
do_stop(const struct op *op, enum mely_stop_mode mode)
{
	struct world_runtime *wr = world_runtime_of(&world.color[op->color]);

	if (world.program->runtime[wr - world.runtime].once || !wr->running)
		return;
	promise_stop(wr, mode);
}

static void
do_pin(const struct op *op)
{
	struct world_color *wc = &world.color[op->color];
	int core = (int)(op->value % (uint32_t)mely_cores(wc->rt)), pinned = 0;
	uint32_t call;

	if (wc->released || wc->freed)
		return;
	wc->posting++;
	call = promise_pin(wc);
	switch (op->kind) {
	case OP_PIN:
		if (mely_color_pin(world_color_of(wc), core) != 0)
			sim_fail("mely_color_pin failed");
		pinned = core + 1;
		break;
	default:
		if (mely_color_pin(world_color_of(wc), MELY_ANY_CORE) != 0)
			sim_fail("mely_color_pin failed");
	}
	promise_pinned(wc, call, pinned);
	wc->waits = 0; /* it is behind the others again */
	wc->posting--;
}

/* Posts, cancels and work. False: the operation is of another kind. */
static bool
do_events(const struct doer *doer, const struct op *op)
{
	switch (op->kind) {
	case OP_POST: case OP_POST_TIMED:
		do_post(doer, op, false);
		return true;
	case OP_POST_ID:
		do_post(doer, op, op->value & 1);
		return true;
	case OP_POST_HEAD:
		do_post(doer, op, true);
		return true;
	case OP_EVENT_POST:
		world_do_event_post(doer, op, false);
		return true;
	case OP_EVENT_HEAD:
		world_do_event_post(doer, op, world.color[op->color].color != NULL);
		return true;
	case OP_EVENT_CANCEL:
		world_do_cancel(doer, op);
		return true;
	case OP_WORK:
		/* Limit the sum: sleeping cores wake every ms or two all that time. */
		if (world.worked_ns < WORK_NS_MAX) {
			world.worked_ns += op->value;
			sim_work(op->value * 1000ull);
		}
		return true;
	case OP_YIELD:
		sim_yield();
		return true;
	case OP_SLEEP:
		(void)sim_block(NULL, sim_now_ps() + (doer->color < 0 ? op->value : 100) * 1000ull);
		return true;
	default:
		return false;
	}
}

static bool
do_outside(const struct doer *doer, const struct op *op)
{
	switch (op->kind) {
	case OP_TIMER_START:
		world_do_timer_start(doer, op);
		return true;
	case OP_TIMER_AGAIN:
		world_do_timer_again(doer, op);
		return true;
	case OP_TIMER_STOP:
		world_do_timer_stop(doer, &world.timer[op->item]);
		return true;
	case OP_WORKER:
		world_do_work(doer, op);
		return true;
	case OP_FD_WATCH: case OP_FD_WRITE: case OP_FD_STOP:
		world_do_fd(doer, op);
		return true;
	case OP_SPREAD:
		world_do_spread(doer, op);
		return true;
	case OP_CLOSE:
		world_do_close(doer, op);
		return true;
	default:
		return false;
	}
}

/* Change only the bits of mask. */
static void
set_stealing(const struct op *op, unsigned mask, unsigned bits)
{
	struct world_runtime *wr = world.runtime;

	while (wr->rt != world.color[op->color].rt)
		wr++;
	wr->stealing = (wr->stealing & ~mask) | bits;
	if (mely_set_stealing(wr->rt, wr->stealing) != 0)
		sim_fail("mely_set_stealing failed");
}

/* All at once, as a program does, or by slices, as the monitor does. */
static void
do_trim(struct mely_runtime *rt, uint32_t value)
{
	struct melyint_survey survey = {0};
	enum melyint_trim_left left;
	struct melyint_trim trim;

	if (value % 3 == 0) {
		(void)mely_trim(rt);
		return;
	}
	while (value % 3 == 1 && melyint_survey_step(rt->colors, &survey, 1))
		sim_yield();
	melyint_trim_begin(&trim, rt, value % 3 == 1, 1 + value % 4);
	while ((left = melyint_trim_step(&trim)) != MELYINT_TRIM_OVER) {
		if (left == MELYINT_TRIM_WAITS)
			(void)sim_block(NULL, sim_now_ps() + 50000000);
		else
			sim_yield();
	}
}

static void
do_op(const struct doer *doer, const struct op *op)
{
	if (do_events(doer, op) || do_outside(doer, op))
		return;
	switch (op->kind) {
	case OP_PIN: case OP_UNPIN:
		do_pin(op);
		break;
	case OP_HIGH_WATER:
		world_do_mark(op);
		break;
	case OP_LOOK:
		/* A snapshot takes thousands of accesses. */
		if (world.snapshots++ < SNAPSHOTS_MAX)
			check_snapshot(world.color[op->color].rt, op->value);
		break;
	case OP_STEALING:
		set_stealing(op, MELY_STEAL_ON, op->value & 1 ? MELY_STEAL_ON : 0);
		break;
	case OP_HEURISTICS:
		set_stealing(op, MELY_STEAL_ALL & ~(unsigned)MELY_STEAL_ON,
		    (op->value & 31) * MELY_STEAL_TIME_LEFT);
		break;
	case OP_RELEASE:
		/* Of an odd value: with an event that may be cancelled after the release. */
		if (op->value & 1)
			world_do_event_post(doer, op, false);
		do_release(op);
		if (op->value & 1)
			world_do_cancel(doer, op);
		break;
	case OP_TRIM:
		/* Not in a handler: a trim waits for the handlers of the runtime, and two handlers
		 * of different runtimes could wait for each other. */
		if (doer->color < 0)
			do_trim(world.color[op->color].rt, op->value);
		break;
	case OP_STOP_DRAIN: case OP_STOP_DISCARD:
		do_stop(op, op->kind == OP_STOP_DRAIN ? MELY_STOP_DRAIN : MELY_STOP_DISCARD);
		break;
	default:
		break;
	}
}

void
world_script(int script, int color, int producer)
{
	const struct script *s = &world.program->script[script];
	struct doer doer = {color, producer, false};
	int i;

	for (i = s->first; i < s->first + s->count; i++) {
		do_op(&doer, &world.program->op[i]);
		sim_settle();
	}
}

/* ---- handlers -------------------------------------------------------------------------------- */

void
world_handler(void *arg)
{
	struct post *post = arg;

	check_begin(post->color, post);
	world_script(post->script, post->color, post->color);
	check_end(post->color);
}

/* The hand-back function may cancel what is still to be handed back. */
static void
cancel_left(void)
{
	struct op op = {.kind = OP_EVENT_CANCEL};
	struct doer doer = {-1, PROGRAM_COLORS, true};

	op.item = (uint8_t)(world.moments % (uint32_t)world.program->events);
	world_do_cancel(&doer, &op);
}

void
world_handback(void *ctx, const struct mely_handback *left)
{
	struct mely_handler *handler = left->handler;
	struct world_event *we = left->arg;
	struct post *post = left->arg;

	(void)ctx;
	sim_settle();
	if (handler->fn == world_handler) {
		promise_handed_back(world_runtime_of(&world.color[post->color]),
		    post->producer < PROGRAM_COLORS &&
		    world.color[post->producer].rt == world.color[post->color].rt);
		check_gone(post);
	} else if (handler->fn == world_event_handler) {
		if (left->event != we->event)
			sim_fail("an embedded event was handed back as another");
		we->handed_back++;
		world_event_ended(we, "was handed back");
	} else if (handler->fn == world_spread_handler) {
		world.spread_ended++;
	} else if (handler->fn == world_stopped_handler) {
		world_stopped_back(left->arg);
	} else if (handler->fn == world_drained_handler) {
		world_drained_back(left->arg);
	} else if (handler->fn == world_closed_handler) {
		world_closed_back(left->arg);
	} else if (handler->fn == world_done_handler) {
		promise_handed_back(we->done_runtime, we->done_inside);
		if (we->done_out)
			world.color[we->done_color].held--;
		we->done_out = false;
		we->done_posted = false;
	}
	if (world.program->cancels_left && world.program->events > 0 &&
	    world.program->runtimes == 1)
		cancel_left();
}
