/* SPDX-License-Identifier: MIT */
/*
 * options.h: the command line of sws. Filled before the runtime is made, read-only after that.
 */
#ifndef SWS_OPTIONS_H
#define SWS_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "site/site.h"

struct sws_options {
	struct sws_site_options site;
	const char *bind;
	int port;
	int cores;                /**< 0: the runtime's default */
	long clients_max;         /**< 0: from the limit of descriptors */
	uint64_t header_timeout_ns;
	uint64_t idle_timeout_ns;
	uint64_t drain_timeout_ns;
};

/** What main does after it has parsed the command line. */
enum sws_options_result {
	SWS_OPTIONS_RUN,
	SWS_OPTIONS_DONE,  /**< --help or --version: exit 0 */
	SWS_OPTIONS_USAGE  /**< invalid, reported in one line on stderr: exit 2 */
};

enum sws_options_result sws_options_parse(struct sws_options *options, int argc, char **argv);

#endif
