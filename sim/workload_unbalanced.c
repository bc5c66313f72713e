/* SPDX-License-Identifier: MIT */
/*
 * workload_unbalanced.c: microbench/unbalanced.c for the simulated machine. Each of several
 * producers posts as many events as a single one would, on its own core.
 */
#include <stdlib.h>

#include "../microbench/mb_paper.h"
#include "workload.h"

/* An event and its color: two cache lines. */
struct item {
	_Alignas(64) struct mely_color color;
	struct mely_event event;
	uint32_t cycles;
	uint16_t producer;
	uint16_t ran; /* rounds */
};

static struct {
	struct item *items; /* producer by producer */
	int count;          /* of each */
	int producers;
	uint16_t rounds;    /* ended */
} unbalanced;

static void unbalanced_short(void *arg);
static void unbalanced_long(void *arg);

static struct mely_handler short_handler = MELY_HANDLER(unbalanced_short);
static struct mely_handler long_handler = MELY_HANDLER(unbalanced_long);

static void
run(struct item *item)
{
	sim_enter();
	/* Its line has just been read for its event. */
	sim_compute(item->cycles);
	item->ran++;
	sim_round_done(item->producer);
}

static void
unbalanced_short(void *arg)
{
	run(arg);
}

static void
unbalanced_long(void *arg)
{
	run(arg);
}

static uint32_t
setup(struct mely_runtime *rt, const struct sim_params *params)
{
	int count = params->count > 0 ? params->count : UNBALANCED_EVENTS, p, i;
	uint32_t draws = MB_PAPER_DRAW_FIRST, longs;

	unbalanced.count = count;
	unbalanced.producers = params->producers;
	unbalanced.rounds = 0;
	if (params->annotated) {
		short_handler.time_ns = sim_ns(UNBALANCED_SHORT);
		long_handler.time_ns = sim_ns((UNBALANCED_LONG_MIN + UNBALANCED_LONG_MAX) / 2);
		short_handler.penalty = long_handler.penalty = 1;
	}
	unbalanced.items = sim_items((size_t)count * (size_t)params->producers,
	    sizeof(*unbalanced.items));
	for (p = 0; p < params->producers; p++) {
		longs = (uint32_t)(count + UNBALANCED_LONG_ONE_IN - 1) / UNBALANCED_LONG_ONE_IN;
		for (i = 0; i < count; i++) {
			struct item *item = &unbalanced.items[(size_t)p * (size_t)count +
			    (size_t)i];

			item->producer = (uint16_t)p;
			item->cycles = mb_paper_unbalanced(&draws, (uint32_t)(count - i), &longs);
			sim_must(mely_color_init_on(&item->color, rt, sim_producer_core(p)),
			    "mely_color_init_on");
			mely_event_init(&item->event, item->cycles == UNBALANCED_SHORT ?
			    &short_handler : &long_handler, item);
		}
	}
	return (uint32_t)count;
}

static void
begin(int producer)
{
	struct item *item = unbalanced.items + (size_t)producer * (size_t)unbalanced.count;
	struct item *last = item + unbalanced.count;

	for (; item < last; item++)
		sim_post(&item->color, &item->event);
}

static void
end(struct sim_tally *tally)
{
	size_t count = (size_t)unbalanced.count * (size_t)unbalanced.producers, i;

	unbalanced.rounds++;
	for (i = 0; i < count; i++) {
		struct item *item = &unbalanced.items[i];
		int home = sim_producer_core(item->producer);

		if (item->ran != unbalanced.rounds)
			sim_wrong("an event did not run exactly once a round", 0);
		tally->events++;
		tally->cycles += item->cycles;
		if (mely_color_core(&item->color) == home)
			continue;
		tally->away_events++;
		tally->away_cycles += item->cycles;
		sim_home(&item->color, home);
	}
}

static void
teardown(void)
{
	free(unbalanced.items);
}

const struct sim_workload sim_unbalanced = {"unbalanced", setup, begin, end, teardown, true};
