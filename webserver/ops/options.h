/* SPDX-License-Identifier: MIT */
/*
 * options.h: all that an operator says of sws, on the command line and in its file. Read-only once
 * it is read.
 */
#ifndef SWS_OPTIONS_H
#define SWS_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "ops/setting.h"
#include "site/site.h"

struct sws_options {
	const char *bind;
	int port;
	int cores;                /**< 0: the runtime's default */
	long clients_max;         /**< 0: from the limit of descriptors */
	uint64_t header_timeout_ns;
	uint64_t idle_timeout_ns;
	uint64_t drain_timeout_ns;
	struct sws_site_options site;
};

/** What main does after it has parsed the command line. */
enum sws_options_result {
	SWS_OPTIONS_RUN,
	SWS_OPTIONS_DONE,  /**< --help or --version: exit 0 */
	SWS_OPTIONS_USAGE  /**< invalid, reported in one line on stderr: exit 2 */
};

enum sws_options_result sws_options_parse(struct sws_options *options, int argc, char **argv);

#endif
