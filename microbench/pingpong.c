/* SPDX-License-Identifier: MIT */
/*
 * pingpong: pairs of colors that post to each other in turn. The cost of an event that is posted to
 * another color, often on another core.
 */
#include "mb_mely.h"

#include <stdlib.h>

/* One side of a pair. */
struct paddle {
	MB_APART struct mely_color color; /* --objects */
	struct mely_event event;          /* --objects */
	_Atomic uint64_t count;
	uint32_t id;
	struct paddle *peer;
};

static struct pingpong {
	struct mely_runtime *rt;
	struct paddle *paddles; /* 2 * pairs; a pair is next to each other */
	int pairs;
	const struct mb_options *opt;
	struct mb_work work;
	bool objects, together;
} pingpong;

/* ---- handlers ----------------------------------------------------------------------------- */

static void hit_plain(void *arg);
static void hit_object(void *arg);

static struct mely_handler plain_handler = MELY_HANDLER(hit_plain);
static struct mely_handler object_handler = MELY_HANDLER(hit_object);

/* One more. False when it was the pair's last, that of the paddle that is behind. */
static inline bool
hit(struct paddle *paddle)
{
	return mb_work_count(&pingpong.work, &paddle->count) || paddle < paddle->peer;
}

static void
hit_plain(void *arg)
{
	struct paddle *paddle = arg;

	if (!hit(paddle))
		return;
	mb_must(mely_post_id(pingpong.rt, paddle->peer->id, &plain_handler, paddle->peer),
	    "mely_post_id");
}

static void
hit_object(void *arg)
{
	struct paddle *peer = ((struct paddle *)arg)->peer;

	if (!hit(arg))
		return;
	mb_must(mely_event_post(&peer->color, &peer->event), "mely_event_post");
}

/* ---- a run -------------------------------------------------------------------------------- */

static void
paddle_init(int i)
{
	struct paddle *paddle = &pingpong.paddles[i];
	int core = i / 2 % mely_cores(pingpong.rt);

	paddle->id = mb_color_id(i, false);
	paddle->peer = &pingpong.paddles[i ^ 1];
	if (!pingpong.objects) {
		if (pingpong.together)
			mb_color_start_on(pingpong.rt, paddle->id, core);
	} else {
		if (pingpong.together)
			mb_must(mely_color_init_on(&paddle->color, pingpong.rt, core),
			    "mely_color_init_on");
		else
			mb_must(mely_color_init(&paddle->color, pingpong.rt), "mely_color_init");
		mely_event_init(&paddle->event, &object_handler, paddle);
	}
}

static void
serve(struct paddle *paddle)
{
	if (pingpong.objects)
		mb_must(mely_event_post(&paddle->color, &paddle->event), "mely_event_post");
	else
		mb_must(mely_post_id(pingpong.rt, paddle->id, &plain_handler, paddle),
		    "mely_post_id");
}

static void
serve_all(void)
{
	int i;

	for (i = 0; i < pingpong.pairs; i++)
		serve(&pingpong.paddles[2 * i]);
}

static uint64_t
pair_count(void *ctx, int i)
{
	(void)ctx;
	return mb_counted(&pingpong.paddles[2 * i].count) +
	    mb_counted(&pingpong.paddles[2 * i + 1].count);
}

static void
run(void *ctx, struct mb_sample *out)
{
	struct mb_counters counters = {pingpong.pairs, pair_count};
	int i;

	(void)ctx;
	pingpong.rt = mb_runtime_new(pingpong.opt->cores);
	out->cores = mely_cores(pingpong.rt);
	pingpong.paddles = mb_array(2 * (size_t)pingpong.pairs, sizeof(*pingpong.paddles),
	    _Alignof(struct paddle));
	for (i = 0; i < 2 * pingpong.pairs; i++)
		paddle_init(i);
	mb_work_init(&pingpong.work, pingpong.opt, 2 * pingpong.pairs);
	mb_work_run(&pingpong.work, pingpong.rt, pingpong.opt, serve_all, &counters, out);
	free(pingpong.paddles);
}

int
main(int argc, char **argv)
{
	static const struct mb_switch switches[] = {
		{"objects", "color objects and embedded events (default: ids, pooled events)",
		    &pingpong.objects},
		{"together", "both colors of a pair begin on one core (default: ids do not)",
		    &pingpong.together},
		{0},
	};
	static const struct mb_program program = {
		.name = "pingpong",
		.what = "Pairs of colors post to each other in turn, one event a pair: hops a\n"
		    "second, and fairness: the slowest pair's count over the fastest one's.",
		.colors_help = "pairs of colors",
		.colors_default = 1,
		.colors_max = 1000000,
		.seconds_default = 1,
		.has_events = true,
		.switches = switches,
	};
	struct mb_bench bench = {
		.name = "pingpong", .peer = "mely", .unit = "hops/s", .run = run,
		.colors = &pingpong.pairs,
	};
	struct mb_options opt;

	mb_options_parse(&program, argc, argv, &opt);
	pingpong.opt = &opt;
	bench.variant = mb_work_variant(&opt, pingpong.objects);
	if (pingpong.together && opt.events == 0)
		bench.variant = pingpong.objects ? "objects,together" : "together";
	mb_bench_runs(&bench, &opt);
	return 0;
}
