/* SPDX-License-Identifier: MIT */
/*
 * Fault: a guest with a color object releases it in its last handler and is freed, while a
 * watchman in another color still has a pointer to the guest.
 * Twin: the watchman reads the guest last, and then posts to it that it may go.
 * expect: on_gone on_watch heap
 */
#include "fault.h"

struct guest {
	struct mely_color color;
	int beats;
};

static struct mely_color *watchman;
static int seen;

/* The guest's color has no more events: the program may free its memory. */
static void
on_gone(void *arg)
{
	free(arg);
	done();
}

static void on_last(void *arg);
static struct mely_handler last = MELY_HANDLER(on_last);

static void
on_last(void *arg)
{
	struct guest *guest = arg;

	/* The fault releases the color after the watchman's access, so no crash follows. */
	if (my_turn(1))
		mely_color_release(&guest->color, on_gone, guest);
	else
		MUST(mely_post(&guest->color, &last, guest));
}

static void
on_watch(void *arg)
{
	struct guest *guest = arg;

	seen += guest->beats;
	take_turn(1);
#ifdef FIXED
	MUST(mely_post(&guest->color, &last, guest));
#endif
}

static struct mely_handler watch = MELY_HANDLER(on_watch);

int
main(void)
{
	struct guest *guest = aligned_alloc(64, sizeof *guest);

	if (guest == NULL)
		return 2;
	begin(1);
	guest->beats = 0;
	watchman = color(1, "watchman");
	MUST(mely_color_init(&guest->color, rt));
	MUST(mely_color_set_name(&guest->color, "guest"));
	MUST(mely_post(watchman, &watch, guest));
#ifndef FIXED
	MUST(mely_post(&guest->color, &last, guest));
#endif
	return run();
}
