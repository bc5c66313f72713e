/* SPDX-License-Identifier: MIT */
/*
 * view.h: which part of a trace is drawn, and where things go. Computed once, then read-only.
 */
#ifndef GANTT_VIEW_H
#define GANTT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "trace.h"

struct gantt_view {
	const struct gantt_trace *trace;
	const struct gantt_options *options;
	int64_t from;       /**< on the clock of the file */
	int64_t to;         /**< after from */
	uint32_t *row;      /**< rows of the trace, in the order drawn */
	int32_t *place;     /**< by row of the trace: where in the order, or -1 */
	size_t rows;
	double depth_max;   /**< of all rows, between from and to */
	/* Pixels. */
	double left;        /**< of the plot */
	double width;
	double top;         /**< of the first row */
	double pitch;       /**< from row to row */
	double bar;         /**< height of the slices */
	double curve;       /**< of the queue below them */
	double column;      /**< slices narrower than this are merged, into columns of it */
};

/** False: no memory. A view without rows is possible. */
bool gantt_view_init(struct gantt_view *view, const struct gantt_trace *trace,
    const struct gantt_options *options);
/** Make the rows as high as --height requires, with that many pixels below them. */
void gantt_view_fit(struct gantt_view *view, double below);

void gantt_view_free(struct gantt_view *view);

/** Where a time is, between left and left + width. */
double gantt_view_x(const struct gantt_view *view, int64_t time);

/** The top of the n-th row drawn. */
double gantt_view_y(const struct gantt_view *view, size_t place);

/** The part of a slice that is drawn; false when there is none. */
bool gantt_view_clip(const struct gantt_view *view, const struct gantt_slice *slice,
    int64_t *from, int64_t *to);

/** Columns across the plot. */
size_t gantt_view_columns(const struct gantt_view *view);

/** The column of a time between from and to. */
size_t gantt_view_column(const struct gantt_view *view, int64_t time);

#endif
