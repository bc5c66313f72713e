/* SPDX-License-Identifier: MIT */
/*
 * fan: one producing handler posts an event to each of 1,024 colors in turn; each spins for
 * 100 ns. Eight rounds are outstanding: the last color returns one credit for each event it
 * runs. How much of the processors' time the work gets when one core feeds the others.
 */
#include "mb_mely.h"

#include <stdlib.h>

enum {
	ROUNDS_OUT = 8,
	WORK_NS = 100
};

struct blade {
	MB_APART struct mely_color color; /* --objects */
	_Atomic uint64_t count;
	uint32_t id;
};

static struct fan {
	struct mely_runtime *rt;
	struct blade *blades;
	int colors;
	uint32_t producer_id;
	uint64_t spin_ticks;
	const struct mb_options *opt;
	struct mb_work work;
	uint64_t rounds; /* begun; written by the producer's color */
	bool objects;
} fan;

/* ---- handlers ----------------------------------------------------------------------------- */

static void fan_round(void *arg);
static void fan_work(void *arg);

static struct mely_handler round_handler = MELY_HANDLER(fan_round);
static struct mely_handler work_handler = MELY_HANDLER_WITH(fan_work, WORK_NS, 0, 0);

static void
fan_work(void *arg)
{
	struct blade *blade = arg;

	mb_spin(fan.spin_ticks);
	mb_work_count(&fan.work, &blade->count);
	if (blade == &fan.blades[fan.colors - 1])
		mb_must(mely_post_id(fan.rt, fan.producer_id, &round_handler, NULL),
		    "mely_post_id");
}

static void
fan_round(void *arg)
{
	struct blade *blade;
	int i;

	(void)arg;
	if (fan.rounds++ >= fan.work.limit)
		return;
	for (i = 0; i < fan.colors; i++) {
		blade = &fan.blades[i];
		if (fan.objects)
			mb_must(mely_post(&blade->color, &work_handler, blade),
			    "mely_post");
		else
			mb_must(mely_post_id(fan.rt, blade->id, &work_handler, blade),
			    "mely_post_id");
	}
}

/* ---- a run -------------------------------------------------------------------------------- */

static void
start(void)
{
	int i;

	for (i = 0; i < ROUNDS_OUT; i++)
		mb_must(mely_post_id(fan.rt, fan.producer_id, &round_handler, NULL),
		    "mely_post_id");
}

static uint64_t
blade_count(void *ctx, int i)
{
	(void)ctx;
	return mb_counted(&fan.blades[i].count);
}

static void
run(void *ctx, struct mb_sample *out)
{
	struct mb_counters counters = {fan.colors, blade_count};
	int i;

	(void)ctx;
	fan.spin_ticks = (uint64_t)(mb_ticks_per_s() * WORK_NS * 1e-9);
	fan.rt = mb_runtime_new(fan.opt->cores);
	out->cores = mely_cores(fan.rt);
	fan.blades = mb_array((size_t)fan.colors, sizeof(*fan.blades), _Alignof(struct blade));
	for (i = 0; i < fan.colors; i++) {
		fan.blades[i].id = mb_color_id(i, false);
		if (fan.objects)
			mb_must(mely_color_init(&fan.blades[i].color, fan.rt), "mely_color_init");
	}
	fan.producer_id = mb_color_id(fan.colors, false);
	mb_work_init(&fan.work, fan.opt, fan.colors);
	mb_work_run(&fan.work, fan.rt, fan.opt, start, &counters, out);
	out->ideal_pct = out->value * WORK_NS * 1e-9 / out->cores * 100;
	free(fan.blades);
}

int
main(int argc, char **argv)
{
	static const struct mb_switch switches[] = {
		{"objects", "color objects (default: ids)", &fan.objects},
		{0},
	};
	static const struct mb_program program = {
		.name = "fan",
		.what = "One handler posts an event to each of K colors in turn, 100 ns of\n"
		    "spinning each, 8 rounds outstanding: events a second; ideal: cores / 100 ns.",
		.colors_help = "colors that get events",
		.colors_default = 1024,
		.colors_max = 1000000,
		.seconds_default = 1,
		.has_events = true,
		.switches = switches,
	};
	struct mb_bench bench = {
		.name = "fan", .peer = "mely", .unit = "events/s", .run = run,
		.colors = &fan.colors,
	};
	struct mb_options opt;

	mb_options_parse(&program, argc, argv, &opt);
	fan.opt = &opt;
	bench.variant = mb_work_variant(&opt, fan.objects);
	mb_bench_runs(&bench, &opt);
	return 0;
}
