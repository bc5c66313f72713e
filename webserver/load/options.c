/* SPDX-License-Identifier: MIT */
/*
 * options.c: the command line of sws-load. Each row of the table is an option.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mely/mely.h>

#include "base/assertion.h"
#include "load/options.h"
#include "load/specweb.h"

static const char help[] =
    "usage: sws-load [options] URL\n"
    "       sws-load --slave [ADDRESS:]PORT\n"
    "       sws-load --make-specweb DIR --specweb DIRS\n"
    "Put load on a web server, and measure. Defaults are in parentheses.\n"
    "\n"
    "  --clients N           virtual clients, each with a connection (64)\n"
    "  --cores N             cores that they are spread over (1)\n"
    "  --duration S          seconds to measure (10)\n"
    "  --warmup S            seconds of load before that (0)\n"
    "  --requests N          stop after N requests, instead of --duration\n"
    "  --rate R              open loop: R requests/s at constant distance, latency from the time\n"
    "                        when each was due; without: closed loop\n"
    "  --requests-per-connection N\n"
    "                        then close it and connect again; 0: keep it (0)\n"
    "  --pipeline N          requests that are sent at once on a connection (1)\n"
    "  --timeout S           seconds to wait for an answer (10)\n"
    "  --method METHOD       GET or HEAD (GET)\n"
    "  --field 'NAME: VALUE' add a field to the requests\n"
    "\n"
    "  --list FILE           paths to ask for, one a line, in turn, instead of that of URL\n"
    "  --zipf S              draw them instead, the first most often: rank^-S\n"
    "  --specweb DIRS        draw files of DIRS directories as in SPECweb99\n"
    "  --make-specweb DIR    write these files beneath DIR, and exit\n"
    "  --seed N              seed of what is drawn (1)\n"
    "  --verify DIR          compare every body with the file of its path beneath DIR\n"
    "\n"
    "  --tls-version V       1.2 or 1.3 for https (the best of both)\n"
    "  --tls-resume          resume sessions\n"
    "  --http2               HTTP/2: by ALPN for https, else by prior knowledge\n"
    "  --streams N           requests in progress on an HTTP/2 connection (1)\n"
    "\n"
    "  --slave [ADDRESS:]PORT    wait for masters (127.0.0.1)\n"
    "  --master HOST:PORT,...    let these slaves do it, and sum their results\n"
    "\n"
    "  --json FILE, --csv FILE, --svg FILE\n"
    "                        write the result, a row per second, a plot of the latencies\n"
    "  --errors-max N        most errors of a run that does not fail (0)\n"
    "  --quiet               no progress\n"
    "  --help, --version\n";

enum kind { NUMBER32, NUMBER64, TIME, RATE, POWER, TEXT, SWITCH, FIELD, METHOD, TLS_VERSION };

struct setting {
	const char *name;
	enum kind kind;
	bool local;  /* not for slaves */
	size_t at;   /* where the value is in struct load_options */
	double min, max;
};

#define AT(field) offsetof(struct load_options, field)

static const struct setting settings[] = {
	{"clients", NUMBER32, false, AT(clients), 1, 1000000},
	{"cores", NUMBER32, false, AT(cores), 1, MELY_CORES_MAX},
	{"csv", TEXT, true, AT(csv), 0, 0},
	{"duration", TIME, false, AT(duration_ns), 0.001, 1000000},
	{"errors-max", NUMBER64, true, AT(errors_max), 0, 1e15},
	{"field", FIELD, false, AT(fields), 0, 0},
	{"http2", SWITCH, false, AT(http2), 0, 0},
	{"json", TEXT, true, AT(json), 0, 0},
	{"list", TEXT, false, AT(list), 0, 0},
	{"make-specweb", TEXT, true, AT(make_specweb), 0, 0},
	{"master", TEXT, true, AT(master), 0, 0},
	{"method", METHOD, false, AT(head), 0, 0},
	{"pipeline", NUMBER32, false, AT(pipeline), 1, 1024},
	{"quiet", SWITCH, true, AT(quiet), 0, 0},
	{"rate", RATE, false, AT(rate), 0.001, 1e8},
	{"requests", NUMBER64, false, AT(requests), 1, 1e15},
	{"requests-per-connection", NUMBER32, false, AT(per_connection), 0, 1e9},
	{"seed", NUMBER64, false, AT(seed), 0, 1e15},
	{"slave", TEXT, true, AT(slave), 0, 0},
	{"specweb", NUMBER32, false, AT(specweb_dirs), 1, LOAD_SPECWEB_DIRS_MAX},
	{"streams", NUMBER32, false, AT(streams), 1, 1024},
	{"svg", TEXT, true, AT(svg), 0, 0},
	{"timeout", TIME, false, AT(timeout_ns), 0.01, 1000000},
	{"tls-resume", SWITCH, false, AT(tls_resume), 0, 0},
	{"tls-version", TLS_VERSION, false, AT(tls_version), 0, 0},
	{"verify", TEXT, false, AT(verify), 0, 0},
	{"warmup", TIME, false, AT(warmup_ns), 0, 1000000},
	{"zipf", POWER, false, AT(zipf), 0.001, 100},
};

#define SETTINGS_COUNT ((int)(sizeof settings / sizeof settings[0]))
#define OPT_HELP 256
#define OPT_VERSION 257
#define OPT_SETTING 512

static void *
value_of(struct load_options *o, const struct setting *s)
{
	return (char *)o + s->at;
}

static const void *
const_value_of(const struct load_options *o, const struct setting *s)
{
	return (const char *)o + s->at;
}

static bool
set_number(void *to, const struct setting *s, const char *text)
{
	bool whole = s->kind == NUMBER32 || s->kind == NUMBER64;
	char *end;
	double v;

	if (text[0] < '0' || text[0] > '9' || strspn(text, whole ? "0123456789" : "0123456789.")
	    != strlen(text))
		return false;
	v = strtod(text, &end);
	if (*end != '\0' || !(v >= s->min && v <= s->max))
		return false;
	switch (s->kind) {
	case NUMBER32:
		*(uint32_t *)to = (uint32_t)v;
		break;
	case NUMBER64:
		*(uint64_t *)to = strtoull(text, NULL, 10);
		break;
	case TIME:
		*(uint64_t *)to = (uint64_t)llround(v * 1e9);
		break;
	default:
		*(double *)to = v;
	}
	return true;
}

/* "NAME: VALUE", one line of text. */
static bool
add_field(char *fields, const char *text)
{
	size_t name_len = strcspn(text, ": \t"), len = strlen(text), at = strlen(fields);

	if (name_len == 0 || text[name_len] != ':' || at + len + 3 > LOAD_FIELDS_MAX)
		return false;
	for (const char *c = text; *c != '\0'; c++)
		if (((unsigned char)*c < ' ' && *c != '\t') || *c == 127)
			return false;
	sprintf(fields + at, "%s\r\n", text);
	return true;
}

static bool
set(struct load_options *o, const struct setting *s, const char *text)
{
	void *to = value_of(o, s);

	switch (s->kind) {
	case TEXT:
		*(const char **)to = text;
		return text[0] != '\0';
	case SWITCH:
		*(bool *)to = true;
		return true;
	case FIELD:
		return add_field(to, text);
	case METHOD:
		*(bool *)to = strcmp(text, "HEAD") == 0;
		return *(bool *)to || strcmp(text, "GET") == 0;
	case TLS_VERSION:
		*(int *)to = strcmp(text, "1.2") == 0 ? 12 : strcmp(text, "1.3") == 0 ? 13 : 0;
		return *(int *)to != 0;
	default:
		return set_number(to, s, text);
	}
}

static void
set_defaults(struct load_options *o)
{
	*o = (struct load_options){
		.clients = 64, .pipeline = 1, .streams = 1, .cores = 1, .seed = 1,
		.timeout_ns = UINT64_C(10000000000)
	};
}

/* What options do not go together; NULL: all is well. */
static const char *
conflict(const struct load_options *o)
{
	if (o->requests > 0 && (o->duration_ns > 0 || o->warmup_ns > 0))
		return "--requests goes with neither --duration nor --warmup";
	if (o->zipf > 0 && o->list == NULL)
		return "--zipf wants --list";
	if (o->specweb_dirs > 0 && o->list != NULL)
		return "--specweb does not go with --list";
	if (o->http2 && o->pipeline > 1)
		return "--http2 wants --streams, not --pipeline";
	if (!o->http2 && o->streams > 1)
		return "--streams wants --http2";
	if (!o->url.tls && (o->tls_version != 0 || o->tls_resume))
		return "--tls-version and --tls-resume want a URL with https";
	if (o->verify != NULL && o->head)
		return "--verify wants bodies, and HEAD brings none";
	if (o->cores > o->clients)
		return "--cores is larger than --clients";
	if (o->requests > 0 && o->requests < o->cores)
		return "--requests is less than --cores";
	return NULL;
}

static enum load_options_result
usage(const char *what, const char *of)
{
	fprintf(stderr, "sws-load: %s%s (try --help)\n", what, of);
	return LOAD_OPTIONS_USAGE;
}

/* The arguments after the options, and what the options mean together. */
static enum load_options_result
finish(struct load_options *o, int argc, char **argv)
{
	const char *error;

	if (o->slave != NULL || o->make_specweb != NULL) {
		if (o->make_specweb != NULL && o->specweb_dirs == 0)
			return usage("--make-specweb wants --specweb", "");
		return optind == argc ? LOAD_OPTIONS_RUN
		    : usage("no URL is wanted here: ", argv[optind]);
	}
	if (optind != argc - 1)
		return usage(optind == argc ? "URL is missing" : "more than one URL", "");
	o->url_text = argv[optind];
	error = load_url_parse(&o->url, o->url_text);
	if (error != NULL) {
		fprintf(stderr, "sws-load: URL '%s': %s\n", o->url_text, error);
		return LOAD_OPTIONS_USAGE;
	}
	error = conflict(o);
	if (error != NULL)
		return usage(error, "");
	if (o->requests == 0 && o->duration_ns == 0)
		o->duration_ns = UINT64_C(10000000000);
	return LOAD_OPTIONS_RUN;
}

enum load_options_result
load_options_parse(struct load_options *o, int argc, char **argv)
{
	struct option options[SETTINGS_COUNT + 3];
	int id;

	for (int i = 0; i < SETTINGS_COUNT; i++)
		options[i] = (struct option){settings[i].name, settings[i].kind == SWITCH
		    ? no_argument : required_argument, NULL, OPT_SETTING + i};
	options[SETTINGS_COUNT] = (struct option){"help", no_argument, NULL, OPT_HELP};
	options[SETTINGS_COUNT + 1] = (struct option){"version", no_argument, NULL, OPT_VERSION};
	options[SETTINGS_COUNT + 2] = (struct option){NULL, 0, NULL, 0};
	set_defaults(o);
	opterr = 0;
	optind = 0; /* begin again */
	while ((id = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (id) {
		case OPT_HELP:
			fputs(help, stdout);
			return LOAD_OPTIONS_DONE;
		case OPT_VERSION:
			printf("sws-load %s\n", mely_version());
			return LOAD_OPTIONS_DONE;
		case '?':
			return usage("invalid option, or its argument is missing: ",
			    argv[optind - 1]);
		default:
			if (!set(o, &settings[id - OPT_SETTING], optarg != NULL ? optarg : "")) {
				fprintf(stderr, "sws-load: --%s: '%s' is not valid (try --help)\n",
				    settings[id - OPT_SETTING].name, optarg);
				return LOAD_OPTIONS_USAGE;
			}
		}
	}
	return finish(o, argc, argv);
}

/* ---- for slaves ---------------------------------------------------------------------------- */

/* The fields, one option each. */
static void
write_fields(FILE *out, const char *fields)
{
	for (const char *end; (end = strstr(fields, "\r\n")) != NULL; fields = end + 2)
		fprintf(out, "--field=%.*s%c", (int)(end - fields), fields, 0);
}

static void
write_setting(FILE *out, const struct load_options *o, const struct setting *s)
{
	const void *from = const_value_of(o, s), *usual;
	static struct load_options defaults;

	set_defaults(&defaults);
	usual = const_value_of(&defaults, s);
	switch (s->kind) {
	case NUMBER32:
		if (*(const uint32_t *)from != *(const uint32_t *)usual)
			fprintf(out, "--%s=%u%c", s->name, *(const uint32_t *)from, 0);
		break;
	case NUMBER64:
		if (*(const uint64_t *)from != *(const uint64_t *)usual)
			fprintf(out, "--%s=%llu%c", s->name,
			    (unsigned long long)*(const uint64_t *)from, 0);
		break;
	case TIME:
		if (*(const uint64_t *)from != *(const uint64_t *)usual)
			fprintf(out, "--%s=%.9f%c", s->name,
			    (double)*(const uint64_t *)from / 1e9, 0);
		break;
	case RATE:
	case POWER:
		if (*(const double *)from > 0)
			fprintf(out, "--%s=%.9f%c", s->name, *(const double *)from, 0);
		break;
	case TEXT:
		if (*(const char *const *)from != NULL)
			fprintf(out, "--%s=%s%c", s->name, *(const char *const *)from, 0);
		break;
	case SWITCH:
		if (*(const bool *)from)
			fprintf(out, "--%s%c", s->name, 0);
		break;
	case FIELD:
		write_fields(out, from);
		break;
	case METHOD:
		fprintf(out, "--%s=%s%c", s->name, *(const bool *)from ? "HEAD" : "GET", 0);
		break;
	case TLS_VERSION:
		if (*(const int *)from != 0)
			fprintf(out, "--%s=1.%d%c", s->name, *(const int *)from % 10, 0);
		break;
	}
}

char *
load_options_encode(const struct load_options *o, uint32_t index, uint32_t count, size_t *len)
{
	struct load_options part = *o;
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	SWS_ASSERT(index < count && count <= o->clients);
	if (out == NULL)
		return NULL;
	fprintf(out, "%s %u/%u%c", mely_version(), index, count, 0);
	part.clients = (uint32_t)load_share(o->clients, index, count);
	part.requests = load_share(o->requests, index, count);
	part.rate = o->rate / count;
	part.seed = o->seed + index;
	for (int i = 0; i < SETTINGS_COUNT; i++)
		if (!settings[i].local)
			write_setting(out, &part, &settings[i]);
	fprintf(out, "%s%c", o->url_text, 0);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
