/* SPDX-License-Identifier: MIT */
/*
 * report.h: reports of the library about a running program: one line at a time, to the program's
 * function (mely_config.report) or to stderr.
 */
#ifndef MELYINT_LOOK_REPORT_H
#define MELYINT_LOOK_REPORT_H

#include "core/core.h"

enum { MELYINT_LINE = 2048 };

/* A line in the making. A line that does not fit is cut and ends in "...". */
struct melyint_line {
	size_t used;
	char text[MELYINT_LINE];
};

void melyint_line_add(struct melyint_line *line, const char *format, ...) MELY_PRINTF(2, 3);
/* n with a comma between thousands, as in 12,031. */
void melyint_line_number(struct melyint_line *line, uint64_t n);

/* How often lines of one kind may come: ten a minute, about any core or handler. One thread. */
struct melyint_rate {
	uint64_t began_ns;   /* of the minute */
	uint32_t said;       /* lines in this minute */
	uint32_t hidden;     /* lines left out since the last one */
};

enum { MELYINT_RATE_NS = 1000000000 }; /* the least time between two lines about one thing */

/* May a line come now? Counts it as said or as hidden. */
bool melyint_rate_allows(struct melyint_rate *rate, uint64_t now_ns);
/* Add the number of hidden things, if any, to the line, which may be empty. */
void melyint_rate_add(struct melyint_rate *rate, struct melyint_line *line, const char *things);

/* Report the line and empty it. The caller holds no lock of a core. If stderr takes nothing for a
 * tenth of a second the line is dropped, and the next one says so. */
void melyint_report(struct mely_runtime *rt, struct melyint_line *line);

#endif
