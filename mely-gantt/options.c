/* SPDX-License-Identifier: MIT */
/*
 * options.c: parse the command line.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mely/base.h>

#include "axis.h"

static const char help[] =
    "usage: mely-gantt [options] FILE > out.svg\n"
    "       mely-gantt --chrome FILE > out.json\n"
    "Draw a trace (MELY_TRACE=FILE) as a picture: a row for each core with the handlers it ran,\n"
    "steals as arrows from victim to thief, and the depth of its queue. FILE - is standard input.\n"
    "\n"
    "  --chrome       write JSON for Perfetto and Chrome instead\n"
    "  --from TIME    draw from this time of the trace, such as 1.5ms, 200us or 2s\n"
    "  --to TIME      draw up to this time\n"
    "  --by WHAT      paint slices by handler or by color (handler)\n"
    "  --cores LIST   draw only these cores, such as 0,2-5\n"
    "  --no-arrows    leave out the steals\n"
    "  --title TEXT   the heading (the name of the program, or of the file)\n"
    "  --width N      width in pixels (1200)\n"
    "  --height N     height in pixels (as the rows need)\n"
    "  -o FILE        write to FILE, not to standard output\n"
    "  --help, --version\n";

enum option_id {
	OPT_CHROME = 256,
	OPT_FROM,
	OPT_TO,
	OPT_BY,
	OPT_CORES,
	OPT_NO_ARROWS,
	OPT_TITLE,
	OPT_WIDTH,
	OPT_HEIGHT,
	OPT_HELP,
	OPT_VERSION
};

static const struct option long_options[] = {
	{"chrome", no_argument, NULL, OPT_CHROME},
	{"from", required_argument, NULL, OPT_FROM},
	{"to", required_argument, NULL, OPT_TO},
	{"by", required_argument, NULL, OPT_BY},
	{"cores", required_argument, NULL, OPT_CORES},
	{"no-arrows", no_argument, NULL, OPT_NO_ARROWS},
	{"title", required_argument, NULL, OPT_TITLE},
	{"width", required_argument, NULL, OPT_WIDTH},
	{"height", required_argument, NULL, OPT_HEIGHT},
	{"output", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0}
};

/* A whole number from min to max; false after a message. */
static bool
number(const char *name, const char *text, long min, long max, int *value)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || n < min || n > max) {
		fprintf(stderr, "mely-gantt: %s: '%s' is not a number between %ld and %ld\n",
		    name, text, min, max);
		return false;
	}
	*value = (int)n;
	return true;
}

static bool
time_of(const char *name, const char *text, int64_t *ns)
{
	if (gantt_time_parse(text, ns))
		return true;
	fprintf(stderr, "mely-gantt: %s: '%s' is not a time: a number with ns, us, ms or s\n",
	    name, text);
	return false;
}

/* Numbers and ranges, separated by commas. */
static bool
core_list(struct gantt_options *o, const char *text)
{
	const char *at = text;

	memset(o->cores, 0, sizeof o->cores);
	o->cores_given = true;
	for (;;) {
		char *end;
		long first = strtol(at, &end, 10), last = first;

		if (*at < '0' || *at > '9')
			break;
		if (*end == '-') {
			at = end + 1;
			if (*at < '0' || *at > '9')
				break;
			last = strtol(at, &end, 10);
		}
		if (last < first || last >= GANTT_CORE_MAX)
			break;
		for (long core = first; core <= last; core++)
			o->cores[core / 64] |= UINT64_C(1) << core % 64;
		if (*end == '\0')
			return true;
		if (*end != ',')
			break;
		at = end + 1;
	}
	fprintf(stderr, "mely-gantt: --cores: '%s' is not a list of cores below %d, such as "
	    "0,2-5\n", text, GANTT_CORE_MAX);
	return false;
}

bool
gantt_options_core(const struct gantt_options *o, int64_t core)
{
	if (!o->cores_given)
		return true;
	return core >= 0 && core < GANTT_CORE_MAX
	    && (o->cores[core / 64] >> core % 64 & 1) != 0;
}

static bool
one_option(struct gantt_options *o, int id, const char *arg)
{
	switch (id) {
	case OPT_CHROME:
		o->chrome = true;
		return true;
	case OPT_FROM:
		return time_of("--from", arg, &o->from);
	case OPT_TO:
		return time_of("--to", arg, &o->to);
	case OPT_CORES:
		return core_list(o, arg);
	case OPT_WIDTH:
		return number("--width", arg, GANTT_WIDTH_MIN, GANTT_WIDTH_MAX, &o->width);
	case OPT_HEIGHT:
		return number("--height", arg, 1, GANTT_HEIGHT_MAX, &o->height);
	case OPT_NO_ARROWS:
		o->arrows = false;
		return true;
	case OPT_TITLE:
		o->title = arg;
		return true;
	case 'o':
		o->output = arg;
		return true;
	default:
		if (strcmp(arg, "handler") == 0) {
			o->by = GANTT_BY_HANDLER;
		} else if (strcmp(arg, "color") == 0) {
			o->by = GANTT_BY_COLOR;
		} else {
			fprintf(stderr, "mely-gantt: --by: '%s' is neither handler nor color\n",
			    arg);
			return false;
		}
		return true;
	}
}

void
gantt_options_default(struct gantt_options *o)
{
	memset(o, 0, sizeof *o);
	o->from = INT64_MIN;
	o->to = INT64_MAX;
	o->width = 1200;
	o->arrows = true;
}

enum gantt_options_result
gantt_options_parse(struct gantt_options *o, int argc, char **argv)
{
	int id;

	gantt_options_default(o);
	while ((id = getopt_long(argc, argv, ":o:", long_options, NULL)) != -1) {
		switch (id) {
		case OPT_HELP:
			fputs(help, stdout);
			return GANTT_OPTIONS_DONE;
		case OPT_VERSION:
			printf("mely-gantt (mely) %s\n", MELY_VERSION_STRING);
			return GANTT_OPTIONS_DONE;
		case '?':
			fprintf(stderr, "mely-gantt: invalid option '%s' (try --help)\n",
			    argv[optind - 1]);
			return GANTT_OPTIONS_USAGE;
		case ':':
			fprintf(stderr, "mely-gantt: option '%s' needs a value (try --help)\n",
			    argv[optind - 1]);
			return GANTT_OPTIONS_USAGE;
		default:
			if (!one_option(o, id, optarg))
				return GANTT_OPTIONS_USAGE;
		}
	}
	if (optind != argc - 1) {
		fprintf(stderr, "mely-gantt: %s (try --help)\n", optind == argc ?
		    "no file given" : "more than one file given");
		return GANTT_OPTIONS_USAGE;
	}
	if (o->from >= o->to) {
		fputs("mely-gantt: --from is not before --to\n", stderr);
		return GANTT_OPTIONS_USAGE;
	}
	o->input = argv[optind];
	return GANTT_OPTIONS_RUN;
}
