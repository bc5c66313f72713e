/* SPDX-License-Identifier: MIT */
/*
 * Fault: a producer posts "fill" to one color and then "use" to another, and assumes that the
 * first post runs first.
 * Twin: "fill" posts "use" when it is done.
 * expect: on_fill on_use heap
 */
#include "fault.h"

static struct mely_color *filler, *user;

static void
on_use(void *arg)
{
	int *cell = arg;

	if (*cell < 0)
		exit(2);
	done();
}

static struct mely_handler use = MELY_HANDLER(on_use);

static void
on_fill(void *arg)
{
	int *cell = arg;

	*cell = 7;
#ifdef FIXED
	MUST(mely_post(user, &use, cell));
#endif
	done();
}

static struct mely_handler fill = MELY_HANDLER(on_fill);

static void
on_produce(void *arg)
{
	MUST(mely_post(filler, &fill, arg));
#ifndef FIXED
	MUST(mely_post(user, &use, arg));
#endif
}

static struct mely_handler produce = MELY_HANDLER(on_produce);

int
main(void)
{
	int *cell = calloc(1, sizeof *cell);

	if (cell == NULL)
		return 2;
	begin(2);
	filler = color(1, "filler");
	user = color(2, "user");
	MUST(mely_post(color(3, "producer"), &produce, cell));
	run();
	free(cell);
	return 0;
}
