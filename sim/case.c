/* SPDX-License-Identifier: MIT */
/* case.c: one program under one schedule, in a child process; see hunt.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hunt.h"
#include "options.h"
#include "world.h"

enum { TRY_SECONDS = 20 };

void
hunt_case_init(struct hunt_case *c, uint64_t seed)
{
	memset(c, 0, sizeof *c);
	c->seed = c->schedule = seed;
}

void
hunt_case_make(const struct hunt_case *c, struct program *program)
{
	int i;

	program_make(program, c->seed);
	for (i = 0; i < program->ops; i++) {
		if (c->drop[i])
			program->op[i].kind = OP_NONE;
	}
	for (i = 0; i < program->runtimes; i++) {
		if (c->cores_max > 0 && program->runtime[i].cores > c->cores_max)
			program->runtime[i].cores = c->cores_max;
	}
	for (i = 0; i < program->colors; i++) {
		struct color_plan *color = &program->color[i];

		if (color->core >= program->runtime[color->runtime].cores)
			color->core = 0;
	}
}

static void
try_here(const struct hunt_case *c, int tries, struct hunt_result *shared)
{
	static struct program program;
	struct sim_outcome outcome;
	int i;

	hunt_case_make(c, &program);
	alarm(TRY_SECONDS);
	for (i = 0; i < tries; i++) {
		shared->schedule = c->schedule + (uint64_t)i;
		world_run(&program, shared->schedule, &outcome);
		shared->outcome = outcome;
		if (outcome.failed) {
			shared->failed = true;
			return;
		}
	}
}

void
hunt_case_try(const struct hunt_case *c, int tries, struct hunt_result *result)
{
	struct hunt_result *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	pid_t pid;

	if (shared == MAP_FAILED || (pid = fork()) < 0) {
		fprintf(stderr, "mely-sim: no child: %s\n", strerror(errno));
		exit(2);
	}
	if (pid == 0) {
		try_here(c, tries, shared);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*result = *shared;
	munmap(shared, sizeof *shared);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	result->failed = true;
	if (WIFSIGNALED(status))
		snprintf(result->outcome.text, sizeof result->outcome.text, "%s",
		    WTERMSIG(status) == SIGALRM ? "hangs" : strsignal(WTERMSIG(status)));
	else
		snprintf(result->outcome.text, sizeof result->outcome.text, "exits");
}

void
hunt_case_print(const struct hunt_case *c, FILE *out)
{
	bool first = true;
	int i, j;

	fprintf(out, "%s replay --seed 0x%llx", MELY_SIM_NAME, (unsigned long long)c->seed);
	if (c->schedule != c->seed)
		fprintf(out, " --schedule 0x%llx", (unsigned long long)c->schedule);
	if (c->cores_max > 0)
		fprintf(out, " --cores %d", c->cores_max);
	for (i = 0; i < PROGRAM_OPS; i = j) {
		j = i + 1;
		if (!c->drop[i])
			continue;
		while (j < PROGRAM_OPS && c->drop[j])
			j++;
		fprintf(out, "%s%d-%d", first ? " --drop " : ",", i, j - 1);
		first = false;
	}
	fputc('\n', out);
}

/* Compare without the numbers, which differ from program to program. */
bool
hunt_same_failure(const char *a, const char *b)
{
	for (;;) {
		while (*a >= '0' && *a <= '9')
			a++;
		while (*b >= '0' && *b <= '9')
			b++;
		if (*a != *b)
			return false;
		if (*a == '\0')
			return true;
		a++;
		b++;
	}
}

/* ---- making it smaller ----------------------------------------------------------------------- */

enum { TRIES = 150 };

/* Does this smaller case fail in the same way? If so, keep the schedule that failed. */
static bool
still_fails(struct hunt_case *c, const char *text)
{
	struct hunt_result result;

	hunt_case_try(c, TRIES, &result);
	if (!result.failed || !hunt_same_failure(result.outcome.text, text))
		return false;
	c->schedule = result.schedule;
	return true;
}

/* Drop count operations, starting at number at, if the case still fails without them. */
static bool
drop_some(struct hunt_case *c, int at, int count, const char *text)
{
	struct hunt_case smaller = *c;
	bool any = false;
	int i;

	for (i = at; i < at + count && i < PROGRAM_OPS; i++) {
		any |= !smaller.drop[i];
		smaller.drop[i] = true;
	}
	if (!any || !still_fails(&smaller, text))
		return false;
	*c = smaller;
	return true;
}

void
hunt_shrink(struct hunt_case *c, const char *text, bool progress)
{
	static struct program program;
	int size, at, cores;
	bool again = true;

	hunt_case_make(c, &program);
	for (at = program.ops; at < PROGRAM_OPS; at++)
		c->drop[at] = false;
	for (cores = 1; cores <= 4; cores++) {
		struct hunt_case smaller = *c;

		smaller.cores_max = cores;
		if (still_fails(&smaller, text)) {
			*c = smaller;
			break;
		}
	}
	for (size = program.ops / 2; size >= 1 && again; size = size > 1 ? size / 2 : 1) {
		again = size > 1;
		for (at = 0; at < program.ops; at += size)
			again |= drop_some(c, at, size, text);
		hunt_case_make(c, &program);
		if (progress)
			fprintf(stderr, "shrinking: %d operations\n", program_size(&program));
	}
}
