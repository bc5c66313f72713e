/* SPDX-License-Identifier: MIT */
/*
 * svg.c: the latencies against their percentiles. Each nine of the percentile takes the same width,
 * and latencies are on a logarithmic scale.
 */
#include <math.h>
#include <string.h>

#include "load/report.h"

#define WIDTH 860.0
#define HEIGHT 480.0
#define LEFT 90.0
#define RIGHT 30.0
#define TOP 64.0
#define BOTTOM 60.0
/* To 99.999 %, if there are values enough. */
#define NINES_MAX 5.0
#define POINTS 400

struct plot {
	double nines;    /* at the right end */
	double low, high;/* logarithms of ns, at the bottom and at the top */
};

static double
x_of(const struct plot *p, double nines)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * nines / p->nines;
}

static double
y_of(const struct plot *p, double ns)
{
	return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (log10(ns) - p->low)
	    / (p->high - p->low);
}

static void
escape(const char *s, FILE *out)
{
	for (; *s != '\0'; s++) {
		switch (*s) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		default:
			/* Other bytes need not be UTF-8. */
			fputc(*s < ' ' || *s > '~' ? '?' : *s, out);
		}
	}
}

static void
time_label(double ns, FILE *out)
{
	if (ns < 999)
		fprintf(out, "%g ns", ns);
	else if (ns < 999e3)
		fprintf(out, "%g µs", round(ns) / 1e3);
	else if (ns < 999e6)
		fprintf(out, "%g ms", round(ns / 1e3) / 1e3);
	else
		fprintf(out, "%g s", round(ns / 1e6) / 1e3);
}

static void
draw_axis_x(const struct plot *p, FILE *out)
{
	static const double ticks[] = {0, 50, 90, 99, 99.9, 99.99, 99.999};

	for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
		double nines = -log10(1 - ticks[i] / 100);
		double x = x_of(p, nines);

		if (nines > p->nines + 1e-9)
			break;
		fprintf(out, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
		    "y2=\"%.1f\"/>\n<text x=\"%.1f\" y=\"%.1f\" "
		    "text-anchor=\"middle\">%g</text>\n", x, TOP, x, HEIGHT - BOTTOM, x,
		    HEIGHT - BOTTOM + 20, ticks[i]);
	}
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">percent of requests that "
	    "took no longer</text>\n", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14);
}

static void
draw_axis_y(const struct plot *p, FILE *out)
{
	static const double steps[] = {1, 2, 5};
	/* Over several decades, their ends are enough. */
	int each = p->high - p->low > 2.5 ? 1 : 3;

	for (int decade = (int)floor(p->low); decade <= (int)p->high; decade++)
		for (int i = 0; i < each; i++) {
			double ns = steps[i] * pow(10, decade), y;

			if (log10(ns) < p->low - 1e-9 || log10(ns) > p->high + 1e-9)
				continue;
			y = y_of(p, ns);
			fprintf(out, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
			    "y2=\"%.1f\"/>\n<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">",
			    LEFT, y, WIDTH - RIGHT, y, LEFT - 8, y + 4);
			time_label(ns, out);
			fputs("</text>\n", out);
		}
}

static void
draw_curve(const struct plot *p, const struct load_hist *h, FILE *out)
{
	fputs("<polyline class=\"curve\" points=\"", out);
	for (int i = 0; i <= POINTS; i++) {
		double nines = p->nines * i / POINTS;
		double ns = (double)load_hist_percentile(h, 100 * (1 - pow(10, -nines)));

		fprintf(out, "%.1f,%.1f ", x_of(p, nines), y_of(p, ns > 1 ? ns : 1));
	}
	fputs("\"/>\n", out);
}

static void
draw_title(const struct load_result *r, const struct load_options *o, FILE *out)
{
	double s = (double)r->duration_ns / 1e9;

	fprintf(out, "<text class=\"title\" x=\"%.1f\" y=\"26\">Latency of ", LEFT);
	escape(o->url_text, out);
	fprintf(out, "</text>\n<text x=\"%.1f\" y=\"46\">%u clients, ", LEFT, o->clients);
	if (o->rate > 0)
		fprintf(out, "open loop at %.0f requests/s: ", o->rate);
	else
		fputs("closed loop: ", out);
	fprintf(out, "%.0f responses/s, maximum ", s > 0
	    ? (double)r->counters[LOAD_responses] / s : 0);
	time_label((double)r->latency->max, out);
	fprintf(out, ", %llu errors</text>\n", (unsigned long long)load_result_errors(r));
}

void
load_report_svg(const struct load_result *r, const struct load_options *o, FILE *out)
{
	const struct load_hist *h = r->latency;
	double min = h->count > 0 && h->min > 0 ? (double)h->min : 1;
	double max = h->count > 0 ? (double)h->max : 1;
	/* Beyond the last request there is nothing to show. */
	double nines = h->count > 10 ? log10((double)h->count) : 1;
	struct plot p = {
		.nines = nines < NINES_MAX ? nines : NINES_MAX,
		.low = floor(log10(min) * 3) / 3, .high = ceil(log10(max) * 3) / 3
	};

	if (p.high <= p.low)
		p.high = p.low + 1;
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
	    "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n"
	    "<style>text{font:13px sans-serif;fill:#333}.title{font-size:17px;font-weight:bold}"
	    ".grid{stroke:#ddd}.curve{fill:none;stroke:#0b62a8;stroke-width:2}</style>\n"
	    "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", WIDTH, HEIGHT, WIDTH,
	    HEIGHT);
	draw_title(r, o, out);
	draw_axis_x(&p, out);
	draw_axis_y(&p, out);
	if (h->count > 0)
		draw_curve(&p, h, out);
	fputs("</svg>\n", out);
}
