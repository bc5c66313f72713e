/* SPDX-License-Identifier: MIT */
/*
 * draw_steal.c: steals as arrows from victim to thief.
 *
 * NOTE(bundles)
 * Arrows that lie on each other hide the rows and tell nothing. So the axis is cut into slots, at
 * first of a few pixels, then of twice as many until there are few enough, and the steals in one
 * slot from one core to one other are one arrow with their number beside it. One that stands for
 * itself alone begins and ends at its true times; the bundles of a slot stand side by side in it.
 */
#include "draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "svg.h"

enum {
	/* Pixels that one arrow speaks for, at first. */
	APART = 5,
	/* Arrows for each hundred pixels of the plot. */
	ARROWS_PER_100 = 9,
	NUMBER_WIDTH = 24
};

/* The steals in a slot from one row to one other. */
struct bundle {
	size_t victim; /* places */
	size_t thief;
	size_t slot;   /* which piece of the axis */
	int64_t from;  /* of the first of them */
	int64_t to;
	uint64_t count;
};

static int
by_place(const void *a, const void *b)
{
	const struct bundle *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->victim != y->victim)
		return x->victim < y->victim ? -1 : 1;
	if (x->thief != y->thief)
		return x->thief < y->thief ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int
by_count(const void *a, const void *b)
{
	const struct bundle *x = a, *y = b;

	return x->count > y->count ? -1 : x->count < y->count ? 1 : by_place(a, b);
}

/* Bring together what is in slots of that many pixels; returns how many are left. */
static size_t
bundle(const struct gantt_view *view, struct bundle *all, size_t count, double apart)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++)
		all[i].slot = (size_t)((gantt_view_x(view, all[i].to) - view->left) / apart);
	qsort(all, count, sizeof *all, by_place);
	for (size_t i = 0; i < count; i++) {
		struct bundle *last = left > 0 ? &all[left - 1] : NULL;

		if (last != NULL && last->slot == all[i].slot && last->victim == all[i].victim
		    && last->thief == all[i].thief)
			last->count += all[i].count;
		else
			all[left++] = all[i];
	}
	return left;
}

static void
tooltip(const struct gantt_picture *p, const struct bundle *b)
{
	const struct gantt_view *view = &p->view;
	const struct gantt_trace *trace = view->trace;
	char at[32], count[32];

	gantt_time_exact(b->to - trace->zero, at, sizeof at);
	fprintf(p->out, "<title>%s steal%s by core %lld from core %lld, %s %s</title>",
	    gantt_commas(b->count, count, sizeof count), b->count == 1 ? "" : "s",
	    (long long)trace->row[view->row[b->thief]].core,
	    (long long)trace->row[view->row[b->victim]].core,
	    b->count == 1 ? "at" : "the first at", at);
}

static void
arrow(const struct gantt_picture *p, const struct bundle *b, double x1, double x2, bool number)
{
	const struct gantt_view *view = &p->view;
	bool down = b->victim < b->thief;
	double y1 = gantt_view_y(view, b->victim) + (down ? view->bar : 0);
	double y2 = gantt_view_y(view, b->thief) + (down ? 0 : view->bar);
	double inside = fmin(view->bar / 3, 7);
	char count[32];

	y1 += down ? -inside : inside;
	y2 += down ? inside : -inside;
	fputs("<g class=\"a\"><path d=\"M", p->out);
	gantt_svg_number(p->out, x1);
	fputs(" ", p->out);
	gantt_svg_number(p->out, y1);
	fputs("L", p->out);
	gantt_svg_number(p->out, x2);
	fputs(" ", p->out);
	gantt_svg_number(p->out, y2 + (down ? -4.5 : 4.5));
	fputs("\"/><path class=\"h\" d=\"M", p->out);
	gantt_svg_number(p->out, x2);
	fputs(" ", p->out);
	gantt_svg_number(p->out, y2);
	fprintf(p->out, "l-3 %sh6z\"/><circle class=\"h\" r=\"1.8\" cx=\"", down ? "-6" : "6");
	gantt_svg_number(p->out, x1);
	fputs("\" cy=\"", p->out);
	gantt_svg_number(p->out, y1);
	fputs("\"/>", p->out);
	tooltip(p, b);
	if (number)
		gantt_svg_text(p->out, "n", GANTT_START, x2 + 3, y2 + (down ? -8 : 14),
		    gantt_commas(b->count, count, sizeof count));
	fputs("</g>\n", p->out);
}

/* Where an arrow is drawn: a bundle at its share of the slot, others at their time. */
static double
place(const struct gantt_view *view, const struct bundle *b, double apart, double share)
{
	double x = apart * (double)b->slot;

	if (b->count == 1)
		return gantt_view_x(view, b->to);
	return view->left + fmin(x + fmin(apart, view->width - x) * share, view->width);
}

/* All of them, slot by slot. Written: where the last number in a row ends. */
static void
arrows(const struct gantt_picture *p, const struct bundle *all, size_t count, double apart,
    double *written)
{
	const struct gantt_view *view = &p->view;

	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && all[to].slot == all[from].slot; to++)
			;
		for (size_t i = from; i < to; i++) {
			double x = place(view, &all[i], apart,
			    ((double)(i - from) + 0.5) / (double)(to - from));
			bool number = all[i].count > 1 && x >= written[all[i].thief];

			/* Numbers do not lie on each other; the tooltip has them all. */
			if (number)
				written[all[i].thief] = x + NUMBER_WIDTH;
			arrow(p, &all[i], all[i].count == 1
			    ? gantt_view_x(view, all[i].from) : x, x, number);
		}
	}
}

static size_t
visible(const struct gantt_view *view, struct bundle *all)
{
	const struct gantt_trace *trace = view->trace;
	size_t count = 0;

	for (size_t i = 0; i < trace->steals; i++) {
		const struct gantt_steal *steal = &trace->steal[i];

		if (steal->to < view->from || steal->to > view->to
		    || view->place[steal->victim] < 0 || view->place[steal->thief] < 0
		    || steal->victim == steal->thief)
			continue;
		all[count++] = (struct bundle){
			.victim = (size_t)view->place[steal->victim],
			.thief = (size_t)view->place[steal->thief],
			.from = steal->from, .to = steal->to, .count = 1
		};
	}
	return count;
}

/* That some have no arrow is said, above the rows. */
static void
note(const struct gantt_picture *p, uint64_t shown, uint64_t all)
{
	char some[32], whole[32], text[96];

	snprintf(text, sizeof text, "arrows show %s of %s steals",
	    gantt_commas(shown, some, sizeof some), gantt_commas(all, whole, sizeof whole));
	gantt_svg_text(p->out, "d", GANTT_END, p->view.options->width - 18, 26, text);
}

bool
gantt_draw_steals(const struct gantt_picture *p)
{
	const struct gantt_view *view = &p->view;
	size_t count, most = (size_t)(view->width / 100 * ARROWS_PER_100);
	uint64_t all_steals, shown = 0;
	double apart = APART;
	struct bundle *all;
	double *written;

	if (!view->options->arrows || view->trace->steals == 0)
		return true;
	all = malloc(view->trace->steals * sizeof *all);
	written = calloc(view->rows + 1, sizeof *written);
	if (all == NULL || written == NULL) {
		free(all);
		free(written);
		return false;
	}
	all_steals = count = visible(view, all);
	count = bundle(view, all, count, apart);
	while (count > most && apart < view->width) {
		apart *= 2;
		count = bundle(view, all, count, apart);
	}
	/* More pairs of cores than arrows: those with most steals. */
	if (count > most) {
		qsort(all, count, sizeof *all, by_count);
		count = most;
		for (size_t i = 0; i < count; i++)
			shown += all[i].count;
		note(p, shown, all_steals);
		qsort(all, count, sizeof *all, by_place);
	}
	arrows(p, all, count, apart, written);
	free(all);
	free(written);
	return true;
}
