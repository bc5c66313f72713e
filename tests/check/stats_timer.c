/* SPDX-License-Identifier: MIT */
/*
 * Fault: a timer of color 0 prints a counter that the connections increment in their own color;
 * "it is only statistics".
 * Twin: the counter is atomic, and needs no color.
 * expect: on_request on_report requests
 */
#include "fault.h"

#ifdef FIXED
static _Atomic long requests;
#else
static long requests;
#endif
static int left = 100;
static mely_watch timer;
static struct mely_color *connection;

static void on_request(void *arg);
static struct mely_handler request = MELY_HANDLER(on_request);

static void
on_request(void *arg)
{
	(void)arg;
	requests++;
	if (--left > 0)
		MUST(mely_post(connection, &request, NULL));
	else
		done();
}

static void
on_report(void *arg)
{
	(void)arg;
	if (requests < 0)
		exit(2);
	done();
}

static struct mely_handler report = MELY_HANDLER(on_report);

int
main(void)
{
	begin(2);
	connection = color(5, "connection");
	MUST(mely_timer_start(color(0, "reports"), 1000000, 0, 0, &report, NULL, &timer));
	MUST(mely_post(connection, &request, NULL));
	return run();
}
