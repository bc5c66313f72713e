/* SPDX-License-Identifier: MIT */
/*
 * mb_options.c: the command line of a microbenchmark: the options of all of them and the switches
 * of each. Main thread only.
 */
#include "mb.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mely/base.h>

enum {
	SWITCHES_MAX = 8,
	RUNS_DEFAULT = 5,
	RUNS_MAX = 10000,
	CORES_MAX = 256,
	SECONDS_MAX = 3600
};

/* Values of getopt_long's val from here on are switches: greater than any character. */
#define SWITCH_VAL 1000

static void
usage(const struct mb_program *program, FILE *to)
{
	const struct mb_switch *s;

	fprintf(to, "usage: %s [options]\n\n%s\n\n", program->name, program->what);
	fprintf(to, "  --cores N      threads that run events"
	    " (default: the processors usable here)\n");
	fprintf(to, "  --colors K,... %s (default %d)\n", program->colors_help,
	    program->colors_default);
	fprintf(to, "  --seconds S    length of a measured window (default %g)\n",
	    program->seconds_default);
	fprintf(to, "  --runs R       runs of each configuration, each in a separate process"
	    " (default %d)\n", RUNS_DEFAULT);
	fprintf(to, "  --json         print one JSON object a line for each configuration\n");
	if (program->has_events)
		fprintf(to, "  --events N     fixed work: until each of K colors has run N/K"
		    " events; no window\n");
	for (s = program->switches; s != NULL && s->name != NULL; s++)
		fprintf(to, "  --%-12s %s\n", s->name, s->help);
	if (program->configs != NULL)
		fprintf(to, "  --config NAME  one of (default: all)\n%s", program->configs_help);
	fprintf(to, "  --help         print this text\n");
	fprintf(to, "  --version      print the version of the project\n");
}

static void __attribute__((noreturn))
bad(const struct mb_program *program, const char *option, const char *text)
{
	fprintf(stderr, "%s: --%s: invalid value '%s' (try --help)\n", program->name, option,
	    text);
	exit(2);
}

/* Parse a whole number; *end is the first character after it. NULL: it must end the text. */
static int
number(const struct mb_program *program, const char *option, const char *text, int max,
    const char **end)
{
	char *stop;
	long value;

	errno = 0;
	value = strtol(text, &stop, 10);
	if (stop == text || errno != 0 || value < 1 || value > max)
		bad(program, option, text);
	if (*stop != '\0' && end == NULL)
		bad(program, option, text);
	if (end != NULL)
		*end = stop;
	return (int)value;
}

static void
parse_colors(const struct mb_program *program, const char *text, struct mb_options *opt)
{
	const char *at = text;

	opt->colors_count = 0;
	for (;;) {
		if (opt->colors_count == MB_CONFIGS_MAX)
			bad(program, "colors", text);
		opt->colors[opt->colors_count++] =
		    number(program, "colors", at, program->colors_max, &at);
		if (*at == '\0')
			return;
		if (*at++ != ',')
			bad(program, "colors", text);
	}
}

static double
parse_seconds(const struct mb_program *program, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !isfinite(value) || value <= 0 || value > SECONDS_MAX)
		bad(program, "seconds", text);
	return value;
}

static const char *
parse_config(const struct mb_program *program, const char *text)
{
	const char *const *name;

	for (name = program->configs; *name != NULL; name++) {
		if (strcmp(*name, text) == 0)
			return *name;
	}
	bad(program, "config", text);
}

static void
parse_one(const struct mb_program *program, int which, struct mb_options *opt)
{
	switch (which) {
	case 'c':
		opt->cores = number(program, "cores", optarg, CORES_MAX, NULL);
		break;
	case 'k':
		parse_colors(program, optarg, opt);
		break;
	case 's':
		opt->seconds = parse_seconds(program, optarg);
		break;
	case 'r':
		opt->runs = number(program, "runs", optarg, RUNS_MAX, NULL);
		break;
	case 'e':
		opt->events = (uint64_t)number(program, "events", optarg, INT_MAX, NULL);
		break;
	case 'j':
		opt->json = true;
		break;
	case 'n':
		opt->config = parse_config(program, optarg);
		break;
	case 'h':
		usage(program, stdout);
		exit(0);
	case 'v':
		printf("%s (mely) %s\n", program->name, MELY_VERSION_STRING);
		exit(0);
	default:
		if (which >= SWITCH_VAL) {
			*program->switches[which - SWITCH_VAL].on = true;
			break;
		}
		fprintf(stderr, "%s: try --help\n", program->name);
		exit(2);
	}
}

void
mb_options_parse(const struct mb_program *program, int argc, char **argv,
    struct mb_options *opt)
{
	static const struct option common[] = {
		{"cores", required_argument, NULL, 'c'}, {"colors", required_argument, NULL, 'k'},
		{"seconds", required_argument, NULL, 's'}, {"runs", required_argument, NULL, 'r'},
		{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'v'},
	};
	struct option all[sizeof(common) / sizeof(common[0]) + SWITCHES_MAX + 3];
	size_t count = sizeof(common) / sizeof(common[0]);
	int i, which;

	memset(opt, 0, sizeof(*opt));
	opt->colors[0] = program->colors_default;
	opt->colors_count = 1;
	opt->seconds = program->seconds_default;
	opt->runs = RUNS_DEFAULT;
	opt->config = "all";

	memset(all, 0, sizeof(all));
	memcpy(all, common, sizeof(common));
	if (program->has_events)
		all[count++] = (struct option){"events", required_argument, NULL, 'e'};
	if (program->configs != NULL)
		all[count++] = (struct option){"config", required_argument, NULL, 'n'};
	for (i = 0; program->switches != NULL && program->switches[i].name != NULL; i++) {
		if (i == SWITCHES_MAX)
			mb_fail("too many switches", 0);
		all[count].name = program->switches[i].name;
		all[count++].val = SWITCH_VAL + i;
	}
	while ((which = getopt_long(argc, argv, "", all, NULL)) != -1)
		parse_one(program, which, opt);
	if (optind < argc) {
		fprintf(stderr, "%s: unexpected argument '%s' (try --help)\n", program->name,
		    argv[optind]);
		exit(2);
	}
}
