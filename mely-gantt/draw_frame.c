/* SPDX-License-Identifier: MIT */
/*
 * draw_frame.c: the head of the picture, the axis and the legend.
 */
#include "draw.h"

#include <math.h>
#include <string.h>

#include "axis.h"
#include "svg.h"

/* Pixels of a character at 12 pixels, on the average and a little more. */
#define CHARACTER 6.6
#define SWATCH 18.0
#define BETWEEN 18.0

enum {
	LEGEND_NAME = 28
};

/*
 * A background of its own makes it readable wherever it is put; it follows what the reader has
 * set, where the viewer tells. Slices keep their paint, with dark letters, on both.
 */
static const char style[] =
    "<style>\n"
    "svg{--bg:#fff;--fg:#1c2128;--dim:#59636e;--grid:#d8dee4;--idle:#f6f8fa;--q:#6e7b8a;\n"
    "--steal:#e3b79a;--poll:#c4d1e0;--sleep:#e6eaef;--muted:#3d4650;--arrow:#9d1c4a}\n"
    "@media(prefers-color-scheme:dark){svg{--bg:#15191e;--fg:#e3e8ee;--dim:#98a3af;\n"
    "--grid:#2f363e;--idle:#1b2026;--q:#8593a3;--steal:#7a5540;--poll:#3d4d60;\n"
    "--sleep:#262d35;--muted:#c3ccd6;--arrow:#ff8fb3}}\n"
    "text{font:12px system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif;"
    "fill:var(--fg)}\n"
    ".bg{fill:var(--bg)}.t{font-size:16px;font-weight:600}.d,.s{fill:var(--dim)}\n"
    ".s{font-size:10.5px}.r{font-weight:600}.w{fill:var(--arrow);font-weight:600}\n"
    ".idle{fill:var(--idle)}.g{stroke:var(--grid);stroke-width:1}\n"
    ".l{font-size:11px;fill:#15191e;pointer-events:none}.m{fill:var(--muted)}\n"
    ".e{stroke:#0003;stroke-width:.6}path.e{stroke:none}\n"
    ".c0{fill:#6ba6de}.c1{fill:#f3a952}.c2{fill:#7fc66d}.c3{fill:#ea8580}.c4{fill:#b497e0}\n"
    ".c5{fill:#f2d14f}.c6{fill:#5fc4bb}.c7{fill:#e59bcb}.c8{fill:#c79d76}.c9{fill:#a3b545}\n"
    ".co{fill:#a9b2bd}.cs{fill:var(--steal)}.cp{fill:var(--poll)}.cz{fill:var(--sleep)}\n"
    ".q{fill:var(--q);fill-opacity:.35;stroke:var(--q);stroke-width:.8}\n"
    ".a path{stroke:var(--arrow);fill:none;stroke-width:1.2}\n"
    ".a .h{fill:var(--arrow);stroke:none}.a{opacity:.85}\n"
    ".n{font-size:9.5px;font-weight:600;fill:var(--arrow);paint-order:stroke;"
    "stroke:var(--bg);stroke-width:2.5px}\n"
    "</style>\n";

static const char *
program(const struct gantt_picture *p, const char *name)
{
	if (p->view.options->title != NULL)
		return p->view.options->title;
	if (p->view.trace->process != GANTT_NO_NAME
	    && p->view.trace->names.text[p->view.trace->process][0] != '\0')
		return p->view.trace->names.text[p->view.trace->process];
	return name;
}

/* What the picture shows, in words. */
static void
summary(const struct gantt_picture *p, char *text, size_t size)
{
	char span[32], events[32], steals[32];
	uint64_t ran = 0;

	for (int i = 0; i <= GANTT_OTHER; i++)
		ran += p->rank.count[i];
	gantt_time_text(p->view.to - p->view.from, span, sizeof span);
	snprintf(text, size, "%zu core%s, %s, %s event%s, %s steal%s", p->view.rows,
	    p->view.rows == 1 ? "" : "s", span, gantt_commas(ran, events, sizeof events),
	    ran == 1 ? "" : "s",
	    gantt_commas(p->rank.count[GANTT_CLASS_STEAL], steals, sizeof steals),
	    p->rank.count[GANTT_CLASS_STEAL] == 1 ? "" : "s");
	if (p->view.trace->sample > 1)
		snprintf(text + strlen(text), size - strlen(text),
		    "; one batch in %u was traced", p->view.trace->sample);
}

void
gantt_draw_head(const struct gantt_picture *p, const char *name, double height)
{
	int width = p->view.options->width;
	char text[256], number[32], lost[96];

	summary(p, text, sizeof text);
	fprintf(p->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
	    "viewBox=\"0 0 %d %.0f\" role=\"img\" aria-labelledby=\"title desc\">\n",
	    width, height, width, height);
	fputs("<title id=\"title\">", p->out);
	gantt_svg_cut(p->out, program(p, name), 200);
	fprintf(p->out, "</title>\n<desc id=\"desc\">What each core ran over time: %s.</desc>\n%s",
	    text, style);
	gantt_svg_rect(p->out, "bg", 0, 0, width, height);
	fputs("</rect>\n<text class=\"t\" x=\"16\" y=\"26\">", p->out);
	gantt_svg_cut(p->out, program(p, name), (size_t)(width / 10));
	fputs("</text>\n", p->out);
	gantt_svg_text(p->out, "d", GANTT_START, 16, 46, text);
	if (p->view.trace->lost > 0) {
		snprintf(lost, sizeof lost, "%s records lost",
		    gantt_commas(p->view.trace->lost, number, sizeof number));
		gantt_svg_text(p->out, "w", GANTT_END, width - 18, 46, lost);
	}
}

void
gantt_draw_axis(const struct gantt_picture *p)
{
	const struct gantt_view *view = &p->view;
	int64_t step = gantt_axis_step(view->to - view->from, (int)(view->width / 80));
	int64_t zero = view->trace->zero, at = view->from - zero;
	double bottom = view->top + view->pitch * (double)view->rows;
	char text[64];

	at = at >= 0 ? (at + step - 1) / step * step : at / step * step;
	fputs("<g>\n", p->out);
	for (; at <= view->to - zero; at += step) {
		double x = gantt_view_x(view, zero + at);

		fputs("<path class=\"g\" d=\"M", p->out);
		gantt_svg_number(p->out, x);
		fputs(" ", p->out);
		gantt_svg_number(p->out, view->top - 6);
		fputs("V", p->out);
		gantt_svg_number(p->out, bottom + 2);
		fputs("\"/>\n", p->out);
		gantt_axis_label(at, step, view->to - zero, text, sizeof text);
		/* The last label would stick out. */
		gantt_svg_text(p->out, "s",
		    x > view->left + view->width - 16 ? GANTT_END : GANTT_MIDDLE,
		    fmin(x, view->left + view->width + 12), bottom + 16, text);
		if (at > INT64_MAX - step)
			break;
	}
	fputs("</g>\n", p->out);
}

/* "render 41 %": of the time that the cores had. */
static size_t
legend_text(const struct gantt_picture *p, int which, char *share, size_t size)
{
	double all = ((double)p->view.to - (double)p->view.from) * (double)p->view.rows;
	double part = 100 * p->rank.time[which] / all;
	const char *name = gantt_rank_name(&p->rank, &p->view, which);
	size_t characters = 0;

	snprintf(share, size, part >= 0.95 ? " %.0f %%" : part >= 0.05 ? " %.1f %%" : " < 0.1 %%",
	    part);
	for (const char *c = name; *c != '\0'; c++)
		characters += ((unsigned char)*c & 0xc0) != 0x80;
	return (characters < LEGEND_NAME ? characters : LEGEND_NAME) + strlen(share);
}

static void
legend_item(const struct gantt_picture *p, int which, const char *share, double x, double y)
{
	const char *name = gantt_rank_name(&p->rank, &p->view, which);
	double mean = p->rank.time[which] / (double)p->rank.count[which];
	char total[32], each[32], count[32];

	gantt_time_text((int64_t)p->rank.time[which], total, sizeof total);
	gantt_time_text((int64_t)mean, each, sizeof each);
	fputs("<g>", p->out);
	gantt_svg_rect(p->out, p->css[which], x, y - 10, 12, 12);
	fputs("</rect><text x=\"", p->out);
	gantt_svg_number(p->out, x + SWATCH);
	fputs("\" y=\"", p->out);
	gantt_svg_number(p->out, y);
	fputs("\">", p->out);
	gantt_svg_cut(p->out, name, LEGEND_NAME);
	fputs("<tspan class=\"d\">", p->out);
	gantt_svg_escaped(p->out, share);
	fputs("</tspan></text><title>", p->out);
	gantt_svg_cut(p->out, name, 200);
	if (which == GANTT_OTHER && p->rank.others > 0)
		fprintf(p->out, " (%u)", p->rank.others);
	fprintf(p->out, "\n%s, %s together, %s each</title></g>\n",
	    gantt_commas(p->rank.count[which], count, sizeof count), total, each);
}

/* Draws where out is not NULL; returns the lines. */
static int
legend(const struct gantt_picture *p, double y, bool draw)
{
	double x = 16, limit = p->view.options->width - 16;
	int lines = 1;

	for (int which = 0; which < GANTT_CLASSES; which++) {
		double width;
		char share[32];

		if (p->rank.count[which] == 0)
			continue;
		width = SWATCH + CHARACTER * (double)legend_text(p, which, share, sizeof share);
		if (x > 16 && x + width > limit) {
			x = 16;
			lines++;
		}
		if (draw)
			legend_item(p, which, share, x,
			    y + GANTT_LEGEND_LINE * (double)(lines - 1));
		x += width + BETWEEN;
	}
	return lines;
}

int
gantt_draw_legend_lines(const struct gantt_picture *p)
{
	return legend(p, 0, false);
}

void
gantt_draw_legend(const struct gantt_picture *p, double y)
{
	legend(p, y, true);
}
