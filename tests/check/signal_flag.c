/* SPDX-License-Identifier: MIT */
/*
 * Fault: the event of a signal sets a plain flag in its color, and the worker reads the flag in
 * another. The event is not an asynchronous signal handler, but its color is not ordered with it.
 * Twin: the worker's color watches the signal.
 * expect: on_signal on_work leaving
 */
#include <signal.h>
#include "fault.h"

static int leaving, raised;
static mely_watch signals;
static struct mely_color *worker;

static void
on_signal(void *arg)
{
	(void)arg;
	leaving = 1;
	take_turn(1);
	done();
}

static void on_work(void *arg);
static struct mely_handler work = MELY_HANDLER(on_work);
static struct mely_handler signalled = MELY_HANDLER(on_signal);

static void
on_work(void *arg)
{
	(void)arg;
	if (!raised) {
		raised = 1;
		kill(getpid(), SIGUSR2);
	}
	if (!my_turn(1) || !leaving)
		MUST(mely_post(worker, &work, NULL));
	else
		done();
}

int
main(void)
{
	struct mely_color *notices;

	begin(2);
	worker = color(1, "worker");
#ifdef FIXED
	notices = worker;
#else
	notices = color(2, "signals");
#endif
	MUST(mely_signal_watch(notices, SIGUSR2, &signalled, NULL, &signals));
	MUST(mely_post(worker, &work, NULL));
	return run();
}
