/* SPDX-License-Identifier: MIT */
/*
 * Fault: the owner of a job cancels its event from another color and reuses the job at once,
 * ignoring the result of mely_event_cancel; but the job was about to run.
 * Twin: the worker posts the end of the job to the owner's color; only then does the owner use it.
 * expect: on_job on_give_up job
 */
#include "fault.h"

static struct job {
	struct mely_event event;
	int result;
} job;

static struct mely_color *owner, *worker;

static void on_give_up(void *arg);
static struct mely_handler give_up = MELY_HANDLER(on_give_up);

static void
on_job(void *arg)
{
	struct job *j = arg;

	j->result = 42;
	take_turn(1);
#ifdef FIXED
	MUST(mely_post(owner, &give_up, j));
#endif
}

static struct mely_handler work = MELY_HANDLER(on_job);

static void
on_give_up(void *arg)
{
	struct job *j = arg;

	if (!my_turn(1)) {
		/* The job has not begun: a cancel now would be correct. */
		MUST(mely_post(owner, &give_up, j));
		return;
	}
	mely_event_cancel(&j->event, NULL, NULL);
	j->result = 0;
	done();
}

int
main(void)
{
	begin(1);
	owner = color(1, "owner");
	worker = color(2, "worker");
	mely_event_init(&job.event, &work, &job);
	MUST(mely_event_post(worker, &job.event));
#ifndef FIXED
	MUST(mely_post(owner, &give_up, &job));
#endif
	return run();
}
