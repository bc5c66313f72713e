/* SPDX-License-Identifier: MIT */
/*
 * report.h: what the library has to say of a running program: one line at a time, to the program's
 * function (mely_config.report) or to stderr.
 */
#ifndef MELYINT_LOOK_REPORT_H
#define MELYINT_LOOK_REPORT_H

#include "core/core.h"

enum { MELYINT_LINE = 2048 };

/* A line that is being put together. What does not fit is cut, and ends in "...". */
struct melyint_line {
	size_t used;
	char text[MELYINT_LINE];
};

void melyint_line_add(struct melyint_line *line, const char *format, ...) MELY_PRINTF(2, 3);
/* n with a comma between thousands, as in 12,031. */
void melyint_line_number(struct melyint_line *line, uint64_t n);

/* How often such lines may be said: so many a minute, whoever they are of. One thread. */
struct melyint_rate {
	uint64_t began_ns;   /* of the minute */
	uint32_t said;       /* in it */
	uint32_t hidden;     /* not said, since the last that was */
};

enum { MELYINT_RATE_NS = 1000000000 }; /* the least time between two lines about one thing */

/* May one be said now? If so, it counts as said; if not, as hidden. */
bool melyint_rate_allows(struct melyint_rate *rate, uint64_t now_ns);
/* Add to the line, which may be empty, how many such things were hidden before it, if any. */
void melyint_rate_add(struct melyint_rate *rate, struct melyint_line *line, const char *things);

/* Say it, and begin anew. No lock of a core is held. Where stderr takes nothing for a tenth of a
 * second the line is dropped, and the next one says so. */
void melyint_report(struct mely_runtime *rt, struct melyint_line *line);

#endif
