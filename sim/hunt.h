/* SPDX-License-Identifier: MIT */
/*
 * hunt.h: the commands that search for failures. Every schedule runs in a child process, so a
 * failing schedule leaves nothing behind.
 */
#ifndef SIM_HUNT_H
#define SIM_HUNT_H

#include "program.h"
#include "engine.h"

/* A seed's program, made smaller, under one of its schedules. */
struct hunt_case {
	uint64_t seed;
	uint64_t schedule;      /* the seed's own is the seed */
	int cores_max;          /* 0: as the seed has it */
	bool drop[PROGRAM_OPS]; /* operations left out */
};

struct hunt_result {
	bool failed;
	uint64_t schedule;      /* the failing one */
	struct sim_outcome outcome;
};

void hunt_case_init(struct hunt_case *c, uint64_t seed);
void hunt_case_make(const struct hunt_case *c, struct program *program);
/* Run it in a child under up to tries schedules, from its own on, until one fails. */
void hunt_case_try(const struct hunt_case *c, int tries, struct hunt_result *result);
/* The command line that repeats it. */
void hunt_case_print(const struct hunt_case *c, FILE *out);
/* Are two failures alike? */
bool hunt_same_failure(const char *a, const char *b);
/* Leave out operations and cores while it still fails like text. */
void hunt_shrink(struct hunt_case *c, const char *text, bool progress);

/* The subcommands; what main returns. */
int hunt_main(int argc, char **argv);
int replay_main(int argc, char **argv);
int predict_main(int argc, char **argv); /* predict_exec.c */

#endif
