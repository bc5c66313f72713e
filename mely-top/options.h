/* SPDX-License-Identifier: MIT */
/*
 * options.h: the command line of mely-top.
 */
#ifndef TOP_OPTIONS_H
#define TOP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum top_mode {
	TOP_SCREEN,
	TOP_ONCE,
	TOP_ONCE_JSON,
	TOP_DUMP,
	TOP_PROMETHEUS
};

struct top_options {
	enum top_mode mode;
	const char *target;      /* PID or PATH; NULL: find one */
	uint64_t interval_ns;    /* between snapshots; 0 with --once: since the runtime was made */
	uint32_t colors;         /* at most */
};

/* What main does after the command line is parsed. */
enum top_options_result {
	TOP_OPTIONS_RUN,
	TOP_OPTIONS_DONE,  /* --help or --version: exit 0 */
	TOP_OPTIONS_USAGE  /* one line was written to stderr: exit 2 */
};

enum top_options_result top_options_parse(struct top_options *options, int argc, char **argv);

#endif
