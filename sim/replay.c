/* SPDX-License-Identifier: MIT */
/* replay.c: repeat one program and schedule in this process, for a debugger. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hunt.h"
#include "options.h"
#include "world.h"

struct replay {
	struct hunt_case c;
	bool schedule_given, quiet;
	uint64_t after;
	long history;
};

static void
usage(FILE *out)
{
	fprintf(out, "usage: %s replay --seed SEED [OPTION]...\n"
	    "Run the program of a seed once more and print it, its trace and its outcome.\n\n"
	    "  --seed SEED       the program, and the schedule unless that is given\n"
	    "  --schedule SEED   the schedule\n"
	    "  --drop LIST       operations to leave out: 3-5,8-8\n"
	    "  --cores N         at most N cores in a runtime\n"
	    "  --after N         run the N seeds before it first: that must change nothing\n"
	    "  --history N       also the last N accesses (at most 8192)\n"
	    "  --quiet           the outcome alone\n"
	    "  --help\n", MELY_SIM_NAME);
}

static bool
drop_list(struct hunt_case *c, const char *text)
{
	while (*text != '\0') {
		char *end;
		long from = strtol(text, &end, 10), to = from;

		if (end == text)
			return false;
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		if (from < 0 || to >= PROGRAM_OPS || from > to || (*end != ',' && *end != '\0'))
			return false;
		for (; from <= to; from++)
			c->drop[from] = true;
		text = *end == ',' ? end + 1 : end;
	}
	return true;
}

static int
options(int argc, char **argv, struct replay *r)
{
	static const struct option longs[] = {
		{"seed", required_argument, NULL, 's'},
		{"schedule", required_argument, NULL, 'k'},
		{"drop", required_argument, NULL, 'd'},
		{"cores", required_argument, NULL, 'c'},
		{"history", required_argument, NULL, 'y'},
		{"after", required_argument, NULL, 'a'},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0}
	};
	bool good = true, seed = false;
	uint64_t n;
	int o;

	while ((o = getopt_long(argc, argv, "", longs, NULL)) != -1 && good) {
		switch (o) {
		case 's':
			good = option_seed("--seed", optarg, &r->c.seed);
			seed = true;
			break;
		case 'k':
			good = option_seed("--schedule", optarg, &r->c.schedule);
			r->schedule_given = true;
			break;
		case 'd':
			good = drop_list(&r->c, optarg);
			if (!good)
				fprintf(stderr, "%s: --drop %s: a list like 3-5,8-8 is wanted\n",
				    MELY_SIM_NAME, optarg);
			break;
		case 'c':
			good = option_number("--cores", optarg, 1, 64, &n);
			r->c.cores_max = (int)n;
			break;
		case 'y':
			good = option_number("--history", optarg, 0, 8192, &n);
			r->history = (long)n;
			break;
		case 'a':
			good = option_number("--after", optarg, 0, 1000000, &r->after);
			break;
		case 'q':
			r->quiet = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			return 2;
		}
	}
	if (good && optind < argc)
		fprintf(stderr, "%s: %s: no argument is wanted\n", MELY_SIM_NAME, argv[optind]);
	if (good && !seed)
		fprintf(stderr, "%s: replay needs --seed\n", MELY_SIM_NAME);
	return good && seed && optind == argc ? -1 : 2;
}

int
replay_main(int argc, char **argv)
{
	static struct program program;
	struct sim_outcome outcome;
	struct replay r;
	int code;

	memset(&r, 0, sizeof r);
	code = options(argc, argv, &r);
	if (code >= 0)
		return code;
	if (!r.schedule_given)
		r.c.schedule = r.c.seed;
	for (; r.after > 0; r.after--) {
		program_make(&program, r.c.seed - r.after);
		world_run(&program, r.c.seed - r.after, &outcome);
	}
	hunt_case_make(&r.c, &program);
	if (!r.quiet)
		program_print(&program, stdout);
	fflush(stdout);
	world_run(&program, r.c.schedule, &outcome);
	if (r.history > 0)
		sim_history(stdout, (int)r.history);
	printf("%llu accesses, %llu switches, %llu ns of virtual time, trace %016llx\n",
	    (unsigned long long)outcome.accesses, (unsigned long long)outcome.switches,
	    (unsigned long long)outcome.end_ps / 1000, (unsigned long long)outcome.trace);
	printf("%s\n", outcome.failed ? outcome.text : "well");
	return outcome.failed ? 1 : 0;
}
