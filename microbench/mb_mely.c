/* SPDX-License-Identifier: MIT */
/*
 * mb_mely.c: a runtime for one run, and the side thread that measures what it does.
 */
#include "mb_mely.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void *
mb_array(size_t count, size_t size, size_t align)
{
	size_t bytes = (count * size + align - 1) / align * align;
	void *array = aligned_alloc(align, bytes);

	if (array == NULL)
		mb_fail("aligned_alloc", ENOMEM);
	memset(array, 0, bytes);
	return array;
}

struct mely_runtime *
mb_runtime_new(int cores)
{
	struct mely_runtime *rt;
	struct mely_config config;

	mb_must(mely_config_init(&config), "mely_config_init");
	if (cores > 0)
		config.cores = cores;
	mb_must(mely_runtime_new(&rt, &config), "mely_runtime_new");
	return rt;
}

int
mb_runtime_cores(int cores)
{
	struct mely_runtime *rt = mb_runtime_new(cores);
	int n = mely_cores(rt);

	mb_must(mely_runtime_free(rt), "mely_runtime_free");
	return n;
}

void
mb_color_start_on(struct mely_runtime *rt, uint32_t id, int core)
{
	struct mely_color *color;

	mb_must(mely_color_of_id(rt, id, &color), "mely_color_of_id");
	mb_must(mely_color_pin(color, core), "mely_color_pin");
	mb_must(mely_color_pin(color, MELY_ANY_CORE), "mely_color_pin");
	if (mely_color_core(color) != core)
		mb_fail("a color that was pinned does not live there", 0);
}

struct side {
	struct mely_runtime *rt;
	void (*fn)(void *ctx);
	void *ctx;
};

static void *
side_run(void *arg)
{
	struct side *side = arg;

	side->fn(side->ctx);
	mb_must(mely_stop(side->rt, MELY_STOP_DISCARD), "mely_stop");
	return NULL;
}

void
mb_runtime_run(struct mely_runtime *rt, void (*fn)(void *ctx), void *ctx)
{
	struct side side = {.rt = rt, .fn = fn, .ctx = ctx};
	pthread_t thread;
	int err = pthread_create(&thread, NULL, side_run, &side);

	if (err != 0)
		mb_fail("pthread_create", err);
	mb_must(mely_run(rt), "mely_run");
	err = pthread_join(thread, NULL);
	if (err != 0)
		mb_fail("pthread_join", err);
	mb_must(mely_runtime_free(rt), "mely_runtime_free");
}

/* ---- counted work ------------------------------------------------------------------------- */

void
mb_work_init(struct mb_work *work, const struct mb_options *opt, int counters)
{
	uint64_t n = (uint64_t)counters;

	work->limit = opt->events > 0 ? (opt->events + n - 1) / n : UINT64_MAX;
	work->events = work->limit * n;
	work->fixed = opt->events > 0 ? mb_fixed_new(counters) : NULL;
}

const char *
mb_work_variant(const struct mb_options *opt, bool objects)
{
	if (opt->events > 0)
		return objects ? "objects,fixed work" : "fixed work";
	return objects ? "objects" : NULL;
}

struct side_work {
	struct mb_work *work;
	struct mb_window window;
	void (*start)(void);
	struct mb_sample *out;
};

static void
work_start(void *arg)
{
	struct side_work *side = arg;

	mb_fixed_begin(side->work->fixed);
	side->start();
}

static struct mely_handler start_handler = MELY_HANDLER(work_start);

static void
work_measure(void *ctx)
{
	struct side_work *side = ctx;

	if (side->work->fixed != NULL)
		mb_fixed_measure(side->work->fixed, side->work->events, side->out);
	else
		mb_window_measure(&side->window, side->out);
}

void
mb_work_run(struct mb_work *work, struct mely_runtime *rt, const struct mb_options *opt,
    void (*start)(void), const struct mb_counters *counters, struct mb_sample *out)
{
	struct side_work side = {
		.work = work,
		.window = {.read = counters->read, .count = counters->count,
		    .warmup_s = MB_WARMUP_S, .seconds = opt->seconds},
		.start = start,
		.out = out,
	};

	if (work->fixed != NULL)
		mb_must(mely_post_id(rt, 0, &start_handler, &side), "mely_post_id");
	else
		start();
	mb_runtime_run(rt, work_measure, &side);
	if (work->fixed != NULL)
		mb_fixed_free(work->fixed);
}
