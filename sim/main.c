/* SPDX-License-Identifier: MIT */
/*
 * main.c: mely-sim: the library's own code on virtual cores. Each subcommand has its own --help.
 */
#include <stdio.h>
#include <string.h>
#include <mely/base.h>

#include "hunt.h"
#include "options.h"

static const struct {
	const char *name;
	int (*fn)(int argc, char **argv);
	const char *what;
} commands[] = {
	{"hunt", hunt_main, "run random programs under random schedules and check all invariants"},
	{"replay", replay_main, "repeat one program and schedule of a hunt"},
	{"predict", predict_main, "run the paper's microbenchmarks on a simulated machine"},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void
usage(FILE *out)
{
	int i;

	fprintf(out, "usage: %s COMMAND [OPTION]...\n"
	    "Run the code of libmely on virtual cores, under virtual time and a seeded schedule."
	    "\n\n",
	    MELY_SIM_NAME);
	for (i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].what);
	fprintf(out, "\n  --help     this text; COMMAND --help: the help of a command\n"
	    "  --version\n");
}

int
main(int argc, char **argv)
{
	int i;

	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--help") == 0) {
		usage(stdout);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("%s %s\n", MELY_SIM_NAME, MELY_VERSION_STRING);
		return 0;
	}
	for (i = 0; i < COMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].fn(argc - 1, argv + 1);
	}
	fprintf(stderr, "%s: invalid command '%s' (try %s --help)\n", MELY_SIM_NAME, argv[1],
	    MELY_SIM_NAME);
	return 2;
}
