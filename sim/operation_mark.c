/* SPDX-License-Identifier: MIT */
/*
 * operation_mark.c: the operation that sets a high-water mark, and what a mark promises: no more
 * posts wait than it allows, none is refused without need, nothing that has ended counts, and a
 * program whose post was refused learns when the color has drained. A promise is checked only
 * where no call that sets the mark overlaps a post. See operation.c.
 */
#include "world.h"

#include <errno.h>

#include "core/core.h"

/* ---- the mark -------------------------------------------------------------------------------- */

static void
set_mark(struct world_color *wc, uint32_t mark, struct world_color *told)
{
	struct world_mark *m = &wc->mark;
	uint32_t call = ++m->calls;
	bool alone = m->setting == 0;

	m->sure = false;
	m->setting++;
	m->ever = true;
	if (mely_color_set_high_water(world_color_of(wc), mark,
	    told != NULL ? world_color_of(told) : NULL, told != NULL ? m->drained : NULL) != 0)
		sim_fail("mely_color_set_high_water failed");
	m->setting--;
	/* Of two calls that overlap, either may be the one that counts. */
	if (!alone || call != m->calls)
		return;
	m->sure = true;
	m->at_most = mark;
	m->tells = told != NULL;
}

void
world_do_mark(const struct op *op)
{
	struct world_color *wc = &world.color[op->color], *told = NULL;

	if (wc->released || wc->freed)
		return;
	if (op->item) {
		told = &world.color[op->other];
		if (told->rt != wc->rt || told->released || told->freed)
			told = wc;
		told->held++; /* the mark may name it for ever */
	}
	wc->posting++;
	set_mark(wc, op->value, told);
	wc->posting--;
}

/* ---- posts ----------------------------------------------------------------------------------- */

/* The posts to the color that may count, but for embedded events. */
static uint32_t
may_wait(const struct world_color *wc)
{
	uint32_t n = 0;
	int i;

	for (i = 0; i < world.posts; i++) {
		const struct post *post = &world.post[i];

		n += &world.color[post->color] == wc && post->item < 0 &&
		    (post->state == POST_NEW || post->state == POST_MADE);
	}
	return n;
}

/* The posts of embedded events that may count anywhere. A cancel that was too late may have dropped
 * a post; that counts for a moment longer, while the event is posted again. */
static uint32_t
events_wait(void)
{
	uint32_t n = 0;
	int i;

	for (i = 0; i < world.program->events; i++) {
		const struct world_event *we = &world.event[i];

		n += we->pleas + 2 * (we->posting > 0 || check_outstanding(we) > 0 ||
		    we->cancelling > 0);
	}
	return n;
}

struct world_mark_post
world_mark_begin(const struct world_color *wc)
{
	struct world_mark_post before = {0};

	if (!wc->mark.ever || !wc->mark.sure)
		return before;
	before.call = wc->mark.calls;
	before.moment = ++world.moments;
	before.numbers = world.numbers;
	before.waiting = may_wait(wc) + events_wait();
	return before;
}

static bool
sure(const struct world_mark *m, struct world_mark_post before)
{
	return before.call != 0 && m->sure && m->calls == before.call;
}

/* A pooled post was admitted. In a color that waits no event is on its way to its handler. */
void
world_mark_admitted(const struct doer *doer, const struct world_color *wc, struct post *post,
    struct world_mark_post before)
{
	const struct world_mark *m = &wc->mark;
	uint32_t n = 0;
	int i;

	if (!sure(m, before) || m->at_most == 0 || doer->color == post->color)
		return;
	post->mark_call = before.call;
	if (wc->color == NULL || wc->color->_state != MELYINT_COLOR_QUEUED)
		return;
	for (i = 0; i < world.posts; i++) {
		const struct post *other = &world.post[i];

		n += other->color == post->color && other->mark_call == before.call &&
		    other->state == POST_MADE;
	}
	if (n > m->at_most)
		sim_fail("color %d: %u posts wait, its mark is %u", post->color, n, m->at_most);
}

void
world_mark_refused(const struct doer *doer, struct world_color *wc, struct world_mark_post before)
{
	struct world_mark *m = &wc->mark;
	int color = (int)(wc - world.color);
	uint32_t most = before.waiting + world.numbers - before.numbers + events_wait();

	m->refused++;
	if (doer->color == color)
		sim_fail("color %d: a post of its own handler was refused", color);
	if (!sure(m, before))
		return;
	if (most < m->at_most || m->at_most == 0)
		sim_fail("color %d: at most %u posts wait, its mark is %u, and a post was refused",
		    color, most, m->at_most);
	if (m->tells && m->owed_at < before.moment)
		m->owed_at = before.moment;
}

/* ---- the event that tells -------------------------------------------------------------------- */

/* It runs, or was handed back. */
static void
told(struct world_color *wc)
{
	struct world_mark *m = &wc->mark;

	if (++m->told > m->refused + wc->posting)
		sim_fail("color %d: says %u times that it has drained, after %u refused posts",
		    (int)(wc - world.color), m->told, m->refused);
	m->told_at = ++world.moments;
}

void
world_drained_handler(void *arg)
{
	int color = world_this_color();

	check_begin(color, NULL);
	told(arg);
	check_end(color);
}

void
world_drained_back(struct world_color *wc)
{
	told(wc);
}

/* ---- when nothing waits ---------------------------------------------------------------------- */

void
world_marks_told(int color)
{
	const struct world_mark *m = &world.color[color].mark;

	if (m->told_at < m->owed_at)
		sim_fail("color %d: a post was refused, and the program never learns that it "
		    "has drained", color);
}

/* Does an event wait that may count? */
static bool
something_waits(const struct world_color *wc)
{
	int i;

	if (may_wait(wc) != 0)
		return true;
	for (i = 0; i < world.program->events; i++) {
		if (world.event[i].event->_state != MELYINT_EV_IDLE)
			return true;
	}
	return false;
}

/* A mark of 1 shows whether something counts for ever. Nothing else runs. */
void
world_marks_probe(bool idle)
{
	int i;

	for (i = 0; i < world.program->colors; i++) {
		struct world_color *wc = &world.color[i];
		const struct world_runtime *wr = world_runtime_of(wc);
		int error;

		if (!wc->mark.ever || wc->released || wc->freed || (idle ? !wr->running ||
		    wr->stopping || world.program->runtime[wr - world.runtime].once :
		    something_waits(wc)))
			continue;
		set_mark(wc, 1, NULL);
		world.spread_posted++;
		error = mely_post(world_color_of(wc), &world.handler[HANDLER_SPREAD][0], &world);
		if (error != 0)
			sim_fail("color %d: nothing waits, and its mark of 1 refuses a post (%d)",
			    i, error);
	}
}
