/* SPDX-License-Identifier: MIT */
/*
 * look_queue.c: walks of color-queues: see look.h. Their events are counted one by one up to a
 * limit, and beyond it by what they weigh.
 */
#include "look/look.h"

/* Events counted, and what they weigh together. */
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
		if (counted->events == MELYINT_LOOK_EVENTS) {
			counted->all = false;
			return;
		}
		counted->events++;
		counted->weight += melyint_weight_of(ev);
		ev = ev->_next;
	} while (ev != first);
}

/* Under core->lock: what waits in the color-queue. */
static void
look_at(struct melyint_core *core, struct mely_color *color, struct melyint_sight *sight)
{
	/* relaxed, all: under the lock, and a switch */
	struct mely_event *heads = MELY_LOAD(&color->_heads, relaxed);
	struct counted counted = {0, 0, true};
	bool weighed = MELY_LOAD(&core->rt->switches.weighing, relaxed) != MELYINT_WEIGH_NOT &&
	    !(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_RELEASED);
	uint64_t rest, of_one;

	melyint_look_color(core, color, heads != NULL ? heads : color->_tails, sight);
	count(&counted, heads);
	count(&counted, color->_tails);
	sight->row.length = counted.events;
	sight->touched = (uint32_t)counted.events;
	if (counted.all)
		return;
	/* The rest weighs what is left of the color's weight, each like those counted. */
	rest = weighed ? color->_u._worth._time_left : 0;
	rest = rest > counted.weight ? rest - counted.weight : 0;
	of_one = counted.weight / counted.events;
	if (of_one == 0 || rest == 0) {
		sight->row.flags |= MELY_STATS_LENGTH_AT_LEAST;
		return;
	}
	sight->row.flags |= MELY_STATS_LENGTH_ESTIMATED;
	sight->row.length += (rest + of_one / 2) / of_one;
}

uint32_t
melyint_look_begin(struct melyint_core *core)
{
	core->ready.cursor = melyint_coreq_highest(&core->ready);
	return core->ready.length;
}

bool
melyint_look_next(struct melyint_core *core, struct melyint_sight *sight)
{
	struct mely_color *color = core->ready.cursor;

	if (color == NULL)
		return false;
	core->ready.cursor = melyint_coreq_next(&core->ready, color);
	look_at(core, color, sight);
	return true;
}

void
melyint_look_answer(struct melyint_core *core)
{
	struct melyint_batch *batch = &core->batch;
	struct melyint_answer *answer = &core->tallies.answer;
	struct mely_event *first = batch->heads != NULL ? batch->heads : batch->tails;
	struct counted counted = {0, 0, true};

	count(&counted, batch->heads);
	count(&counted, batch->tails);
	count(&counted, batch->own);
	/* relaxed, all: published by the last. What it posted to itself has no stamp yet. */
	MELY_STORE(&answer->color, batch->color, relaxed);
	MELY_STORE(&answer->events, (uint32_t)counted.events, relaxed);
	MELY_STORE(&answer->more, !counted.all, relaxed);
	MELY_STORE(&answer->stamp, first != NULL ? first->_stamp : 0, relaxed);
	/* release: pairs with the acquire in melyint_look_running */
	MELY_STORE(&answer->to, MELY_LOAD(&core->rt->walks.begun, relaxed), release);
}

void
melyint_look_running(struct melyint_core *core, struct mely_color *color,
    struct melyint_sight *sight)
{
	const struct melyint_answer *answer = &core->tallies.answer;
	uint64_t stamp;

	look_at(core, color, sight);
	/* acquire: pairs with the release in melyint_look_answer; relaxed, all others: figures */
	if (MELY_LOAD(&answer->to, acquire) != MELY_LOAD(&core->rt->walks.begun, relaxed) ||
	    MELY_LOAD(&answer->color, relaxed) != color) {
		sight->row.flags |= MELY_STATS_LENGTH_AT_LEAST | MELY_STATS_AGE_AT_LEAST;
		return;
	}
	stamp = MELY_LOAD(&answer->stamp, relaxed);
	if (stamp != 0)
		sight->stamp_ticks = stamp; /* what was taken came first */
	sight->row.length += MELY_LOAD(&answer->events, relaxed);
	sight->row.flags |= MELY_LOAD(&answer->more, relaxed) ? MELY_STATS_LENGTH_AT_LEAST :
	    MELY_STATS_LENGTH_ESTIMATED;
}
