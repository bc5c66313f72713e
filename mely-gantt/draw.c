/* SPDX-License-Identifier: MIT */
/*
 * draw.c: see draw.h.
 */
#include "draw.h"

#include <math.h>

#include "svg.h"

static const char *const css[GANTT_CLASSES] = {
	"e c0", "e c1", "e c2", "e c3", "e c4", "e c5", "e c6", "e c7", "e c8", "e c9",
	"e co", "cs", "cp", "cz"
};

static bool
draw(struct gantt_picture *p, const char *name)
{
	double rows = p->view.rows > 0 ? (double)p->view.rows : 1;
	double legend = GANTT_LEGEND_LINE * gantt_draw_legend_lines(p) + 14, bottom;

	gantt_view_fit(&p->view, GANTT_AXIS_HEIGHT + legend);
	bottom = p->view.top + p->view.pitch * rows + GANTT_AXIS_HEIGHT;
	gantt_draw_head(p, name, ceil(bottom + legend));
	if (p->view.rows == 0) {
		gantt_svg_text(p->out, "d", GANTT_START, 16, p->view.top + 20,
		    "No slices of these cores at these times.");
	} else {
		gantt_draw_axis(p);
		for (size_t i = 0; i < p->view.rows; i++) {
			if (!gantt_draw_row(p, i))
				return false;
		}
		if (!gantt_draw_steals(p))
			return false;
		gantt_draw_legend(p, bottom + GANTT_LEGEND_LINE);
	}
	fputs("</svg>\n", p->out);
	return true;
}

bool
gantt_draw(FILE *out, const struct gantt_trace *trace, const struct gantt_options *options,
    const char *name)
{
	struct gantt_picture picture = {.out = out, .css = css};
	bool ok;

	if (!gantt_view_init(&picture.view, trace, options))
		return false;
	ok = gantt_rank_init(&picture.rank, &picture.view);
	if (ok)
		ok = draw(&picture, name);
	gantt_rank_free(&picture.rank);
	gantt_view_free(&picture.view);
	return ok;
}
