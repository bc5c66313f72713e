/* SPDX-License-Identifier: MIT */
/*
 * memory: resident bytes per idle color, by dense id, by scattered id and by object, and per
 * pending event. A color counts once an event of it has run and it is idle again. Resident
 * memory, not malloc's books, so that everything is in it: the allocator's loss, tables, pools.
 */
#include "mb_mely.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

enum kind { DENSE, SCATTERED, OBJECT, EVENT };

/* The events' colors: few enough that their own memory does not matter. */
enum { EVENT_COLORS = 1024 };

/* Pools and queues may still be giving memory back. */
#define SETTLE_S 0.2

static struct {
	struct mely_runtime *rt;
	enum kind kind;
	int colors;
	struct mely_color *objects;
	double before, after;
	sem_t done;
	struct mb_sample *out;
} bench;

static void
done(void)
{
	if (sem_post(&bench.done) != 0)
		mb_fail("sem_post", errno);
}

static void
wait_done(void)
{
	while (sem_wait(&bench.done) != 0 && errno == EINTR)
		;
}

/* ---- colors: each is touched by one event, which posts to the next ------------------------- */

static void touch(void *arg);
static struct mely_handler touch_handler = MELY_HANDLER(touch);

static void
post_touch(intptr_t i)
{
	void *arg = (void *)i;

	if (bench.kind == OBJECT)
		mb_must(mely_post(&bench.objects[i], &touch_handler, arg), "mely_post");
	else
		mb_must(mely_post_id(bench.rt, mb_color_id((int)i, bench.kind == SCATTERED),
		    &touch_handler, arg), "mely_post_id");
}

static void
touch(void *arg)
{
	intptr_t next = (intptr_t)arg + 1;

	if (next < bench.colors)
		post_touch(next);
	else
		done();
}

static void
measure_colors(void)
{
	int i;

	bench.before = mb_rss_bytes();
	if (bench.kind == OBJECT) {
		bench.objects = mb_array((size_t)bench.colors, sizeof(*bench.objects),
		    _Alignof(struct mely_color));
		for (i = 0; i < bench.colors; i++)
			mb_must(mely_color_init(&bench.objects[i], bench.rt), "mely_color_init");
	}
	post_touch(0);
	wait_done();
	mb_nap(SETTLE_S);
	bench.after = mb_rss_bytes();
	bench.out->events = bench.colors;
}

/* ---- events: all posted by one handler of the only core, so that none can run -------------- */

static void
nothing(void *arg)
{
	(void)arg;
}

static struct mely_handler nothing_handler = MELY_HANDLER(nothing);

static void
post_many(void *arg)
{
	int i, events = bench.colors;

	(void)arg;
	bench.before = mb_rss_bytes();
	for (i = 0; i < events; i++)
		mb_must(mely_post_id(bench.rt, mb_color_id(i % EVENT_COLORS, false),
		    &nothing_handler, NULL), "mely_post_id");
	bench.after = mb_rss_bytes();
	bench.out->events = events;
	done();
}

static struct mely_handler post_many_handler = MELY_HANDLER(post_many);

static void
measure_events(void)
{
	mb_must(mely_post_id(bench.rt, 0, &post_many_handler, NULL), "mely_post_id");
	wait_done();
}

/* ---- a run -------------------------------------------------------------------------------- */

static void second(void *arg);
static struct mely_handler second_handler = MELY_HANDLER(second);

static void
first(void *arg)
{
	(void)arg;
	mb_must(mely_post_id(bench.rt, 0, &second_handler, NULL), "mely_post_id");
}

static void
second(void *arg)
{
	(void)arg;
	done();
}

static struct mely_handler first_handler = MELY_HANDLER(first);

static void
measure(void *ctx)
{
	(void)ctx;
	/*
	 * Memory that the first posts (from outside and from a handler) and the first reading of
	 * /proc allocate is not counted: it does not depend on the number of colors.
	 */
	mb_must(mely_post_id(bench.rt, 0, &first_handler, NULL), "mely_post_id");
	wait_done();
	mb_rss_bytes();
	mb_nap(SETTLE_S);
	if (bench.kind == EVENT)
		measure_events();
	else
		measure_colors();
	bench.out->value = (bench.after - bench.before) / bench.out->events;
}

static void
run(void *ctx, struct mb_sample *out)
{
	const struct mb_options *opt = ctx;

	bench.out = out;
	if (sem_init(&bench.done, 0, 0) != 0)
		mb_fail("sem_init", errno);
	bench.rt = mb_runtime_new(bench.kind == EVENT || opt->cores == 0 ? 1 : opt->cores);
	out->cores = mely_cores(bench.rt);
	mb_runtime_run(bench.rt, measure, NULL);
	free(bench.objects);
	bench.objects = NULL;
	sem_destroy(&bench.done);
}

static void
run_series(const struct mb_options *opt)
{
	static const char *const variants[] = {
		[DENSE] = "color by dense id", [SCATTERED] = "color by scattered id",
		[OBJECT] = "color object", [EVENT] = "pending event",
	};
	struct mb_series series;
	struct mb_sample sample;
	int r;

	mb_series_init(&series, "memory", "mely", "bytes", bench.colors, opt->runs);
	series.variant = variants[bench.kind];
	series.method = "growth of the resident set";
	for (r = 0; r < opt->runs; r++) {
		mb_child_run(run, (void *)(uintptr_t)opt, 2 * SETTLE_S, false, &sample, 1);
		mb_series_add(&series, &sample);
	}
	mb_series_report(&series, opt->json);
}

int
main(int argc, char **argv)
{
	static const struct mb_program program = {
		.name = "memory",
		.what = "Resident bytes per idle color (by dense id, by scattered id, by object)\n"
		    "that has run an event, and per pending event. On one core unless --cores\n"
		    "is given; --seconds does not matter.",
		.colors_help = "colors, or events",
		/* Many, so that the constant overhead of an allocator is negligible. */
		.colors_default = 1000000,
		.colors_max = 10000000,
		.seconds_default = 1,
	};
	static const enum kind kinds[] = {DENSE, SCATTERED, OBJECT, EVENT};
	struct mb_options opt;
	size_t k;
	int i;

	mb_options_parse(&program, argc, argv, &opt);
	for (i = 0; i < opt.colors_count; i++) {
		bench.colors = opt.colors[i];
		for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			bench.kind = kinds[k];
			run_series(&opt);
		}
	}
	return 0;
}
