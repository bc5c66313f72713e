/* SPDX-License-Identifier: MIT */
/*
 * Fault: the color that watches all children writes the end of a child into its job, while the
 * job's own color reads whether the child has ended.
 * Twin: the job's color watches the child.
 * expect: on_child on_look heap
 */
#include <sys/wait.h>
#include "fault.h"

struct job {
	struct mely_color *color;
	int over, looks;
};

static void
on_child(void *arg)
{
	struct job *job = arg;

	job->over = WIFEXITED(mely_child_status());
	take_turn(1);
	done();
}

static void on_look(void *arg);
static struct mely_handler look = MELY_HANDLER(on_look);
static struct mely_handler ended = MELY_HANDLER(on_child);

static void
on_look(void *arg)
{
	struct job *job = arg;

	if (!my_turn(1)) {
		MUST(mely_post(job->color, &look, job));
		return;
	}
	if (!job->over)
		exit(2);
	done();
}

int
main(void)
{
	struct job *job = calloc(1, sizeof *job);
	struct mely_color *children;
	mely_watch watch;
	pid_t pid;

	if (job == NULL || (pid = fork()) < 0)
		return 2;
	if (pid == 0)
		_exit(0);
	begin(2);
	job->color = color(1, "job");
#ifdef FIXED
	children = job->color;
#else
	children = color(2, "children");
#endif
	MUST(mely_child_watch(children, pid, &ended, job, &watch));
	MUST(mely_post(job->color, &look, job));
	run();
	free(job);
	return 0;
}
