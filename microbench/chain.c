/* SPDX-License-Identifier: MIT */
/*
 * chain: K colors, each with one event that posts itself again. The cost of an event that does
 * nothing, and whether all colors advance equally.
 */
#include "mb_mely.h"

#include <stdlib.h>

/* One color's chain: two cache lines, of which a plain run touches only the second. */
struct link {
	MB_APART struct mely_color color; /* --objects */
	struct mely_event event;          /* --objects, --embedded */
	_Atomic uint64_t count;
	uint32_t id;
};

static struct chain {
	struct mely_runtime *rt;
	struct link *links;
	int colors;
	const struct mb_options *opt;
	struct mb_work work;
	bool objects, embedded, skewed, scattered;
} chain;

/* ---- handlers ----------------------------------------------------------------------------- */

static void chain_plain(void *arg);
static void chain_embedded(void *arg);
static void chain_object(void *arg);

static struct mely_handler plain_handler = MELY_HANDLER(chain_plain);
static struct mely_handler embedded_handler = MELY_HANDLER(chain_embedded);
static struct mely_handler object_handler = MELY_HANDLER(chain_object);

static void
chain_plain(void *arg)
{
	struct link *link = arg;

	if (mb_work_count(&chain.work, &link->count))
		mb_must(mely_post_id(chain.rt, link->id, &plain_handler, link), "mely_post_id");
}

static void
chain_embedded(void *arg)
{
	struct link *link = arg;

	if (mb_work_count(&chain.work, &link->count))
		mb_must(mely_event_post_id(chain.rt, link->id, &link->event), "mely_event_post_id");
}

static void
chain_object(void *arg)
{
	struct link *link = arg;

	if (mb_work_count(&chain.work, &link->count))
		mb_must(mely_event_post(&link->color, &link->event), "mely_event_post");
}

/* ---- a run -------------------------------------------------------------------------------- */

static void
link_start(struct link *link)
{
	if (chain.objects) {
		if (chain.skewed)
			mb_must(mely_color_init_on(&link->color, chain.rt, 0),
			    "mely_color_init_on");
		else
			mb_must(mely_color_init(&link->color, chain.rt), "mely_color_init");
		mely_event_init(&link->event, &object_handler, link);
		mb_must(mely_event_post(&link->color, &link->event), "mely_event_post");
		return;
	}
	if (chain.skewed)
		mb_color_start_on(chain.rt, link->id, 0);
	if (chain.embedded) {
		mely_event_init(&link->event, &embedded_handler, link);
		mb_must(mely_event_post_id(chain.rt, link->id, &link->event),
		    "mely_event_post_id");
	} else {
		mb_must(mely_post_id(chain.rt, link->id, &plain_handler, link), "mely_post_id");
	}
}

static void
start_all(void)
{
	int i;

	for (i = 0; i < chain.colors; i++)
		link_start(&chain.links[i]);
}

static uint64_t
link_count(void *ctx, int i)
{
	(void)ctx;
	return mb_counted(&chain.links[i].count);
}

static void
run(void *ctx, struct mb_sample *out)
{
	struct mb_counters counters = {chain.colors, link_count};
	int i;

	(void)ctx;
	chain.rt = mb_runtime_new(chain.opt->cores);
	out->cores = mely_cores(chain.rt);
	chain.links = mb_array((size_t)chain.colors, sizeof(*chain.links),
	    _Alignof(struct link));
	for (i = 0; i < chain.colors; i++)
		chain.links[i].id = mb_color_id(i, chain.scattered);
	mb_work_init(&chain.work, chain.opt, chain.colors);
	mb_work_run(&chain.work, chain.rt, chain.opt, start_all, &counters, out);
	free(chain.links);
}

static const char *
variant(void)
{
	if (chain.opt->events > 0)
		return chain.embedded ? "embedded,fixed work" :
		    mb_work_variant(chain.opt, chain.objects);
	if (chain.objects)
		return chain.skewed ? "objects,skewed" : "objects";
	if (chain.embedded)
		return chain.skewed ? "embedded,skewed" : "embedded";
	if (chain.scattered)
		return chain.skewed ? "scattered,skewed" : "scattered";
	return chain.skewed ? "skewed" : NULL;
}

int
main(int argc, char **argv)
{
	static const struct mb_switch switches[] = {
		{"objects", "color objects and embedded events", &chain.objects},
		{"embedded", "color ids and embedded events (default: ids, pooled events)",
		    &chain.embedded},
		{"skewed", "all colors on core 0 at the start; measured after 100 ms",
		    &chain.skewed},
		{"scattered", "ids spread over all 32 bits", &chain.scattered},
		{0},
	};
	static const struct mb_program program = {
		.name = "chain",
		.what = "Each of K colors has one event, which counts and posts itself again:\n"
		    "events a second, and fairness: the slowest color's count over the\n"
		    "fastest one's.",
		.colors_help = "colors",
		.colors_default = 64,
		.colors_max = 10000000,
		.seconds_default = 1,
		.has_events = true,
		.switches = switches,
	};
	struct mb_bench bench = {
		.name = "chain", .peer = "mely", .unit = "events/s", .run = run,
		.colors = &chain.colors,
	};
	struct mb_options opt;

	mb_options_parse(&program, argc, argv, &opt);
	chain.opt = &opt;
	bench.variant = variant();
	mb_bench_runs(&bench, &opt);
	return 0;
}
