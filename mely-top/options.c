/* SPDX-License-Identifier: MIT */
/*
 * options.c: parse the command line.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mely/mely.h>

#include "options.h"

static const char help[] =
    "usage: mely-top [options] [PID|PATH]\n"
    "Watch what the cores, handlers and colors of a running Mely program do.\n"
    "The program needs a socket: start it with MELY_SOCKET=1.\n"
    "Without PID or PATH: attach to the only such program of the user, or list them.\n"
    "\n"
    "  --interval S    seconds between two snapshots (1)\n"
    "  --once          print the rates of one interval as text; with --interval 0, the averages\n"
    "                  since the start\n"
    "  --json          with --once: as JSON\n"
    "  --dump          print a text about each core and each color with events\n"
    "  --prometheus    print the numbers in Prometheus' text format\n"
    "  --colors N      show at most N colors, up to 1000 (100)\n"
    "  --help, --version\n"
    "\n"
    "On the screen, h shows the keys and q quits.\n";

enum option_id {
	OPT_INTERVAL = 256,
	OPT_ONCE,
	OPT_JSON,
	OPT_DUMP,
	OPT_PROMETHEUS,
	OPT_COLORS,
	OPT_HELP,
	OPT_VERSION
};

static const struct option long_options[] = {
	{"interval", required_argument, NULL, OPT_INTERVAL},
	{"once", no_argument, NULL, OPT_ONCE},
	{"json", no_argument, NULL, OPT_JSON},
	{"dump", no_argument, NULL, OPT_DUMP},
	{"prometheus", no_argument, NULL, OPT_PROMETHEUS},
	{"colors", required_argument, NULL, OPT_COLORS},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0}
};

struct chosen {
	bool once, json, dump, prometheus;
};

static bool
seconds(const char *text, uint64_t *ns)
{
	char *end;
	double s;

	errno = 0;
	s = strtod(text, &end);
	if (errno != 0 || end == text || *end != '\0' || !(s == 0 || (s >= 0.1 && s <= 3600))) {
		fprintf(stderr, "mely-top: --interval: '%s' is not 0 or a number between 0.1 and "
		    "3600\n", text);
		return false;
	}
	*ns = (uint64_t)(s * 1e9);
	return true;
}

static bool
count(const char *text, uint32_t *value)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || n < 0 || n > 1000) {
		fprintf(stderr, "mely-top: --colors: '%s' is not a number between 0 and 1000\n",
		    text);
		return false;
	}
	*value = (uint32_t)n;
	return true;
}

static bool
one_option(struct top_options *o, struct chosen *chosen, int id, const char *arg)
{
	switch (id) {
	case OPT_INTERVAL:
		return seconds(arg, &o->interval_ns);
	case OPT_COLORS:
		return count(arg, &o->colors);
	case OPT_ONCE:
		return chosen->once = true;
	case OPT_JSON:
		return chosen->json = true;
	case OPT_DUMP:
		return chosen->dump = true;
	default:
		return chosen->prometheus = true;
	}
}

/* Choose the mode; false: the options exclude each other. */
static bool
settle(struct top_options *o, const struct chosen *chosen)
{
	if (chosen->once + chosen->dump + chosen->prometheus > 1) {
		fputs("mely-top: --once, --dump and --prometheus exclude each other\n", stderr);
		return false;
	}
	if (chosen->json && !chosen->once) {
		fputs("mely-top: --json needs --once\n", stderr);
		return false;
	}
	o->mode = chosen->dump ? TOP_DUMP : chosen->prometheus ? TOP_PROMETHEUS :
	    chosen->json ? TOP_ONCE_JSON : chosen->once ? TOP_ONCE : TOP_SCREEN;
	if (o->mode == TOP_SCREEN && o->interval_ns == 0) {
		fputs("mely-top: --interval 0 needs --once\n", stderr);
		return false;
	}
	return true;
}

enum top_options_result
top_options_parse(struct top_options *o, int argc, char **argv)
{
	struct chosen chosen = {0};
	int id;

	*o = (struct top_options){.interval_ns = UINT64_C(1000000000), .colors = 100};
	while ((id = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		switch (id) {
		case OPT_HELP:
			fputs(help, stdout);
			return TOP_OPTIONS_DONE;
		case OPT_VERSION:
			printf("mely-top %s\n", mely_version());
			return TOP_OPTIONS_DONE;
		case '?':
			fprintf(stderr, "mely-top: invalid option '%s' (try --help)\n",
			    argv[optind - 1]);
			return TOP_OPTIONS_USAGE;
		case ':':
			fprintf(stderr, "mely-top: option '%s' needs a value (try --help)\n",
			    argv[optind - 1]);
			return TOP_OPTIONS_USAGE;
		default:
			if (!one_option(o, &chosen, id, optarg))
				return TOP_OPTIONS_USAGE;
		}
	}
	if (optind < argc - 1) {
		fputs("mely-top: more than one program named (try --help)\n", stderr);
		return TOP_OPTIONS_USAGE;
	}
	if (optind < argc)
		o->target = argv[optind];
	return settle(o, &chosen) ? TOP_OPTIONS_RUN : TOP_OPTIONS_USAGE;
}
