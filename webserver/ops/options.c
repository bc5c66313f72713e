/* SPDX-License-Identifier: MIT */
/*
 * options.c: the command line of sws. Each setting is an option. What the command line says counts
 * more than what the file says, and what the file says of a site counts more than both.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <mely/mely.h>

#include "base/assertion.h"
#include "net/endpoint.h"
#include "ops/config.h"
#include "ops/log.h"
#include "ops/options.h"

static const char help[] =
    "usage: sws [options] DIR\n"
    "       sws [options] --config FILE [DIR]\n"
    "       sws --check FILE\n"
    "Serve the files below DIR over HTTP. Defaults are in parentheses.\n"
    "\n"
    "  --config FILE         read settings and sites from FILE; SIGHUP reads it again\n"
    "  --check FILE          say whether FILE is a sound configuration, and exit\n"
    "  --port N              TCP port; 0 picks a free one (8080)\n"
    "  --bind ADDRESS        address to listen on; '*' or '::' for all (127.0.0.1)\n"
    "  --listen 'ENDPOINT [FLAGS]'\n"
    "                        where to listen, besides or in place of the two above:\n"
    "                        ADDRESS:PORT, unix:PATH, or fd:NAME for a socket\n"
    "                        of LISTEN_FDS; flags: tls, proxy, metrics, mode=OCTAL;\n"
    "                        can be given many times\n"
    "  --cores N             number of cores (all that this process may use)\n"
    "  --hand-over=on|off    whether SIGUSR2 starts a process that takes over (on)\n"
    "  --accept core|single|least\n"
    "                        which core accepts, and has, a connection (core)\n"
    "  --coloring connection|paper|file\n"
    "                        what has a color of its own (connection)\n"
    "  --max-clients N       maximum number of connections (from the descriptor limit)\n"
    "  --max-clients-per-address N\n"
    "                        maximum number of them from one address (no limit)\n"
    "  --rate BYTES          most bytes a second to all clients; suffix k, m, g (no limit)\n"
    "  --rate-per-address BYTES, --rate-per-connection BYTES\n"
    "                        ... to one address, to one connection (no limit)\n"
    "  --min-rate BYTES      disconnect clients that take less a second (256)\n"
    "  --cache-size BYTES    maximum size of all prebuilt responses; suffix k, m, g (64m)\n"
    "  --cache-file-size BYTES\n"
    "                        maximum size of a file to prebuild; others use sendfile (64k)\n"
    "  --sendfile=on|off     off copies them, for files that are rewritten in place (on)\n"
    "  --inotify=off         do not have the kernel report changes: they are seen in 1 s (on)\n"
    "  --precompressed LIST  serve FILE.zst, .br, .gz for FILE, best first, or off (zst,br,gz)\n"
    "  --compress LIST       make these codings of files that have none, once each (off)\n"
    "  --field 'NAME: VALUE'  add a field to answers with a file, or replace one of these:\n"
    "                        (Cache-Control: no-cache; X-Content-Type-Options: nosniff;\n"
    "                        Referrer-Policy: strict-origin-when-cross-origin)\n"
    "  --field-for 'GLOB NAME: VALUE'\n"
    "                        add a field to answers for the paths that match GLOB\n"
    "  --redirect 'FROM TO [STATUS]'\n"
    "                        send clients elsewhere; '/old/* /new/*' for all beneath (301)\n"
    "  --error-page 'STATUS PATH'  send the file PATH with errors of this status\n"
    "  --fallback PATH       send the file PATH, with 200, for pages that are not there\n"
    "  --index NAMES         files for a directory, the first one first ('index.html')\n"
    "  --listing WHICH       list directories without index: off, html, json or auto (off)\n"
    "  --list-dotfiles       ... with names that begin with a dot\n"
    "  --symlinks WHICH      links to follow: beneath, none or follow (beneath DIR)\n"
    "  --dotfiles hide|serve  names that begin with a dot (hide, except .well-known)\n"
    "  --mime-types FILE     media types, besides the built-in ones (/etc/mime.types)\n"
    "  --name HOST           name of the site of DIR; others have their own in the file\n"
    "  --root DIR            the same as DIR\n"
    "  --tls-certificate CERT,KEY\n"
    "                        a certificate with its chain, and its key, in PEM files; several\n"
    "                        for several names\n"
    "  --tls-min-version V   1.2 or 1.3 (1.2)\n"
    "  --http2 on|off        speak HTTP/2, by prior knowledge or ALPN (on)\n"
    "  --http2-streams N     requests of a connection at the same time (128)\n"
    "  --http2-resets N      requests given up in 10 s before it is closed (1000)\n"
    "  --http2-frames N      ... and frames that ask for nothing (10000)\n"
    "  --header-timeout S    seconds to receive a request head (10)\n"
    "  --idle-timeout S      seconds between two requests (60)\n"
    "  --drain-timeout S     seconds to finish answers after SIGTERM (30)\n"
    "  --trusted NETWORK     proxies that may name their clients, as 10.0.0.0/8; for\n"
    "                        endpoints with the flag proxy\n"
    "  --metrics-listen ENDPOINT\n"
    "                        where to answer /metrics and /health (nowhere)\n"
    "  --access-log FILE     write a line for each answer; - for standard output (off)\n"
    "  --log-format common|combined|extended|json\n"
    "                        what a line says (combined)\n"
    "  --user USER[:GROUP]   become this user after listening; for root only\n"
    "  --chroot DIR          all paths are beneath DIR; for root only\n"
    "  --sandbox MODE        auto: keep sws from files and system calls that it does not need,\n"
    "                        as far as the kernel can; require: do not start without; off (auto)\n"
    "  --sandbox-read DIR    a directory that roots may lie in after a reload\n"
    "  --help, --version\n";

#define SETTINGS_MAX 64
#define GIVEN_MAX 512
/* getopt_long's value of an option: that of the first setting, and of the others. */
#define OPT_SETTING 512
#define OPT_HELP 256
#define OPT_VERSION 257
#define OPT_CONFIG 258
#define OPT_CHECK 259

/* The settings of the command line, in their order. They follow those of the file. */
struct given {
	const struct sws_setting *setting[GIVEN_MAX];
	const char *text[GIVEN_MAX];
	int count;
};

/* The options of getopt_long: the settings, and what is none. */
static void
make_options(struct option *o)
{
	int n = 0;

	for (const struct sws_setting *s = sws_settings; s->name != NULL; s++, n++) {
		SWS_ASSERT(n < SETTINGS_MAX - 5);
		o[n] = (struct option){s->name, s->kind == SWS_SETTING_SWITCH ? optional_argument
		    : required_argument, NULL, OPT_SETTING + n};
	}
	o[n++] = (struct option){"config", required_argument, NULL, OPT_CONFIG};
	o[n++] = (struct option){"check", required_argument, NULL, OPT_CHECK};
	o[n++] = (struct option){"help", no_argument, NULL, OPT_HELP};
	o[n++] = (struct option){"version", no_argument, NULL, OPT_VERSION};
	o[n] = (struct option){NULL, 0, NULL, 0};
}

static void
set_defaults(struct sws_options *o)
{
	*o = (struct sws_options){
		.port = -1,
		.hand_over = true,
		.inotify = true,
		.cache_size = (size_t)64 << 20,
		.site = {
			.cache_file_size = (size_t)64 << 10,
			.sendfile = true,
			.fields = "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n"
			    "Referrer-Policy: strict-origin-when-cross-origin\r\n",
			.index = "index.html",
			.codings = {HTTP_ZSTD, HTTP_BR, HTTP_GZIP, HTTP_IDENTITY},
			.mime_types = "/etc/mime.types"
		},
		.http2 = 1, .http2_streams = 128, .http2_resets = 1000, .http2_frames = 10000,
		.min_rate = 256,
		.access_log = "off",
		.log_format = SWS_LOG_COMBINED,
		.header_timeout_ns = UINT64_C(10000000000),
		.idle_timeout_ns = UINT64_C(60000000000),
		.drain_timeout_ns = UINT64_C(30000000000),
	};
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

/* Note the options in given, and do those that are none of the settings. */
static enum sws_options_result
read_options(struct sws_options *o, struct given *given, int argc, char **argv)
{
	struct option options[SETTINGS_MAX];
	int id;

	make_options(options);
	/* 0: begin again, also after an earlier call. */
	optind = 0;
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
		case OPT_CHECK:
			o->only_check = true;
			o->config = optarg;
			break;
		case OPT_CONFIG:
			o->config = optarg;
			break;
		default:
			if (given->count == GIVEN_MAX) {
				fprintf(stderr, "sws: more than %d options\n", GIVEN_MAX);
				return SWS_OPTIONS_USAGE;
			}
			given->setting[given->count] = &sws_settings[id - OPT_SETTING];
			given->text[given->count++] = optarg != NULL ? optarg : "on";
		}
	}
	return SWS_OPTIONS_RUN;
}

static bool
apply(struct sws_options *o, const struct given *given)
{
	const struct sws_source command_line = {NULL, 0, given, &o->arena};

	for (int i = 0; i < given->count; i++) {
		const struct sws_setting *s = given->setting[i];

		if (!sws_setting_set(s, s->of_site ? (void *)&o->site : (void *)o, given->text[i],
		    &command_line))
			return false;
	}
	return true;
}

/* Make an endpoint of --bind and --port: the first one if there are others, too. */
static bool
add_listen(struct sws_options *o)
{
	static const char owner[] = "bind and port";
	const char *bind = o->bind != NULL ? o->bind : "127.0.0.1";
	bool bare6 = strchr(bind, ':') != NULL && bind[0] != '[';
	struct sws_texts others = o->listens;
	char text[80];
	const char *copy;
	bool fine;

	o->listens_by_default = others.count == 0 && o->bind == NULL && o->port < 0;
	if (others.count > 0 && o->bind == NULL && o->port < 0)
		return true;
	snprintf(text, sizeof text, bare6 ? "[%s]:%d" : "%s:%d", bind,
	    o->port >= 0 ? o->port : 8080);
	SWS_ASSERT(sws_endpoint_check(text) == NULL);
	copy = sws_arena_copy(&o->arena, text, strlen(text));
	fine = copy != NULL && sws_texts_add(&o->listens, copy, owner, &o->arena);
	for (int i = 0; fine && i < others.count; i++)
		fine = sws_texts_add(&o->listens, others.text[i], owner, &o->arena);
	if (!fine)
		fputs("sws: no memory\n", stderr);
	return fine;
}

/* With no proxy that is trusted, an endpoint for proxies would refuse all. */
static bool
has_trusted(const struct sws_options *o)
{
	struct sws_endpoint e;

	for (int i = 0; i < o->listens.count; i++)
		if (sws_endpoint_parse(&e, o->listens.text[i]) == NULL && e.proxy
		    && e.kind == SWS_ENDPOINT_INET && o->trusted.count == 0) {
			fprintf(stderr, "sws: '%s' needs the networks of its proxies: trusted\n",
			    o->listens.text[i]);
			return false;
		}
	return true;
}

/* Add the endpoint of the metrics behind the others. */
static bool
add_metrics(struct sws_options *o)
{
	char text[SWS_ENDPOINT_TEXT + 32];
	const char *copy;
	int n;

	if (o->metrics_listen == NULL)
		return true;
	n = snprintf(text, sizeof text, "%s metrics", o->metrics_listen);
	SWS_ASSERT(n > 0 && (size_t)n < sizeof text);
	copy = sws_arena_copy(&o->arena, text, (size_t)n);
	/* The owner is that of the texts there are: they stay. */
	if (copy != NULL && sws_texts_add(&o->listens, copy, o->listens.owner, &o->arena))
		return true;
	fputs("sws: no memory\n", stderr);
	return false;
}

/* Make the sites: that of DIR, if it is given, and those of the file. */
static bool
make_sites(struct sws_options *o, const struct sws_config *config, int sites_max, const char *dir)
{
	o->sites = sws_arena_alloc(&o->arena, (size_t)sites_max * sizeof o->sites[0]);
	if (o->sites == NULL) {
		fputs("sws: no memory\n", stderr);
		return false;
	}
	if (dir != NULL || o->site.root != NULL) {
		o->sites[0] = o->site;
		if (dir != NULL)
			o->sites[0].root = dir;
		o->sites_count = 1;
	}
	if (config != NULL && !sws_config_sites(config, o))
		return false;
	SWS_ASSERT(o->sites_count <= sites_max);
	if (o->sites_count > 0)
		return true;
	fputs("sws: DIR is missing (try --help)\n", stderr);
	return false;
}

enum sws_options_result
sws_options_parse(struct sws_options *o, int argc, char **argv)
{
	struct given given = {.count = 0};
	struct sws_config *config = NULL;
	enum sws_options_result result;
	bool fine;

	set_defaults(o);
	result = read_options(o, &given, argc, argv);
	if (result != SWS_OPTIONS_RUN)
		return result;
	if (optind < argc - 1) {
		fputs("sws: more than one DIR (try --help)\n", stderr);
		return SWS_OPTIONS_USAGE;
	}
	if (o->config != NULL) {
		config = sws_config_open(o->config, o);
		if (config == NULL)
			return SWS_OPTIONS_USAGE;
	}
	fine = (config == NULL || sws_config_top(config, o)) && apply(o, &given)
	    && add_listen(o) && has_trusted(o) && add_metrics(o)
	    && make_sites(o, config, 1 + sws_config_sites_count(config),
	    optind < argc ? argv[optind] : NULL);
	sws_config_close(config);
	return fine ? SWS_OPTIONS_RUN : SWS_OPTIONS_USAGE;
}

void
sws_options_free(struct sws_options *o)
{
	sws_arena_free(&o->arena);
	memset(o, 0, sizeof *o);
}
