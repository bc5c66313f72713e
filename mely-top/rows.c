/* SPDX-License-Identifier: MIT */
/*
 * rows.c: format lines.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rows.h"

/* ---- numbers --------------------------------------------------------------------------------- */

/* Three digits and a unit: each of steps units is 1000 of the one before. */
static void
three_digits(char *buf, size_t size, double value, const char *const *units, int steps)
{
	int unit = 0;

	for (; value >= 999.5 && unit < steps - 1; unit++)
		value /= 1000;
	snprintf(buf, size, "%.*f%s", value >= 99.95 || (unit == 0 && value == (int)value) ? 0 :
	    value >= 9.995 ? 1 : 2, value, units[unit]);
}

void
row_time(char *buf, size_t size, uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s", "ks"};

	three_digits(buf, size, (double)ns, units, 5);
}

void
row_rate(char *buf, size_t size, double rate)
{
	static const char *const units[] = {"", "k", "M", "G", "T"};

	/* An interval is never exactly a second: round to a whole number. */
	if (rate > 0.995 && rate < 9.995 && rate - (int)(rate + 0.5) < 0.005 &&
	    rate - (int)(rate + 0.5) > -0.005)
		rate = (int)(rate + 0.5);
	three_digits(buf, size, rate, units, 5);
}

void
row_span(char *buf, size_t size, uint64_t seconds)
{
	unsigned long long days = seconds / 86400, hours = seconds / 3600 % 24;
	unsigned minutes = (unsigned)(seconds / 60 % 60), rest = (unsigned)(seconds % 60);

	if (days > 0)
		snprintf(buf, size, "%llud %llu:%02u:%02u", days, hours, minutes, rest);
	else if (hours > 0)
		snprintf(buf, size, "%llu:%02u:%02u", hours, minutes, rest);
	else
		snprintf(buf, size, "%u:%02u", minutes, rest);
}

/* ---- lines ----------------------------------------------------------------------------------- */

struct row {
	char *buf;
	int width, length;
};

static struct row
begin(char *buf, int width)
{
	buf[0] = '\0';
	return (struct row){buf, width < ROW_MOST - 1 ? width : ROW_MOST - 1, 0};
}

static void add(struct row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void
add(struct row *row, const char *format, ...)
{
	va_list args;
	int n;

	if (row->length >= row->width)
		return;
	va_start(args, format);
	n = vsnprintf(row->buf + row->length, (size_t)(row->width - row->length) + 1, format, args);
	va_end(args);
	if (n > 0)
		row->length += n < row->width - row->length ? n : row->width - row->length;
}

/* A name in that number of columns, on the left. Characters that are not printable ASCII become
 * '?', because their width depends on the terminal. */
static void
add_name(struct row *row, const char *name, int width)
{
	int i;

	for (i = 0; i < width && *name != '\0'; i++, name++)
		add(row, "%c", *name >= ' ' && *name < 0x7f ? *name : '?');
	if (*name != '\0' && width > 1 && row->length > 0)
		row->buf[row->length - 1] = '~';
	for (; i < width; i++)
		add(row, " ");
}

static const char *
name_of(const struct sample *sample, uint64_t at)
{
	return mely_stats_name(sample->now, at);
}

void
row_title(char *buf, int width, const struct sample *sample)
{
	const struct mely_stats *now = sample->now;
	struct row row = begin(buf, width);
	char up[32], rate[16];

	row_span(up, sizeof up, (now->taken_ns - now->made_ns) / 1000000000);
	row_rate(rate, sizeof rate, sample->total.events);
	add_name(&row, name_of(sample, now->program_at),
	    (int)strnlen(name_of(sample, now->program_at), 20));
	add(&row, "  process %u  up %s  %u core%s  %s events/s  stealing %s", now->pid, up,
	    now->cores_count, now->cores_count == 1 ? "" : "s", rate,
	    now->stealing ? "on" : "off");
}

void
row_totals(char *buf, int width, const struct sample *sample)
{
	const struct total_rates *t = &sample->total;
	struct row row = begin(buf, width);
	char posts[16];

	row_rate(posts, sizeof posts, t->posts_remote);
	add(&row, "busy %.0f %%  stealing %.0f %%  polling %.0f %%  asleep %.0f %%", t->busy * 100,
	    t->steal * 100, t->poll * 100, t->sleep * 100);
	if (sample->before != NULL)
		add(&row, "  in %.2f s", sample->seconds);
	else
		add(&row, "  since the start");
	add(&row, "  remote posts/s %s", posts);
}

void
row_steals(char *buf, int width, const struct sample *sample)
{
	const struct total_rates *t = &sample->total;
	struct row row = begin(buf, width);
	char a[16], b[16];
	int d;

	row_rate(a, sizeof a, t->steals);
	row_rate(b, sizeof b, t->steals_tried);
	add(&row, "steals/s %s of %s", a, b);
	for (d = 0; d < MELY_DISTANCES; d++) {
		/* A machine does not have all distances. */
		if (t->steals_tried_at[d] == 0 && t->steals_at[d] == 0)
			continue;
		row_rate(a, sizeof a, t->steals_at[d]);
		add(&row, "  %s %s", mely_distance_name(d), a);
	}
	row_rate(a, sizeof a, t->wakeups_sent);
	row_rate(b, sizeof b, t->sleeps);
	add(&row, "   wake-ups/s %s  sleeps/s %s", a, b);
}

#define LONG_NS UINT64_C(10000000) /* show the length of a longer batch */

/* ---- cores ----------------------------------------------------------------------------------- */

static void
bar_of(char *bar, int width, const struct core_rates *r)
{
	const double parts[] = {r->busy, r->steal, r->poll, r->sleep};
	static const char marks[] = {BAR_BUSY, BAR_STEAL, BAR_POLL, BAR_SLEEP};
	double sum = 0;
	int at = 0, i;

	for (i = 0; i < 4; i++) {
		int to;

		sum += parts[i];
		to = (int)((sum < 1 ? sum : 1) * width + 0.5);
		/* Each kind but sleep has at least one character, if it occurred. */

		if (parts[i] > 0.001 && i < 3 && to == at)
			to++;
		for (; at < to && at < width; at++)
			bar[at] = marks[i];
	}
	for (; at < width; at++)
		bar[at] = BAR_AWAY;
}

/* The handler that the core is in, and its time if that is long. */
static void
add_running(struct row *row, const struct sample *sample, const struct mely_stats_core *core)
{
	const struct mely_stats_handler *handler =
	    mely_stats_handler_numbered(sample->now, core->handler);
	char text[16];

	if (core->color_kind == MELY_STATS_NO_COLOR || handler == NULL)
		return;
	add(row, " ");
	add_name(row, name_of(sample, handler->name_at), 16);
	row_time(text, sizeof text, core->running_ns);
	if (core->running_ns >= LONG_NS)
		add(row, "%7s", text);
}

void
row_core(char *buf, int width, const struct sample *sample, uint32_t core, int *bar, int *bar_width)
{
	const struct mely_stats_core *now = mely_stats_core_row(sample->now, core);
	const struct core_rates *r = &sample->cores[core];
	struct row row = begin(buf, width);
	int extra = width >= 74 ? 47 : width >= 50 ? 23 : width >= 32 ? 9 : 0;
	char text[ROW_MOST], rate[16];
	int bars = width - 11 - extra;

	if (bars < 3)
		bars = 3;
	bar_of(text, bars, r);
	add(&row, "%3u [", now->index);
	*bar = row.length;
	*bar_width = bars;
	add(&row, "%.*s]%4.0f%%", bars, text, r->busy * 100);
	row_rate(rate, sizeof rate, r->events);
	if (extra >= 9)
		add(&row, " %6s/s", rate);
	if (extra >= 23)
		add(&row, " %5u waiting", now->colors_waiting);
	if (extra >= 47)
		add_running(&row, sample, now);
}

/* ---- handlers -------------------------------------------------------------------------------- */

enum { HANDLER_NUMBERS = 62 };

static int
name_width(int width, int numbers)
{
	int name = width - numbers;

	return name < 8 ? 8 : name > 60 ? 60 : name;
}

void
row_handlers_head(char *buf, int width, const char *where)
{
	struct row row = begin(buf, width);
	char title[64];

	snprintf(title, sizeof title, "HANDLER %s", where);
	add_name(&row, title, name_width(width, HANDLER_NUMBERS));
	add(&row, "%9s%7s%7s%7s%8s%7s%9s%5s%3s", "EVENTS/S", "AVG", "P50", "P99", "DELAY99",
	    "CORE%", "TIME", "PEN", "ST");
}

/* The source of a number. */
static char
from(uint32_t source)
{
	return source == MELY_STATS_ANNOTATED ? 'A' : source == MELY_STATS_MEASURED ? 'M' : ' ';
}

void
row_handler(char *buf, int width, const struct sample *sample, const struct handler_rates *r)
{
	const struct mely_stats_handler *h = r->row;
	struct row row = begin(buf, width);
	char text[16];

	add_name(&row, name_of(sample, h->name_at), name_width(width, HANDLER_NUMBERS));
	row_rate(text, sizeof text, r->events);
	add(&row, "%9s", text);
	row_time(text, sizeof text, r->average_ns);
	add(&row, "%7s", r->samples > 0 ? text : "-");
	row_time(text, sizeof text, r->p50_ns);
	add(&row, "%7s", r->samples > 0 ? text : "-");
	row_time(text, sizeof text, r->p99_ns);
	add(&row, "%7s", r->samples > 0 ? text : "-");
	row_time(text, sizeof text, r->delay_p99_ns);
	add(&row, "%8s", r->delays > 0 ? text : "-");
	if (r->samples > 0 || r->share > 0)
		add(&row, "%6.1f%%", r->share * 100);
	else
		add(&row, "%7s", "-");
	row_time(text, sizeof text, h->time_ns);
	add(&row, "%8s%c", h->time_ns > 0 ? text : "-", from(h->time_from));
	add(&row, "%4u%c", h->penalty, from(h->penalty_from));
	row_rate(text, sizeof text, (double)h->stalls);
	add(&row, "%3s", h->stalls > 0 ? text : "-");
}

/* ---- colors ---------------------------------------------------------------------------------- */

enum { COLOR_NUMBERS = 48 };

void
row_colors_head(char *buf, int width, const char *where)
{
	struct row row = begin(buf, width);
	char title[64];

	snprintf(title, sizeof title, "COLOR %s", where);
	add_name(&row, title, name_width(width, COLOR_NUMBERS));
	add(&row, "%5s%9s%9s     %s", "CORE", "EVENTS", "OLDEST", "FIRST HANDLER");
}

void
row_color(char *buf, int width, const struct sample *sample, const struct mely_stats_color *color)
{
	const struct mely_stats_handler *first =
	    mely_stats_handler_numbered(sample->now, color->handler);
	struct row row = begin(buf, width);
	char name[256], text[16];

	if (color->kind == MELY_STATS_COLOR_OBJECT && color->name_at != 0)
		snprintf(name, sizeof name, "%s", name_of(sample, color->name_at));
	else if (color->kind == MELY_STATS_COLOR_OBJECT)
		snprintf(name, sizeof name, "object %llx", (unsigned long long)color->object);
	else
		snprintf(name, sizeof name, "%u %s", color->id, name_of(sample, color->name_at));
	add_name(&row, name, name_width(width, COLOR_NUMBERS));
	add(&row, "%5u", color->owner);
	row_rate(text, sizeof text, (double)color->length);
	if (color->length == 0 && color->flags & MELY_STATS_LENGTH_AT_LEAST)
		add(&row, "%8s ", "-");
	else
		add(&row, "%8s%c", text, color->flags & MELY_STATS_LENGTH_AT_LEAST ? '+' : ' ');
	row_time(text, sizeof text, color->oldest_ns);
	add(&row, "%8s%c ", color->length > 0 ? text : "-",
	    color->length > 0 && color->flags & MELY_STATS_AGE_AT_LEAST ? '+' : ' ');
	add(&row, "%c%c ", color->flags & MELY_STATS_COLOR_RUNNING ? 'R' : ' ',
	    color->flags & MELY_STATS_COLOR_PINNED ? 'P' : ' ');
	if (first != NULL)
		add_name(&row, name_of(sample, first->name_at), width - row.length);
}
