/* SPDX-License-Identifier: MIT */
/*
 * view.c: see view.h.
 */
#include "view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	LEFT = 92,
	RIGHT = 18,
	TOP = 64,
	BAR = 28,
	CURVE = 14,
	GAP = 12,
	PITCH_MIN = 8,
	/* Shapes of slices in one picture, about: what keeps its size bounded. */
	SHAPES_MAX = 20000
};

/* Beyond all times of a trace (trace.c), and twice it is still a time. */
static const int64_t TIME_MAX = 4000000000000000000;

/* qsort has no context; the program has one view. */
static const struct gantt_trace *sorting;

static int
by_order(const void *a, const void *b)
{
	const struct gantt_row *x = &sorting->row[*(const uint32_t *)a];
	const struct gantt_row *y = &sorting->row[*(const uint32_t *)b];

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->sort != y->sort)
		return x->sort < y->sort ? -1 : 1;
	if (x->core != y->core)
		return x->core < y->core ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void
choose_rows(struct gantt_view *view)
{
	const struct gantt_trace *trace = view->trace;
	size_t slices = 0;

	for (size_t i = 0; i < trace->rows; i++)
		slices += trace->row[i].slices;
	for (size_t i = 0; i < trace->rows; i++) {
		const struct gantt_row *row = &trace->row[i];

		view->place[i] = -1;
		/* Threads other than cores have only posts. A core may have idled all the time. */
		if (row->slices + row->depths == 0 && !(row->named_core && slices > 0))
			continue;
		if (gantt_options_core(view->options, trace->row[i].core))
			view->row[view->rows++] = (uint32_t)i;
	}
	sorting = trace;
	qsort(view->row, view->rows, sizeof *view->row, by_order);
	for (size_t i = 0; i < view->rows; i++)
		view->place[view->row[i]] = (int32_t)i;
}

/* A time after zero, so far from the ends of the type that the width of a view is none either. */
static int64_t
after(int64_t zero, int64_t ns)
{
	int64_t time;

	if (__builtin_add_overflow(zero, ns, &time))
		time = ns < 0 ? INT64_MIN : INT64_MAX;
	return time < -TIME_MAX ? -TIME_MAX : time > TIME_MAX ? TIME_MAX : time;
}

static void
choose_times(struct gantt_view *view)
{
	const struct gantt_trace *trace = view->trace;
	const struct gantt_options *o = view->options;

	view->from = trace->begin;
	view->to = trace->finish;
	if (o->from != INT64_MIN)
		view->from = after(trace->zero, o->from);
	if (o->to != INT64_MAX)
		view->to = after(trace->zero, o->to);
	if (view->to <= view->from)
		view->to = view->from + 1;
}

static void
choose_sizes(struct gantt_view *view)
{
	double rows = view->rows > 0 ? (double)view->rows : 1;

	view->left = LEFT;
	view->width = view->options->width - LEFT - RIGHT;
	view->top = TOP;
	view->pitch = BAR + CURVE + GAP;
	view->bar = BAR;
	view->curve = CURVE;
	view->column = fmax(1, ceil(rows * view->width / SHAPES_MAX));
}

void
gantt_view_fit(struct gantt_view *view, double below)
{
	double rows = view->rows > 0 ? (double)view->rows : 1;

	if (view->options->height == 0)
		return;
	view->pitch = fmax(PITCH_MIN, (view->options->height - TOP - below) / rows);
	view->bar = floor(view->pitch * BAR / (BAR + CURVE + GAP));
	view->curve = floor(view->pitch * CURVE / (BAR + CURVE + GAP));
}

static void
find_depth(struct gantt_view *view)
{
	for (size_t i = 0; i < view->rows; i++) {
		const struct gantt_row *row = &view->trace->row[view->row[i]];

		for (size_t k = 0; k < row->depths; k++) {
			if (row->depth[k].time >= view->from && row->depth[k].time <= view->to
			    && row->depth[k].value > view->depth_max)
				view->depth_max = row->depth[k].value;
		}
	}
}

bool
gantt_view_init(struct gantt_view *view, const struct gantt_trace *trace,
    const struct gantt_options *options)
{
	memset(view, 0, sizeof *view);
	view->trace = trace;
	view->options = options;
	view->row = calloc(trace->rows + 1, sizeof *view->row);
	view->place = calloc(trace->rows + 1, sizeof *view->place);
	if (view->row == NULL || view->place == NULL) {
		gantt_view_free(view);
		return false;
	}
	choose_rows(view);
	choose_times(view);
	choose_sizes(view);
	find_depth(view);
	return true;
}

void
gantt_view_free(struct gantt_view *view)
{
	free(view->row);
	free(view->place);
	memset(view, 0, sizeof *view);
}

double
gantt_view_x(const struct gantt_view *view, int64_t time)
{
	double part = ((double)time - (double)view->from) / ((double)view->to - (double)view->from);

	return view->left + view->width * fmin(fmax(part, 0), 1);
}

double
gantt_view_y(const struct gantt_view *view, size_t place)
{
	return floor(view->top + view->pitch * (double)place);
}

bool
gantt_view_clip(const struct gantt_view *view, const struct gantt_slice *slice, int64_t *from,
    int64_t *to)
{
	*from = slice->start > view->from ? slice->start : view->from;
	*to = slice->start + slice->duration;
	if (*to > view->to)
		*to = view->to;
	return *from < *to;
}

size_t
gantt_view_columns(const struct gantt_view *view)
{
	return (size_t)ceil(view->width / view->column);
}

size_t
gantt_view_column(const struct gantt_view *view, int64_t time)
{
	size_t columns = gantt_view_columns(view);
	double at = floor((gantt_view_x(view, time) - view->left) / view->column);

	return at < 0 ? 0 : at >= (double)columns ? columns - 1 : (size_t)at;
}
