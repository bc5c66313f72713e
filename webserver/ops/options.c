/* SPDX-License-Identifier: MIT */
/*
 * options.c: the command line of sws. Each setting is an option.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <mely/mely.h>

#include "base/assertion.h"
#include "ops/options.h"

static const char help[] =
    "usage: sws [options] DIR\n"
    "Serve the files below DIR over HTTP/1.1. Defaults are in parentheses.\n"
    "\n"
    "  --port N              TCP port; 0 picks a free one (8080)\n"
    "  --bind ADDRESS        address to listen on; '*' or '::' for all (127.0.0.1)\n"
    "  --cores N             number of cores (all that this process may use)\n"
    "  --max-clients N       maximum number of connections (from the descriptor limit)\n"
    "  --cache-size BYTES    maximum size of all prebuilt responses; suffix k, m, g (64m)\n"
    "  --cache-file-size BYTES\n"
    "                        maximum size of a file to prebuild; others use sendfile (64k)\n"
    "  --precompressed LIST  serve FILE.zst, .br, .gz for FILE, best first, or off (zst,br,gz)\n"
    "  --field 'NAME: VALUE'  add a field to answers with a file, or replace one of these:\n"
    "                        (Cache-Control: no-cache; X-Content-Type-Options: nosniff)\n"
    "  --header-timeout S    seconds to receive a request head (10)\n"
    "  --idle-timeout S      seconds between two requests (60)\n"
    "  --drain-timeout S     seconds to finish answers after SIGTERM (30)\n"
    "  --help, --version\n";

#define SETTINGS_MAX 64
/* getopt_long's value of an option: that of the first setting, and of the others. */
#define OPT_SETTING 512
#define OPT_HELP 256
#define OPT_VERSION 257

/* The options of getopt_long: the settings, and what is none. */
static void
make_options(struct option *o)
{
	int n = 0;

	for (const struct sws_setting *s = sws_settings; s->name != NULL; s++, n++) {
		SWS_ASSERT(n < SETTINGS_MAX - 3);
		o[n] = (struct option){s->name, s->kind == SWS_SETTING_SWITCH ? optional_argument
		    : required_argument, NULL, OPT_SETTING + n};
	}
	o[n++] = (struct option){"help", no_argument, NULL, OPT_HELP};
	o[n++] = (struct option){"version", no_argument, NULL, OPT_VERSION};
	o[n] = (struct option){NULL, 0, NULL, 0};
}

static void
set_defaults(struct sws_options *o)
{
	*o = (struct sws_options){
		.bind = "127.0.0.1", .port = 8080,
		.site = {
			.cache_size = (size_t)64 << 20, .cache_file_size = (size_t)64 << 10,
			.fields = "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n",
			.codings = {HTTP_ZSTD, HTTP_BR, HTTP_GZIP, HTTP_IDENTITY}
		},
		.header_timeout_ns = UINT64_C(10000000000),
		.idle_timeout_ns = UINT64_C(60000000000),
		.drain_timeout_ns = UINT64_C(30000000000),
	};
}

static bool
set(struct sws_options *o, const struct sws_setting *s, const char *value)
{
	static const struct sws_source command_line;

	return sws_setting_set(s, s->of_site ? (void *)&o->site : (void *)o,
	    value != NULL ? value : "on", &command_line);
}

static enum sws_options_result
refuse_option(const char *argument)
{
	if (optopt != 0 && optopt < OPT_HELP)
		fprintf(stderr, "sws: invalid option '-%c' (try --help)\n", optopt);
	else
		fprintf(stderr, "sws: %s '%s' (try --help)\n", optopt == 0
		    ? "invalid option" : "invalid or missing argument of", argument);
	return SWS_OPTIONS_USAGE;
}

enum sws_options_result
sws_options_parse(struct sws_options *o, int argc, char **argv)
{
	struct option options[SETTINGS_MAX];
	int id;

	/* getopt_long would continue behind the options of an earlier call. */
	SWS_ASSERT(optind == 1);
	make_options(options);
	set_defaults(o);
	opterr = 0;
	while ((id = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (id) {
		case OPT_HELP:
			fputs(help, stdout);
			return SWS_OPTIONS_DONE;
		case OPT_VERSION:
			printf("sws %s\n", mely_version());
			return SWS_OPTIONS_DONE;
		case '?':
			return refuse_option(argv[optind - 1]);
		default:
			if (!set(o, &sws_settings[id - OPT_SETTING], optarg))
				return SWS_OPTIONS_USAGE;
		}
	}
	if (optind != argc - 1) {
		fputs(optind == argc ? "sws: DIR is missing (try --help)\n"
		    : "sws: more than one DIR (try --help)\n", stderr);
		return SWS_OPTIONS_USAGE;
	}
	o->site.root = argv[optind];
	return SWS_OPTIONS_RUN;
}
