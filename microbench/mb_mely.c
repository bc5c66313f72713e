/* SPDX-License-Identifier: MIT */
/*
 * mb_mely.c: a runtime for one run, and the side thread that measures it.
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

struct side_window {
	struct mb_window window;
	struct mb_sample *out;
};

static void
side_measure(void *ctx)
{
	struct side_window *side = ctx;

	mb_window_measure(&side->window, side->out);
}

void
mb_runtime_window(struct mely_runtime *rt, const struct mb_options *opt, int count,
    uint64_t (*read)(void *ctx, int i), struct mb_sample *out)
{
	struct side_window side = {
		.window = {.read = read, .count = count, .warmup_s = MB_WARMUP_S,
		    .seconds = opt->seconds},
		.out = out,
	};

	mb_runtime_run(rt, side_measure, &side);
}
