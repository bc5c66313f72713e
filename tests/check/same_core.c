/* SPDX-License-Identifier: MIT */
/*
 * Fault: two colors are pinned to one core, "so they never run in parallel"; as soon as a pin is
 * removed or a color is pinned elsewhere, they do.
 * Twin: events that must not run in parallel have the same color.
 * expect: on_ping on_pong hits
 */
#include "fault.h"

enum { EVENTS = 20 };

static int hits;

static void
on_ping(void *arg)
{
	(void)arg;
	hits++;
	done();
}

static void
on_pong(void *arg)
{
	(void)arg;
	hits--;
	done();
}

static struct mely_handler ping = MELY_HANDLER(on_ping);
static struct mely_handler pong = MELY_HANDLER(on_pong);

int
main(void)
{
	struct mely_color *pings, *pongs;
	int i;

	begin(2 * EVENTS);
	pings = color(1, "ping");
#ifdef FIXED
	pongs = pings;
#else
	pongs = color(2, "pong");
#endif
	MUST(mely_color_pin(pings, 0));
	MUST(mely_color_pin(pongs, 0));
	for (i = 0; i < EVENTS; i++) {
		MUST(mely_post(pings, &ping, NULL));
		MUST(mely_post(pongs, &pong, NULL));
	}
	return run();
}
