/* SPDX-License-Identifier: MIT */
/*
 * invariant.c: checks the invariants of DESIGN.md while a program runs. world.h records what was
 * posted and run; the checks read the library's own structures where no thread holds the lock that
 * guards them. Nothing here is an interleaving point.
 */
#include "world.h"

#include "core/core.h"
#include "shim.h"

enum {
	STOLEN_WITHIN_MS = 20,  /* worthy colors may wait while a core sleeps */
	STEAL_NS_AT_MOST = 20000
};

/* ---- events ---------------------------------------------------------------------------------- */

uint32_t
check_outstanding(const struct world_event *we)
{
	return we->posted - we->ran - we->cancelled - we->handed_back - we->dropped;
}

/* No longer count the post among the heads that wait. */
static void
uncount_head(struct post *post)
{
	struct world_color *wc = &world.color[post->color];

	if (!post->head || !post->made || post->vague)
		return;
	post->vague = true;
	wc->heads_waiting--;
	if (post->made_at <= wc->ended_at)
		wc->heads_due--;
}

void
check_posted(struct post *post)
{
	struct world_color *wc = &world.color[post->color];

	post->made = true;
	post->made_at = ++world.moments;
	if (post->state != POST_NEW)
		return;
	post->state = POST_MADE;
	if (post->head && !post->vague)
		wc->heads_waiting++;
}

void
check_vague(struct post *post)
{
	if (post->state == POST_MADE)
		uncount_head(post);
	post->vague = true;
}

void
check_gone(struct post *post)
{
	if (post->state != POST_NEW && post->state != POST_MADE)
		sim_fail("an event ends a second time: it had %s",
		    post->state == POST_RAN ? "run" : "been handed back or cancelled");
	check_vague(post);
	post->state = POST_HANDED_BACK;
}

void
check_left(void)
{
	int i;

	for (i = 0; i < world.program->colors; i++)
		world.color[i].waits = 0;
}

/* Invariant 5: with n colors and a batch threshold b, a color waits for at most (n - 1) * b
 * handlers. The library's own color of each core counts, too. A color that the balancer moves goes
 * to the end of a queue again, so a runtime with balancing promises nothing for a single color. */
static void
check_patience(int color)
{
#ifndef MELYINT_LIBASYNC
	const struct program *p = world.program;
	const struct world_color *running = &world.color[color];
	const struct runtime_plan *plan = &p->runtime[p->color[color].runtime];
	uint32_t limit = (uint32_t)((p->colors + 2) * plan->batch_events);
	const struct melyint_core *core = melyint_self;
	int i;

	if (p->priorities || (plan->balance && plan->cores > 1))
		return;
	for (i = 0; i < p->colors; i++) {
		struct world_color *wc = &world.color[i];

		if (wc->freed || wc->color == NULL || wc->rt != running->rt)
			continue;
		/* The single poller's event, which is invisible here, may have used its turn. */
		if (plan->pollers == 1 && wc->object == NULL && wc->id == 0)
			continue;
		if (wc->color->_owner != core || wc->color->_state != MELYINT_COLOR_QUEUED) {
			wc->waits = 0;
			continue;
		}
		if (++wc->waits > limit && wc->pins == 0)
			sim_fail("color %d waits for %u handlers", i, wc->waits);
	}
#else
	(void)color;
#endif
}

static void
check_order(struct world_color *wc, struct post *post)
{
	uint32_t *last = &wc->last[post->producer][post->head];

	if (post->color != wc - world.color)
		sim_fail("an event of color %d runs in color %d", post->color,
		    (int)(wc - world.color));
	if (post->state != POST_NEW && post->state != POST_MADE)
		sim_fail("an event of color %d runs twice, or after its end", post->color);
	if (!sim_word_read(sim_self->id, &post->data))
		sim_fail("color %d: what was done before the post is not visible", post->color);
	if (post->ordered && *last > post->number)
		sim_fail("color %d: %s %u of producer %d runs after %u", post->color,
		    post->head ? "head" : "tail", post->number, post->producer, *last);
	if (post->ordered)
		*last = post->number;
	if (!post->head && wc->heads_due > 0)
		sim_fail("color %d: a tail runs before a head that was there", post->color);
	uncount_head(post);
	post->vague = true;
	post->state = POST_RAN;
}

void
check_begin(int color, struct post *post)
{
	struct world_color *wc = &world.color[color];
	const struct runtime_plan *plan = &world.program->runtime[world.program->color[color].
	    runtime];

	(void)plan;
	sim_settle();
	if (wc->running)
		sim_fail("two events of color %d run at once", color);
	wc->running = true;
	wc->waits = 0;
	world.behind_since_ps[world.program->color[color].runtime] = 0;
	if (wc->freed)
		sim_fail("an event of color %d runs after its release", color);
	if (!sim_word_write(sim_self->id, &wc->data))
		sim_fail("color %d: what its last event did is not visible to the next", color);
	if (mely_current_core() < 0)
		sim_fail("an event of color %d runs on a thread that is not a core", color);
	if (post != NULL)
		check_order(wc, post);
	check_patience(color);
	promise_begin(color);
}

void
check_end(int color)
{
	struct world_color *wc = &world.color[color];

	sim_settle();
	if (!sim_word_write(sim_self->id, &wc->data))
		sim_fail("color %d: something else has touched it meanwhile", color);
	wc->running = false;
	wc->heads_due = wc->heads_waiting;
	wc->ended_at = ++world.moments;
}

/* ---- the library's structures ---------------------------------------------------------------- */

#ifndef MELYINT_LIBASYNC
static uint64_t
weight_of_list(const struct mely_event *first)
{
	const struct mely_event *ev = first;
	uint64_t sum = 0;

	if (first == NULL)
		return 0;
	do {
		sum += melyint_weight_of(ev);
		ev = ev->_next;
	} while (ev != first);
	return sum;
}

/* Check NOTE(weight) and NOTE(worth) of a linked color whose core's lock is free. */
static void
check_worth(const struct melyint_core *core, const struct mely_color *color)
{
	uint64_t left;

	if (color->_flags & MELYINT_COLOR_RELEASED)
		return;
	left = weight_of_list(color->_heads) + weight_of_list(color->_tails);
	if (color->_u._worth._time_left != left)
		sim_fail("core %d: the events of a color weigh %llu, its account says %llu",
		    core->index, (unsigned long long)left,
		    (unsigned long long)color->_u._worth._time_left);
	if ((color->_flags & MELYINT_COLOR_PINNED) && color->_u._worth._steal_slot != 0)
		sim_fail("core %d: a pinned color is in its stealing-queue", core->index);
	/* A steal never costs STEAL_NS_AT_MOST. Below it the price may have changed since. */
	if (!(color->_flags & MELYINT_COLOR_PINNED) && color->_u._worth._steal_slot == 0 &&
	    left > (uint64_t)STEAL_NS_AT_MOST << MELYINT_WEIGHT_SHIFT && !world.switches_stealing &&
	    core->rt->switches.weighing != MELYINT_WEIGH_NOT)
		sim_fail("core %d: a color that is worth %llu ns is not in its stealing-queue",
		    core->index, (unsigned long long)left >> MELYINT_WEIGHT_SHIFT);
}

/* Call only while the lock of core is free. */
static void
check_queue(const struct melyint_core *core)
{
	uint32_t stealable = 0, worthy = 0;
	unsigned level;

	if (core->ready.levels == 0 && core->ready.length == 0 && core->hint.stealable == 0 &&
	    core->stealq.length == 0)
		return;
	if (!melyint_stealq_validate(&core->stealq))
		sim_fail("core %d: the places of its stealing-queue are wrong", core->index);
	if (!melyint_coreq_validate(&core->ready))
		sim_fail("core %d: the links of its core-queue are wrong", core->index);
	for (level = 0; level < MELYINT_LEVELS; level++) {
		const struct mely_color *first = core->ready.first[level], *color = first;

		if (first == NULL)
			continue;
		do {
			if (color->_owner != core)
				sim_fail("core %d: a color of another core is in its queue",
				    core->index);
			if (color->_state != MELYINT_COLOR_QUEUED)
				sim_fail("core %d: a color in state %d is in its queue",
				    core->index, color->_state);
			/* It may have no events: they were cancelled while it moved here. */
			check_worth(core, color);
			worthy += (color->_flags & MELYINT_COLOR_RELEASED) == 0 &&
			    color->_u._worth._steal_slot != 0;
			stealable += (color->_flags & MELYINT_COLOR_PINNED) == 0;
			color = color->_next;
		} while (color != first);
	}
	if (core->stealq.length != worthy)
		sim_fail("core %d: %u colors know a place in its stealing-queue, it holds %u",
		    core->index, worthy, core->stealq.length);
	if (core->hint.stealable != stealable)
		sim_fail("core %d: %u colors can be stolen, the hint says %u", core->index,
		    stealable, core->hint.stealable);
}

static uint32_t
queue_length(const struct melyint_core *core)
{
	return core->ready.length;
}

/* Call only while no lock is held anywhere. */
static void
check_batch(const struct melyint_core *core)
{
	const struct mely_color *color = core->batch.color;

	if (color == NULL)
		return;
	if (color->_owner != core)
		sim_fail("core %d runs a color that another core owns", core->index);
	if (color->_state != MELYINT_COLOR_RUNNING)
		sim_fail("core %d runs a color in state %d", core->index, color->_state);
}
#else
static void
check_queue(const struct melyint_core *core)
{
	if (!melyint_fifo_validate(&core->ready))
		sim_fail("core %d: the links or the counts of its FIFO are wrong", core->index);
}

static uint32_t
queue_length(const struct melyint_core *core)
{
	return core->hint.waiting;
}

static void
check_batch(const struct melyint_core *core)
{
	(void)core;
}
#endif

static void
check_core(const struct melyint_core *core)
{
	uint32_t length = queue_length(core);

	check_queue(core);
	if (core->hint.waiting != length)
		sim_fail("core %d: %u colors wait, the hint says %u", core->index, length,
		    core->hint.waiting);
}

/* The counts of sleepers, when no core's lock is held: E of NOTE(park). */
static void
check_domains(const struct mely_runtime *rt)
{
	int domains = 0, i, j;

	for (i = 0; i < rt->domains_count; i++) {
		const struct melyint_domain *domain = &rt->domains[i];
		int sleepers = 0;

		for (j = 0; j < rt->cores_count; j++)
			sleepers += rt->cores[j].fixed.domain == domain &&
			    rt->cores[j].locked.sleep != MELYINT_AWAKE;
		if (domain->sleepers != sleepers)
			sim_fail("%d cores of domain %d sleep, the count says %d", sleepers, i,
			    domain->sleepers);
		domains += sleepers > 0;
	}
	if (rt->idle.domains != domains)
		sim_fail("%d domains have sleepers, the count says %d", domains, rt->idle.domains);
}

static void
check_runtime(const struct mely_runtime *rt)
{
	int i, watching = 0;
	bool locked = false;

	for (i = 0; i < rt->cores_count; i++) {
		const struct melyint_core *core = &rt->cores[i];

		if (core->lock.held)
			locked = true;
		else
			check_core(core);
		watching += core->locked.sleep == MELYINT_SENTRY;
	}
	if (locked)
		return;
	check_domains(rt);
	if (watching > rt->idle.sentries || rt->idle.sentries > 1)
		sim_fail("%d cores watch, the count says %d", watching, rt->idle.sentries);
	for (i = 0; i < rt->cores_count; i++)
		check_batch(&rt->cores[i]);
}

void
check_structure(void)
{
	int i;

	sim_looking(true);
	for (i = 0; i < world.program->runtimes; i++) {
		if (world.runtime[i].rt != NULL)
			check_runtime(world.runtime[i].rt);
	}
	sim_looking(false);
}

static uint32_t
waiting(const struct mely_runtime *rt)
{
	uint32_t n = 0;
	int i;

	for (i = 0; i < rt->cores_count; i++)
		n += rt->cores[i].hint.waiting;
	return n;
}

void
check_snapshot(struct mely_runtime *rt, uint32_t how)
{
	bool still = world.runtime[0].runner == 0; /* it is the first to run */
	uint32_t before = waiting(rt), i;
	struct mely_stats *stats;

	if (mely_stats_take(rt, how & MELY_STATS_BY_AGE, how % 8, &stats) != 0)
		sim_fail("mely_stats_take failed");
	if (mely_stats_check(stats, (size_t)stats->size) != 0)
		sim_fail("a malformed snapshot");
	/* Before the first run only helpers post, so the census is exact, if there is one. */
	if (still && how % 8 != 0 && before == waiting(rt) && stats->colors_found != before)
		sim_fail("%u colors wait, a census misses some", before);
	for (i = 0; i < stats->colors_count; i++) {
		const struct mely_stats_color *c = mely_stats_color_row(stats, i);

		if (c->owner >= stats->cores_count)
			sim_fail("a color on core %u", c->owner);
	}
	mely_stats_free(stats);
}

/* ---- when all threads wait ------------------------------------------------------------------- */

/* Invariant 7, second half: no core sleeps for long while it could steal work. */
static void
check_worthy(int runtime, const struct mely_runtime *rt)
{
	uint64_t *since_ps = &world.behind_since_ps[runtime];
	uint32_t behind = 0;
	bool sleeper = false;
	int i;

	for (i = 0; i < rt->cores_count; i++) {
		if (rt->cores[i].hint.busy)
			behind += rt->cores[i].hint.stealable;
		else
			sleeper = true;
	}
	if (behind == 0 || !sleeper || world.switches_stealing || !rt->switches.stealing) {
		*since_ps = 0;
		return;
	}
	if (rt->idle.sentries == 0)
		sim_fail("%u colors wait behind busy cores, a core sleeps and no core watches",
		    behind);
	if (*since_ps == 0)
		*since_ps = sim_now_ps();
#ifndef MELYINT_LIBASYNC /* it never takes a color with half of the victim's events or more */
	if (sim_now_ps() - *since_ps > STOLEN_WITHIN_MS * 1000000000ull)
		sim_fail("%u colors have waited behind busy cores for %d ms while a core sleeps",
		    behind, STOLEN_WITHIN_MS);
#endif
}

void
check_still(uint64_t until_ps)
{
	int i, j;

	check_structure();
	promise_still(until_ps);
	for (i = 0; i < world.program->runtimes; i++) {
		const struct mely_runtime *rt = world.runtime[i].rt;

		if (rt == NULL || rt->phase != MELYINT_RUNNING ||
		    world.program->runtime[i].once)
			continue;
		for (j = 0; j < rt->cores_count; j++) {
			const struct melyint_core *core = &rt->cores[j];

			if (core->locked.attended && !core->hint.busy && queue_length(core) != 0)
				sim_fail("core %d was not woken for %u colors", j,
				    queue_length(core));
		}
		check_worthy(i, rt);
	}
}

/* Is the runtime of a color running, without a request to stop? */
static bool
runs_on(int color)
{
	const struct world_runtime *wr = &world.runtime[world.program->color[color].runtime];

	return wr->running && !wr->stopping;
}

void
check_idle(void)
{
	int i;

	for (i = 0; i < world.posts; i++) {
		const struct post *post = &world.post[i];

		if (post->state == POST_MADE && post->item < 0 && !post->perhaps_dropped &&
		    runs_on(post->color))
			sim_fail("an event of color %d was posted and never ran", post->color);
	}
	for (i = 0; i < world.program->events; i++) {
		const struct world_event *we = &world.event[i];

		if (we->post != NULL && we->post->state == POST_MADE && we->pleas == 0 &&
		    runs_on(we->post->color))
			sim_fail("event %d was posted and never ran", i);
		if (we->done_out && !we->done_vague && we->done_runtime->running &&
		    !we->done_runtime->stopping)
			sim_fail("event %d: the completion of a cancel never came", i);
	}
	for (i = 0; i < PROGRAM_FDS; i++) {
		const struct world_fd *wf = &world.fd[i];

		if (wf->started && !wf->busy && !wf->perhaps_closed && sim_fd_ready(wf->fd) &&
		    runs_on(wf->color))
			sim_fail("descriptor %d is ready and no thread polls it", i);
	}
	for (i = 0; i < world.program->timers; i++) {
		const struct world_timer *wt = &world.timer[i];

		if (wt->started && !wt->pushed && wt->ran == 0 && runs_on(wt->color))
			sim_fail("timer %d never ran", i);
		if (wt->done_out && runs_on(wt->color))
			sim_fail("timer %d: the event of a stop never came", i);
	}
	for (i = 0; i < world.program->colors; i++) {
		if (world.color[i].closing && runs_on(i))
			sim_fail("the close of color %d never ended", i);
		if (runs_on(i))
			world_marks_told(i);
	}
}

void
check_over(void)
{
	int i;

	for (i = 0; i < world.posts; i++) {
		const struct post *post = &world.post[i];

		if (post->item < 0 && !post->perhaps_dropped &&
		    (post->state == POST_NEW || post->state == POST_MADE))
			sim_fail("an event of color %d was lost", post->color);
	}
	for (i = 0; i < world.program->events; i++) {
		const struct world_event *we = &world.event[i];

		if (check_outstanding(we) > we->pleas)
			sim_fail("event %d: posted %u, run %u, cancelled %u, handed back %u",
			    i, we->posted, we->ran, we->cancelled, we->handed_back);
		if (we->done_out && !we->done_vague)
			sim_fail("event %d: the completion of a cancel was lost", i);
	}
	for (i = 0; i < world.program->colors; i++) {
		if (world.color[i].released && !world.color[i].freed)
			sim_fail("color %d was released and never given back", i);
		if (world.color[i].closing)
			sim_fail("the event of a close of color %d was lost", i);
	}
	for (i = 0; i < world.program->timers; i++) {
		if (world.timer[i].done_out)
			sim_fail("timer %d: the event of a stop was lost", i);
	}
	if (world.spread_posted != world.spread_ended)
		sim_fail("%u events were posted to many ids, %u came to an end",
		    world.spread_posted, world.spread_ended);
	if (sim_memory_blocks() != 0)
		sim_fail("%zu blocks of memory (%zu bytes) were not given back",
		    sim_memory_blocks(), sim_memory_bytes());
	if (sim_fds_open() != 0)
		sim_fail("%d descriptors were left open", sim_fds_open());
}
