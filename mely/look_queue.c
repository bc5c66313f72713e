/* SPDX-License-Identifier: MIT */
/*
 * look_queue.c: walks of color-queues: see look.h. Their events are counted one by one up to a
 * limit, and beyond it by what they weigh.
 */
#include "look.h"

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

/* What an event of the handler that runs weighs, as far as it is known. */
static uint64_t
weight_of_running(struct melyint_core *core)
{
	/* relaxed, all: figures */
	struct melyint_handler_entry *entry =
	    melyint_handler_entry(MELY_LOAD(&core->tallies.handler, relaxed));
	uint32_t ns, penalty;

	if (entry == NULL)
		return 0;
	ns = MELY_LOAD(&entry->time_ns, relaxed);
	penalty = MELY_LOAD(&entry->penalty, relaxed);
	if (ns == 0)
		ns = MELY_LOAD(&entry->measured_ns, relaxed);
	return melyint_weight_from_ns(ns) / (penalty > 1 ? penalty : 1);
}

/* Events that were not counted, but weigh so much together. */
static void
estimate(struct melyint_sight *sight, uint64_t weight, uint64_t of_one, uint64_t run)
{
	uint64_t events;

	sight->row.flags |= of_one != 0 ? MELY_STATS_LENGTH_ESTIMATED : MELY_STATS_LENGTH_AT_LEAST;
	if (of_one == 0)
		return;
	events = (weight + of_one / 2) / of_one;
	sight->row.length += events > run ? events - run : 0;
}

/* Under core->lock; running: some of its events are in the batch. */
static void
look_at(struct melyint_core *core, struct mely_color *color, struct melyint_sight *sight,
    bool running)
{
	/* relaxed: under the lock */
	struct mely_event *heads = MELY_LOAD(&color->_heads, relaxed);
	struct counted counted = {0, 0, true};
	bool weighed = MELY_LOAD(&core->rt->weighing, relaxed) != MELYINT_WEIGH_NOT &&
	    !(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_RELEASED);
	uint64_t rest, of_one;

	melyint_look_color(core, color, heads != NULL ? heads : color->_tails, sight);
	count(&counted, heads);
	count(&counted, color->_tails);
	sight->row.length = counted.events;
	sight->touched = (uint32_t)counted.events;
	if (counted.all && !running)
		return;
	rest = weighed ? color->_u._worth._time_left : 0;
	rest = rest > counted.weight ? rest - counted.weight : 0;
	of_one = counted.events != 0 ? counted.weight / counted.events : 0;
	if (running && of_one == 0)
		of_one = weight_of_running(core);
	/* relaxed: what has begun of the batch still weighs, A of NOTE(tally) */
	estimate(sight, rest, weighed ? of_one : 0,
	    running ? MELY_LOAD(&core->tallies.begun, relaxed) : 0);
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
	look_at(core, color, sight, false);
	return true;
}

void
melyint_look_running(struct melyint_core *core, struct mely_color *color,
    struct melyint_sight *sight)
{
	look_at(core, color, sight, true);
	sight->row.flags |= MELY_STATS_AGE_AT_LEAST;
}
