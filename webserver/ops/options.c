/* SPDX-License-Identifier: MIT */
/*
 * options.c: parsing the command line of sws.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

enum option_id {
	OPT_PORT = 256,
	OPT_BIND,
	OPT_CORES,
	OPT_CLIENTS,
	OPT_CACHE,
	OPT_CACHE_FILE,
	OPT_PRECOMPRESSED,
	OPT_FIELD,
	OPT_HEADER,
	OPT_IDLE,
	OPT_DRAIN,
	OPT_HELP,
	OPT_VERSION
};

static const struct option long_options[] = {
	{"port", required_argument, NULL, OPT_PORT},
	{"bind", required_argument, NULL, OPT_BIND},
	{"cores", required_argument, NULL, OPT_CORES},
	{"max-clients", required_argument, NULL, OPT_CLIENTS},
	{"cache-size", required_argument, NULL, OPT_CACHE},
	{"cache-file-size", required_argument, NULL, OPT_CACHE_FILE},
	{"precompressed", required_argument, NULL, OPT_PRECOMPRESSED},
	{"field", required_argument, NULL, OPT_FIELD},
	{"header-timeout", required_argument, NULL, OPT_HEADER},
	{"idle-timeout", required_argument, NULL, OPT_IDLE},
	{"drain-timeout", required_argument, NULL, OPT_DRAIN},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0}
};

/* Parse a whole number from min to max; false after a message. */
static bool
number(const char *name, const char *text, long min, long max, long *value)
{
	char *end;

	errno = 0;
	*value = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || *value < min || *value > max) {
		fprintf(stderr, "sws: %s: '%s' is not a number between %ld and %ld\n", name, text,
		    min, max);
		return false;
	}
	return true;
}

/* Parse a size in bytes with an optional suffix k, m or g; false after a message. */
static bool
bytes(const char *name, const char *text, size_t *value)
{
	unsigned long long n;
	char *end;
	int shift = 0;

	errno = 0;
	n = strtoull(text, &end, 10);
	switch (end == text ? 'x' : *end) {
	case 'k': case 'K':
		shift = 10;
		break;
	case 'm': case 'M':
		shift = 20;
		break;
	case 'g': case 'G':
		shift = 30;
		break;
	case '\0':
		break;
	default:
		shift = -1;
	}
	if (errno != 0 || shift < 0 || text[0] == '-' || (shift > 0 && end[1] != '\0')
	    || n > (SIZE_MAX >> 1 >> shift)) {
		fprintf(stderr, "sws: %s: '%s' is not a size in bytes\n", name, text);
		return false;
	}
	*value = (size_t)n << shift;
	SWS_ASSERT(*value >> shift == n);
	return true;
}

/* Parse a time in seconds, possibly with a fraction; false after a message. */
static bool
seconds(const char *name, const char *text, uint64_t *ns)
{
	char *end;
	double s;

	errno = 0;
	s = strtod(text, &end);
	if (errno != 0 || end == text || *end != '\0' || !(s >= 0.001 && s <= 86400)) {
		fprintf(stderr, "sws: %s: '%s' is not a time between 0.001 and 86400 seconds\n",
		    name, text);
		return false;
	}
	*ns = (uint64_t)(s * 1e9);
	/* 0 would mean a timer that does not repeat. */
	SWS_ASSERT(*ns > 0);
	return true;
}

/* Parse a list such as "br,gz", or "off"; false after a message. */
static bool
codings(const char *name, const char *text, uint8_t list[HTTP_CODINGS])
{
	const char *p = text;
	unsigned n = 0, seen = 0;

	memset(list, HTTP_IDENTITY, HTTP_CODINGS);
	if (strcmp(text, "off") == 0)
		return true;
	for (;;) {
		size_t len = strcspn(p, ",");
		int c = HTTP_ZSTD;

		while (c < HTTP_CODINGS && (strlen(http_coding_suffix(c)) != len + 1
		    || memcmp(http_coding_suffix(c) + 1, p, len) != 0))
			c++;
		if (c == HTTP_CODINGS || (seen >> c & 1)) {
			fprintf(stderr, "sws: %s: '%s' is neither off nor a list of zst, br and "
			    "gz\n", name, text);
			return false;
		}
		seen |= 1u << c;
		list[n++] = (uint8_t)c;
		SWS_ASSERT(n < HTTP_CODINGS);
		if (p[len] == '\0')
			return true;
		p += len + 1;
	}
}

/* Is this a field that sws writes itself, or that frames a message? */
static bool
is_own(const char *name, size_t len)
{
	static const char *const names[] = {
		"Accept-Ranges", "Connection", "Content-Encoding", "Content-Length",
		"Content-Range", "Content-Type", "Date", "ETag", "Keep-Alive", "Last-Modified",
		"Location", "Server", "Trailer", "Transfer-Encoding", "Upgrade", "Vary"
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i]) == len && strncasecmp(names[i], name, len) == 0)
			return true;
	return false;
}

/* Take the line of the field with this name out of lines. */
static void
remove_line(char *lines, const char *name, size_t len)
{
	char *line = lines;

	while (*line != '\0') {
		char *next = strchr(line, '\n') + 1;

		if (strncasecmp(line, name, len) == 0 && line[len] == ':')
			memmove(line, next, strlen(next) + 1);
		else
			line = next;
	}
}

/* Add "NAME: VALUE" to lines, in place of one of that name; without a value there is none then.
 * False after a message. */
static bool
field(const char *text, char *lines, size_t room)
{
	size_t len = strspn(text, "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz"), used;
	const char *value = text + len + 1, *p;

	for (p = text; (unsigned char)*p >= 0x20 && *p != 0x7f; p++)
		;
	if (len == 0 || text[len] != ':' || *p != '\0') {
		fprintf(stderr, "sws: --field: '%s' is not of the form 'NAME: VALUE'\n", text);
		return false;
	}
	if (is_own(text, len)) {
		fprintf(stderr, "sws: --field: %.*s is a field that sws writes itself\n", (int)len,
		    text);
		return false;
	}
	while (*value == ' ')
		value++;
	remove_line(lines, text, len);
	if (*value == '\0')
		return true;
	used = strlen(lines);
	if ((size_t)snprintf(lines + used, room - used, "%.*s: %s\r\n", (int)len, text, value)
	    < room - used)
		return true;
	fprintf(stderr, "sws: --field: more than %zu bytes of fields\n", room);
	return false;
}

static bool
one_option(struct sws_options *o, int id, const char *arg)
{
	long n;

	switch (id) {
	case OPT_PORT:
		if (!number("--port", arg, 0, 65535, &n))
			return false;
		o->port = (int)n;
		return true;
	case OPT_CORES:
		if (!number("--cores", arg, 1, MELY_CORES_MAX, &n))
			return false;
		o->cores = (int)n;
		return true;
	case OPT_CLIENTS:
		return number("--max-clients", arg, 1, 100000000, &o->clients_max);
	case OPT_BIND:
		o->bind = arg;
		return true;
	case OPT_CACHE:
		return bytes("--cache-size", arg, &o->site.cache_size);
	case OPT_CACHE_FILE:
		return bytes("--cache-file-size", arg, &o->site.cache_file_size);
	case OPT_PRECOMPRESSED:
		return codings("--precompressed", arg, o->site.codings);
	case OPT_FIELD:
		return field(arg, o->site.fields, sizeof o->site.fields);
	case OPT_HEADER:
		return seconds("--header-timeout", arg, &o->header_timeout_ns);
	case OPT_IDLE:
		return seconds("--idle-timeout", arg, &o->idle_timeout_ns);
	default:
		SWS_ASSERT(id == OPT_DRAIN);
		return seconds("--drain-timeout", arg, &o->drain_timeout_ns);
	}
}

enum sws_options_result
sws_options_parse(struct sws_options *o, int argc, char **argv)
{
	int id;

	/* getopt_long would continue behind the options of an earlier call. */
	SWS_ASSERT(optind == 1);
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
	opterr = 0;
	while ((id = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (id) {
		case OPT_HELP:
			fputs(help, stdout);
			return SWS_OPTIONS_DONE;
		case OPT_VERSION:
			printf("sws %s\n", mely_version());
			return SWS_OPTIONS_DONE;
		case '?':
			if (optopt != 0 && optopt < OPT_PORT)
				fprintf(stderr, "sws: invalid option '-%c' (try --help)\n", optopt);
			else
				fprintf(stderr, "sws: %s '%s' (try --help)\n", optopt == 0
				    ? "invalid option" : "invalid or missing argument of",
				    argv[optind - 1]);
			return SWS_OPTIONS_USAGE;
		default:
			if (!one_option(o, id, optarg))
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
