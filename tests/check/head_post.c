/* SPDX-License-Identifier: MIT */
/*
 * Fault: an event posted at the head of its color reads the settings, "so it runs before
 * everything"; it runs before the other events of its color, not before those of other colors.
 * Twin: the events that need the settings have the same color.
 * expect: on_settings on_serve settings
 */
#include "fault.h"

enum { REQUESTS = 5 };

static struct {
	int timeout, limit;
} settings;
static int served;

static void
on_settings(void *arg)
{
	(void)arg;
	settings.timeout = 30;
	settings.limit = 100;
	done();
}

static void
on_serve(void *arg)
{
	(void)arg;
	served += settings.timeout > 0 && settings.limit > 0;
	done();
}

static struct mely_handler read_in = MELY_HANDLER(on_settings);
static struct mely_handler serve = MELY_HANDLER(on_serve);

int
main(void)
{
	struct mely_color *setup, *service;
	int i;

	begin(REQUESTS + 1);
	setup = color(1, "setup");
#ifdef FIXED
	service = setup;
#else
	service = color(2, "service");
#endif
	for (i = 0; i < REQUESTS; i++)
		MUST(mely_post(service, &serve, NULL));
	MUST(mely_post_head(setup, &read_in, NULL));
	return run();
}
