/* SPDX-License-Identifier: MIT */
/*
 * Fault: a session with a color object gives itself back in its last handler, and is freed,
 * while a watchman of another color still has a pointer to it.
 * Twin: the watchman, who is the last to look at the session, tells it to go.
 * expect: on_gone on_watch heap
 */
#include "fault.h"

struct session {
	struct mely_color color;
	int beats;
};

static struct mely_color *watchman;
static int seen;

/* No more event of the session will come: its memory is the program's. */
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
	struct session *session = arg;

	/* In the fault: later than the watchman, so that the program comes to no grief. */
	if (my_turn(1))
		mely_color_release(&session->color, on_gone, session);
	else
		MUST(mely_color_post(&session->color, &last, session));
}

static void
on_watch(void *arg)
{
	struct session *session = arg;

	seen += session->beats;
	take_turn(1);
#ifdef FIXED
	MUST(mely_color_post(&session->color, &last, session));
#endif
}

static struct mely_handler watch = MELY_HANDLER(on_watch);

int
main(void)
{
	struct session *session = aligned_alloc(64, sizeof *session);

	if (session == NULL)
		return 2;
	begin(1);
	session->beats = 0;
	watchman = color(1, "watchman");
	MUST(mely_color_init(&session->color, rt));
	MUST(mely_color_set_name(&session->color, "session"));
	MUST(mely_color_post(watchman, &watch, session));
#ifndef FIXED
	MUST(mely_color_post(&session->color, &last, session));
#endif
	return run();
}
