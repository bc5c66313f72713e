/* SPDX-License-Identifier: MIT */
/*
 * draw_row.c: one core: its slices, and the depth of its queue.
 *
 * NOTE(columns)
 * A slice at least as wide as a column is a rectangle with a tooltip. All narrower ones are added
 * up by column and class, and a column is drawn as a stack: each class as high as its share of
 * the column's time. So what is dense looks like a load graph, nothing is left out, and a row has
 * at most as many shapes as it has pixels, however long the trace is.
 */
#include "draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "svg.h"

/* Pixels that a character of a label takes, and the fewest that say anything. */
#define LABEL_CHARACTER 6.3
#define LABEL_MIN 4

struct columns {
	size_t count;
	double *time;                   /* [column][class], ns */
	uint64_t merged[GANTT_CLASSES]; /* slices */
	double total[GANTT_CLASSES];    /* their ns */
};

static void
tooltip(const struct gantt_picture *p, const struct gantt_slice *slice)
{
	const struct gantt_names *names = &p->view.trace->names;
	char at[32], lasted[32];

	gantt_time_exact(slice->start - p->view.trace->zero, at, sizeof at);
	gantt_time_text(slice->duration, lasted, sizeof lasted);
	fputs("<title>", p->out);
	gantt_svg_cut(p->out, names->text[slice->name], 200);
	if (slice->color != GANTT_NO_NAME) {
		fputs(", color ", p->out);
		gantt_svg_cut(p->out, names->text[slice->color], 100);
	}
	fprintf(p->out, "\n%s, at %s</title>", lasted, at);
}

/* What is written on a slice: the handler, or the color's own name where it has one. */
static const char *
label_of(const struct gantt_picture *p, const struct gantt_slice *slice)
{
	const struct gantt_names *names = &p->view.trace->names;
	const char *text, *name;

	if (p->view.options->by != GANTT_BY_COLOR || slice->kind != GANTT_EVENT)
		return names->text[slice->name];
	if (slice->color == GANTT_NO_NAME)
		return "";
	text = names->text[slice->color];
	name = strstr(text, " (");
	return name != NULL ? name + 2 : text;
}

static void
wide(const struct gantt_picture *p, const struct gantt_slice *slice, int which, double y,
    double x, double width)
{
	size_t room = width > 6 ? (size_t)((width - 6) / LABEL_CHARACTER) : 0;
	const char *label = label_of(p, slice);
	size_t length = strlen(label);
	char text[64];

	gantt_svg_rect(p->out, p->css[which], x, y, width, p->view.bar);
	tooltip(p, slice);
	fputs("</rect>\n", p->out);
	if (label != p->view.trace->names.text[slice->name] && length > 0
	    && label[length - 1] == ')')
		length--;
	if (p->view.bar < 12 || length == 0 || (room < LABEL_MIN && room < length))
		return;
	snprintf(text, sizeof text, "%.*s", (int)(length < 63 ? length : 63), label);
	fprintf(p->out, "<text class=\"%s\" x=\"",
	    which < GANTT_CLASS_STEAL ? "l" : "l m");
	gantt_svg_number(p->out, x + 4);
	fputs("\" y=\"", p->out);
	gantt_svg_number(p->out, y + p->view.bar / 2 + 4);
	fputs("\">", p->out);
	gantt_svg_cut(p->out, text, room);
	fputs("</text>\n", p->out);
}

/* Add a slice to the columns that it touches: one, or two neighbors. */
static void
narrow(const struct gantt_picture *p, struct columns *columns, int which, int64_t from,
    int64_t to)
{
	double each = ((double)p->view.to - (double)p->view.from) * p->view.column / p->view.width;
	size_t first = gantt_view_column(&p->view, from);
	size_t last = gantt_view_column(&p->view, to);
	double all = (double)(to - from);
	double edge = (double)p->view.from + each * (double)last;
	double behind = last > first ? fmin(fmax((double)to - edge, 0), all) : 0;

	columns->time[first * GANTT_CLASSES + (size_t)which] += all - behind;
	columns->time[last * GANTT_CLASSES + (size_t)which] += behind;
	columns->merged[which]++;
	columns->total[which] += all;
}

/*
 * The upper edges of a column's classes, in whole pixels from the bottom: edge[class]. What is
 * there at all is a pixel high, and what rounds to nothing takes none from the others.
 */
static void
stack(const struct gantt_picture *p, const double *time, double each, int *edge)
{
	double sum = 0, scale;
	int height = (int)p->view.bar, below = 0;

	for (int i = 0; i < GANTT_CLASSES; i++)
		sum += time[i];
	/* Slices within slices of strangers' traces would make more than the whole. */
	scale = height / fmax(sum, each);
	if (sum > 0 && sum * scale < 1)
		scale = 1 / sum;
	sum = 0;
	for (int i = 0; i < GANTT_CLASSES; i++) {
		sum += time[i] * scale;
		edge[i] = (int)lround(sum);
		if (edge[i] < below)
			edge[i] = below;
		below = edge[i];
	}
}

static void
run(const struct gantt_picture *p, double y, size_t from, size_t to, int low, int high)
{
	double x = p->view.left + p->view.column * (double)from;
	double width = fmin(p->view.column * (double)(to - from),
	    p->view.left + p->view.width - x);

	fputs("M", p->out);
	gantt_svg_number(p->out, x);
	fputs(" ", p->out);
	gantt_svg_number(p->out, y + p->view.bar - high);
	fputs("h", p->out);
	gantt_svg_number(p->out, width);
	fprintf(p->out, "v%dh", high - low);
	gantt_svg_number(p->out, -width);
	fputs("z", p->out);
}

/* One path for all of a class that was merged. */
static void
merged(const struct gantt_picture *p, const struct columns *columns, const int *edge, int which,
    double y)
{
	char count[32], total[32];
	size_t from = 0;
	int low = 0, high = 0;

	fprintf(p->out, "<path class=\"%s\" d=\"", p->css[which]);
	for (size_t i = 0; i <= columns->count; i++) {
		const int *at = edge + i * GANTT_CLASSES;
		int l = i < columns->count && which > 0 ? at[which - 1] : 0;
		int h = i < columns->count ? at[which] : 0;

		if (l == low && h == high)
			continue;
		if (high > low)
			run(p, y, from, i, low, high);
		from = i;
		low = l;
		high = h;
	}
	gantt_time_text((int64_t)columns->total[which], total, sizeof total);
	fputs("\"><title>", p->out);
	gantt_svg_cut(p->out, gantt_rank_name(&p->rank, &p->view, which), 200);
	fprintf(p->out, "\n%s too short for this picture, %s together</title></path>\n",
	    gantt_commas(columns->merged[which], count, sizeof count), total);
}

static bool
draw_columns(const struct gantt_picture *p, const struct columns *columns, double y)
{
	double each = ((double)p->view.to - (double)p->view.from) * p->view.column / p->view.width;
	int *edge = calloc((columns->count + 1) * GANTT_CLASSES, sizeof *edge);

	if (edge == NULL)
		return false;
	for (size_t i = 0; i < columns->count; i++)
		stack(p, columns->time + i * GANTT_CLASSES, each, edge + i * GANTT_CLASSES);
	for (int which = 0; which < GANTT_CLASSES; which++) {
		if (columns->merged[which] > 0)
			merged(p, columns, edge, which, y);
	}
	free(edge);
	return true;
}

/* The deepest that the queue was in each column, as a filled curve below the slices. */
static bool
draw_depth(const struct gantt_picture *p, const struct gantt_row *row, double y)
{
	size_t columns = gantt_view_columns(&p->view), last = 0;
	double *deepest = calloc(columns, sizeof *deepest), now = 0, before = 0;
	double floor_y = y + p->view.bar + 2 + p->view.curve;
	char title[32];

	if (deepest == NULL)
		return false;
	for (size_t k = 0; k < row->depths && row->depth[k].time <= p->view.to; k++) {
		if (row->depth[k].time >= p->view.from) {
			size_t at = gantt_view_column(&p->view, row->depth[k].time);

			/* Until then it was what it was. */
			for (; last < at; last++) {
				deepest[last] = fmax(deepest[last], now);
				deepest[last + 1] = now;
			}
			deepest[at] = fmax(deepest[at], row->depth[k].value);
		}
		now = row->depth[k].value;
		if (row->depth[k].time < p->view.from)
			deepest[0] = now;
	}
	for (; last + 1 < columns; last++)
		deepest[last + 1] = now;
	fputs("<path class=\"q\" d=\"M", p->out);
	gantt_svg_number(p->out, p->view.left);
	fputs(" ", p->out);
	gantt_svg_number(p->out, floor_y);
	for (size_t i = 0; i < columns; i++) {
		double at = p->view.depth_max > 0 ? deepest[i] / p->view.depth_max : 0;

		at = floor_y - fmin(fmax(at, 0), 1) * p->view.curve;
		if (i > 0 && at == before)
			continue;
		fputs("H", p->out);
		gantt_svg_number(p->out, p->view.left + p->view.column * (double)i);
		fputs("V", p->out);
		gantt_svg_number(p->out, at);
		before = at;
	}
	fputs("H", p->out);
	gantt_svg_number(p->out, p->view.left + p->view.width);
	fputs("V", p->out);
	gantt_svg_number(p->out, floor_y);
	snprintf(title, sizeof title, "%.0f", p->view.depth_max);
	fprintf(p->out, "z\"><title>Colors waiting in the queue of this core, "
	    "up to %s</title></path>\n", title);
	free(deepest);
	return true;
}

static void
label(const struct gantt_picture *p, const struct gantt_row *row, double y, double busy)
{
	char text[64], share[32];

	if (row->name == GANTT_NO_NAME)
		snprintf(text, sizeof text, "thread %lld", (long long)row->tid);
	else
		snprintf(text, sizeof text, "%.60s", p->view.trace->names.text[row->name]);
	fputs("<text class=\"r\" text-anchor=\"end\" style=\"font-size:", p->out);
	gantt_svg_number(p->out, fmin(12, p->view.pitch * 0.85));
	fputs("px\" x=\"", p->out);
	gantt_svg_number(p->out, p->view.left - 10);
	fputs("\" y=\"", p->out);
	gantt_svg_number(p->out, y + fmin(p->view.bar / 2 + 3, 13));
	fputs("\">", p->out);
	gantt_svg_cut(p->out, text, 12);
	fputs("</text>\n", p->out);
	if (p->view.pitch < 50)
		return;
	snprintf(share, sizeof share, "%.0f %% busy", 100 * busy);
	gantt_svg_text(p->out, "s", GANTT_END, p->view.left - 10, y + 26, share);
	if (row->depths == 0)
		return;
	snprintf(share, sizeof share, "queue to %.0f", p->view.depth_max);
	gantt_svg_text(p->out, "s", GANTT_END, p->view.left - 10,
	    y + p->view.bar + p->view.curve, share);
}

bool
gantt_draw_row(const struct gantt_picture *p, size_t place)
{
	const struct gantt_row *row = &p->view.trace->row[p->view.row[place]];
	struct columns columns = {.count = gantt_view_columns(&p->view)};
	double y = gantt_view_y(&p->view, place), busy = 0;
	bool ok;

	columns.time = calloc(columns.count * GANTT_CLASSES, sizeof *columns.time);
	if (columns.time == NULL)
		return false;
	fputs("<g>\n", p->out);
	gantt_svg_rect(p->out, "idle", p->view.left, y, p->view.width, p->view.bar);
	fputs("</rect>\n", p->out);
	/* Wide ones are drawn on the way, so the merged are over them: they are in the gaps. */
	for (size_t k = 0; k < row->slices; k++) {
		const struct gantt_slice *slice = &row->slice[k];
		int64_t from, to;
		double x, width;
		int which;

		if (!gantt_view_clip(&p->view, slice, &from, &to))
			continue;
		which = gantt_rank_class(&p->rank, &p->view, slice);
		if (slice->kind == GANTT_EVENT)
			busy += (double)(to - from);
		x = gantt_view_x(&p->view, from);
		width = gantt_view_x(&p->view, to) - x;
		if (width >= p->view.column)
			wide(p, slice, which, y, x, width);
		else
			narrow(p, &columns, which, from, to);
	}
	ok = draw_columns(p, &columns, y);
	free(columns.time);
	label(p, row, y, fmin(busy / ((double)p->view.to - (double)p->view.from), 1));
	if (ok && row->depths > 0 && p->view.curve >= 5)
		ok = draw_depth(p, row, y);
	fputs("</g>\n", p->out);
	return ok;
}
