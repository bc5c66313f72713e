/* SPDX-License-Identifier: MIT */
/*
 * unbalanced: the paper's Tables 3 and 4. In each round core 0 posts 50,000 events of as many
 * colors, all of which live there: 98 in 100 run for 100 cycles, the others for 10,000 to 50,000.
 * There is enough to steal for every core, but little of it is worth a steal.
 */
#include "mb_paper.h"
#include "mb_rounds.h"

#include <stdlib.h>

/* An event and its color: two cache lines. */
struct item {
	MB_APART struct mely_color color;
	struct mely_event event;
	uint32_t cycles;
	uint32_t ran;
};

static struct {
	struct item *items;
	int count;
	uint32_t rounds; /* ended */
} unbalanced;

/* ---- handlers ----------------------------------------------------------------------------- */

static void unbalanced_short(void *arg);
static void unbalanced_long(void *arg);

static struct mely_handler short_handler = MELY_HANDLER(unbalanced_short);
static struct mely_handler long_handler = MELY_HANDLER(unbalanced_long);

static void
unbalanced_short(void *arg)
{
	struct item *item = arg;

	mb_burn(UNBALANCED_SHORT);
	item->ran++;
	mb_rounds_done();
}

static void
unbalanced_long(void *arg)
{
	struct item *item = arg;

	mb_burn(item->cycles);
	item->ran++;
	mb_rounds_done();
}

/* ---- rounds ------------------------------------------------------------------------------- */

static uint32_t
setup(struct mely_runtime *rt, const struct mb_config *config, int count)
{
	uint32_t longs = (uint32_t)(count + UNBALANCED_LONG_ONE_IN - 1) / UNBALANCED_LONG_ONE_IN;
	uint32_t draws = MB_PAPER_DRAW_FIRST, left;
	struct item *item;

	if (config->annotated) {
		short_handler.time_ns = mb_rounds_ns(UNBALANCED_SHORT);
		long_handler.time_ns = mb_rounds_ns((UNBALANCED_LONG_MIN + UNBALANCED_LONG_MAX) /
		    2);
		short_handler.penalty = long_handler.penalty = 1;
	}
	unbalanced.count = count;
	unbalanced.items = mb_array((size_t)count, sizeof(*item), _Alignof(struct item));
	for (left = (uint32_t)count, item = unbalanced.items; left > 0; left--, item++) {
		item->cycles = mb_paper_unbalanced(&draws, left, &longs);
		mb_must(mely_color_init_on(&item->color, rt, 0), "mely_color_init_on");
		mely_event_init(&item->event, item->cycles == UNBALANCED_SHORT ? &short_handler :
		    &long_handler, item);
	}
	return (uint32_t)count;
}

static void
begin(void)
{
	struct item *item, *end = unbalanced.items + unbalanced.count;

	for (item = unbalanced.items; item < end; item++)
		mb_must(mely_event_post(&item->color, &item->event), "mely_event_post");
}

static void
end(struct mb_tally *tally)
{
	struct item *item, *end_item = unbalanced.items + unbalanced.count;

	unbalanced.rounds++;
	for (item = unbalanced.items; item < end_item; item++) {
		if (item->ran != unbalanced.rounds)
			mb_fail("an event did not run exactly once a round", 0);
		tally->events++;
		tally->cycles += item->cycles;
		if (mely_color_core(&item->color) == 0)
			continue;
		tally->away_events++;
		tally->away_cycles += item->cycles;
		mb_rounds_home(&item->color, 0);
	}
}

static void
teardown(void)
{
	free(unbalanced.items);
}

int
main(int argc, char **argv)
{
	static const struct mb_program program = {
		.name = "unbalanced",
		.what = "Rounds of K events of K colors, all posted by core 0 and living there:\n"
		    "98 % take 100 cycles, 2 % 10,000 to 50,000. Events a second, and the ideal:\n"
		    "cycles the handlers were asked to burn, over cores x elapsed cycles.",
		.colors_help = "events of a round, each of its own color",
		.colors_default = UNBALANCED_EVENTS,
		.colors_max = 10000000,
	};
	static const struct mb_rounds_bench bench = {NULL, setup, begin, end, teardown};

	return mb_rounds_main(&program, &bench, argc, argv);
}
