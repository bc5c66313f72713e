/* SPDX-License-Identifier: MIT */
/*
 * draw.h: the picture. Its size depends on the pixels and the rows, not on the trace.
 */
#ifndef GANTT_DRAW_H
#define GANTT_DRAW_H

#include <stdbool.h>
#include <stdio.h>

#include "options.h"
#include "rank.h"
#include "trace.h"
#include "view.h"

/** What all parts of the picture are drawn from. */
struct gantt_picture {
	FILE *out;
	struct gantt_view view;
	struct gantt_rank rank;
	/** The class attribute of each class. */
	const char *const *css;
};

/** Draw a trace; the name is that of its file. False: no memory. */
bool gantt_draw(FILE *out, const struct gantt_trace *trace, const struct gantt_options *options,
    const char *name);

/* draw_row.c: slices, merged columns and the queue of a row; false: no memory. */
bool gantt_draw_row(const struct gantt_picture *picture, size_t place);

/* draw_steal.c: the arrows. False: no memory. */
bool gantt_draw_steals(const struct gantt_picture *picture);

/* draw_frame.c: all around the rows. */
void gantt_draw_head(const struct gantt_picture *picture, const char *name, double height);
void gantt_draw_axis(const struct gantt_picture *picture);
void gantt_draw_legend(const struct gantt_picture *picture, double y);
/** Lines of the legend. */
int gantt_draw_legend_lines(const struct gantt_picture *picture);

enum {
	GANTT_AXIS_HEIGHT = 26,
	GANTT_LEGEND_LINE = 20
};

#endif
