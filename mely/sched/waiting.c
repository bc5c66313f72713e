/* SPDX-License-Identifier: MIT */
/*
 * waiting.c: the walk through a core's color-queues, step by step, and the events of one color:
 * counted up to a limit, and beyond it estimated from their weight. NOTE(census) in look/census.c.
 */
#include "sched/waiting.h"

/* Events counted, and their weight together. */
struct counted {
	uint64_t events;
	uint64_t weight;
	bool all;
};

static void
count(struct counted *counted, struct mely_event *first)
{
	const struct mely_event *ev = first;

	if (first == NULL)
		return;
	do {
		if (counted->events == MELYINT_WAITING_EVENTS) {
			counted->all = false;
			return;
		}
		counted->events++;
		counted->weight += melyint_weight_of(ev);
		ev = ev->_next;
	} while (ev != first);
}

/* Under core->lock: the events that wait in the color-queue. */
static void
read_color(struct melyint_core *core, struct mely_color *color, struct melyint_waiting *waiting)
{
	/* relaxed, all: under the lock, and a switch */
	struct mely_event *heads = MELY_LOAD(&color->_heads, relaxed);
	struct counted counted = {0, 0, true};
	bool weighed = MELY_LOAD(&core->rt->switches.weighing, relaxed) != MELYINT_WEIGH_NOT &&
	    !(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_RELEASED);
	uint64_t rest, of_one;

	melyint_waiting_read(core, color, heads != NULL ? heads : color->_tails, waiting);
	count(&counted, heads);
	count(&counted, color->_tails);
	waiting->row.length = counted.events;
	waiting->touched = (uint32_t)counted.events;
	if (counted.all)
		return;
	/* Estimate the rest: the weight that is left, at the average weight of those counted. */
	rest = weighed ? color->_u._worth._time_left : 0;
	rest = rest > counted.weight ? rest - counted.weight : 0;
	of_one = counted.weight / counted.events;
	if (of_one == 0 || rest == 0) {
		waiting->row.flags |= MELY_STATS_LENGTH_AT_LEAST;
		return;
	}
	waiting->row.flags |= MELY_STATS_LENGTH_ESTIMATED;
	waiting->row.length += (rest + of_one / 2) / of_one;
}

uint32_t
melyint_waiting_begin(struct melyint_core *core)
{
	/* A of NOTE(census): one walk at a time */
	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock) && core->ready.cursor == NULL);
	core->ready.cursor = melyint_coreq_highest(&core->ready);
	return core->ready.length;
}

bool
melyint_waiting_next(struct melyint_core *core, struct melyint_waiting *waiting)
{
	struct mely_color *color = core->ready.cursor;

	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock));
	if (color == NULL)
		return false;
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_QUEUED);
	core->ready.cursor = melyint_coreq_next(&core->ready, color);
	read_color(core, color, waiting);
	return true;
}

void
melyint_waiting_answer(struct melyint_core *core)
{
	struct melyint_batch *batch = &core->batch;
	struct melyint_answer *answer = &core->tallies.answer;
	struct mely_event *first = batch->heads != NULL ? batch->heads : batch->tails;
	struct counted counted = {0, 0, true};

	MELY_DEBUG_ASSERT(core == melyint_self);
	count(&counted, batch->heads);
	count(&counted, batch->tails);
	count(&counted, batch->own);
	/* relaxed, all: the last store publishes them. Own posts have no stamp yet. */
	MELY_STORE(&answer->color, batch->color, relaxed);
	MELY_STORE(&answer->events, (uint32_t)counted.events, relaxed);
	MELY_STORE(&answer->more, !counted.all, relaxed);
	MELY_STORE(&answer->stamp, first != NULL ? first->_stamp : 0, relaxed);
	/* release: pairs with the acquire in melyint_waiting_running */
	MELY_STORE(&answer->to, MELY_LOAD(&core->rt->walks.begun, relaxed), release);
}

void
melyint_waiting_running(struct melyint_core *core, struct mely_color *color,
    struct melyint_waiting *waiting)
{
	const struct melyint_answer *answer = &core->tallies.answer;
	uint64_t stamp;

	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_RUNNING);
	read_color(core, color, waiting);
	/* acquire: pairs with the release in melyint_waiting_answer; relaxed, others: figures */
	if (MELY_LOAD(&answer->to, acquire) != MELY_LOAD(&core->rt->walks.begun, relaxed) ||
	    MELY_LOAD(&answer->color, relaxed) != color) {
		waiting->row.flags |= MELY_STATS_LENGTH_AT_LEAST | MELY_STATS_AGE_AT_LEAST;
		return;
	}
	stamp = MELY_LOAD(&answer->stamp, relaxed);
	if (stamp != 0)
		waiting->stamp_ticks = stamp; /* the events taken into the batch came first */
	waiting->row.length += MELY_LOAD(&answer->events, relaxed);
	waiting->row.flags |= MELY_LOAD(&answer->more, relaxed) ? MELY_STATS_LENGTH_AT_LEAST :
	    MELY_STATS_LENGTH_ESTIMATED;
}

/* ---- ages ------------------------------------------------------------------------------------ */

void
melyint_waiting_each(struct melyint_core *core, bool (*visit)(void *ctx, struct mely_event *ev),
    void *ctx)
{
	int level;

	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock));
	for (level = MELYINT_LEVELS - 1; level >= 0; level--) {
		struct mely_color *first = core->ready.first[level], *color = first;

		if (first == NULL)
			continue;
		do {
			/* relaxed: under the lock */
			if (!melyint_waiting_walk(MELY_LOAD(&color->_heads, relaxed), visit, ctx) ||
			    !melyint_waiting_walk(color->_tails, visit, ctx))
				return;
			color = color->_next;
		} while (color != first);
	}
}

uint64_t
melyint_waiting_oldest(struct melyint_core *core, uint64_t now_ticks)
{
	int level;

	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock));
	for (level = 0; level < MELYINT_LEVELS; level++) {
		struct mely_color *first = core->ready.first[level], *color = first;
		int left = MELYINT_WAITING_FRONT;

		if (first == NULL)
			continue;
		do {
			/* relaxed: under the lock */
			now_ticks = melyint_waiting_older(MELY_LOAD(&color->_heads, relaxed),
			    now_ticks);
			now_ticks = melyint_waiting_older(color->_tails, now_ticks);
			color = color->_next;
		} while (color != first && --left > 0);
	}
	return now_ticks;
}
