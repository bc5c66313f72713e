/* SPDX-License-Identifier: MIT */
/*
 * options.h: the command line of sws-load. A master sends the options that concern the load to its
 * slaves, as text.
 */
#ifndef LOAD_OPTIONS_H
#define LOAD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "load/url.h"

#define LOAD_FIELDS_MAX 8192

struct load_options {
	struct load_url url;
	const char *url_text;   /* as given */
	uint32_t clients;
	uint32_t per_connection;/* requests per connection; 0: no limit */
	uint32_t pipeline;
	uint32_t streams;       /* of HTTP/2, per connection */
	uint32_t cores;
	uint64_t duration_ns;   /* 0: until requests have been sent */
	uint64_t warmup_ns;
	uint64_t timeout_ns;
	uint64_t requests;      /* 0: no limit */
	double rate;            /* requests/s; 0: closed loop */
	uint64_t seed;
	uint64_t errors_max;    /* a run with more of them fails */
	bool head;              /* HEAD instead of GET */
	bool http2;
	bool tls_resume;
	int tls_version;        /* 12, 13; 0: any */
	char fields[LOAD_FIELDS_MAX]; /* lines of further fields, each with CRLF */
	const char *list;       /* file of paths */
	double zipf;            /* 0: the list in turn */
	uint32_t specweb_dirs;  /* 0: none */
	const char *verify;     /* directory */

	double phase;           /* open loop: a slave is later by this part of 1 / rate */

	/* Of the master alone. */
	bool quiet;
	const char *json, *csv, *svg;
	const char *master;     /* slaves, HOST:PORT,... */
	const char *slave;      /* [ADDRESS:]PORT */
	const char *make_specweb;
};

enum load_options_result {
	LOAD_OPTIONS_RUN,
	LOAD_OPTIONS_DONE,  /* --help or --version: exit 0 */
	LOAD_OPTIONS_USAGE  /* invalid, reported: exit 2 */
};

/** Parse a command line; strings in *o point into argv. May be called again. */
enum load_options_result load_options_parse(struct load_options *o, int argc, char **argv);

/**
 * What a master sends to slave number index of count: "VERSION INDEX/COUNT" and the arguments, each
 * with a terminating zero. The clients, the rate and the requests are this slave's part. For free;
 * NULL when memory has run out.
 */
char *load_options_encode(const struct load_options *o, uint32_t index, uint32_t count,
    size_t *len);

/** The part of the number whole that falls to number index of count. */
static inline uint64_t
load_share(uint64_t whole, uint32_t index, uint32_t count)
{
	return whole / count + (index < whole % count);
}

#endif
