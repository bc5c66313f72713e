/* SPDX-License-Identifier: MIT */
/*
 * options.h: the command line of mely-gantt. Read-only after it has been read.
 */
#ifndef GANTT_OPTIONS_H
#define GANTT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define GANTT_WIDTH_MIN 300
#define GANTT_WIDTH_MAX 20000
#define GANTT_HEIGHT_MAX 20000
/** Cores have numbers below this in --cores. */
#define GANTT_CORE_MAX 1024

enum gantt_by {
	GANTT_BY_HANDLER,
	GANTT_BY_COLOR
};

struct gantt_options {
	const char *input;   /**< "-": standard input */
	const char *output;  /**< NULL: standard output */
	const char *title;   /**< NULL: the name of the process, or of the file */
	int64_t from;        /**< ns since the trace began; INT64_MIN: its beginning */
	int64_t to;          /**< ns since the trace began; INT64_MAX: its end */
	int width;           /**< pixels of the whole picture */
	int height;          /**< pixels; 0: as the rows need */
	enum gantt_by by;
	bool arrows;
	bool chrome;         /**< write JSON instead of a picture */
	bool cores_given;
	/** The cores to draw, one bit each, if cores_given. */
	uint64_t cores[GANTT_CORE_MAX / 64];
};

enum gantt_options_result {
	GANTT_OPTIONS_RUN,
	GANTT_OPTIONS_DONE, /**< --help or --version: exit 0 */
	GANTT_OPTIONS_USAGE /**< one line was written to stderr: exit 2 */
};

enum gantt_options_result gantt_options_parse(struct gantt_options *options, int argc,
    char **argv);

/** The defaults, without a command line. */
void gantt_options_default(struct gantt_options *options);

/** Whether to draw this core. */
bool gantt_options_core(const struct gantt_options *options, int64_t core);

#endif
