/* SPDX-License-Identifier: MIT */
/*
 * prometheus.c: a snapshot in the text exposition format of Prometheus, 0.0.4. Each family appears
 * once, HELP and TYPE first. Times are in seconds. Handlers have their number as a label, since two
 * may share a name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <mely/stats.h>

#include "base/text.h"

/* Bounds of the buckets shown, as powers of two of a nanosecond: every other octave, to keep them
 * few. Each is a bound of the snapshot's buckets, too. */
enum { BOUND_FIRST = 6, BOUND_LAST = 34, BOUND_STEP = 2 };

static void
family(struct melyint_text *t, const char *name, const char *type, const char *help)
{
	melyint_text_add(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* A label's value: escape backslashes, quotes and newlines; bytes outside UTF-8 become '?'. */
static void
value(struct melyint_text *t, const char *text)
{
	unsigned length;

	for (; *text != '\0'; text += length != 0 ? length : 1) {
		length = melyint_text_utf8(text);
		if (*text == '\\' || *text == '"')
			melyint_text_add(t, "\\%c", *text);
		else if (*text == '\n')
			melyint_text_add(t, "\\n");
		else if (length == 0)
			melyint_text_add(t, "?");
		else
			melyint_text_add(t, "%.*s", (int)length, text);
	}
}

static void
seconds(struct melyint_text *t, uint64_t ns)
{
	melyint_text_add(t, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

/* ---- cores --------------------------------------------------------------------------------- */

#define OF_CORE(field) offsetof(struct mely_stats_core, field)

static const uint64_t *
figures_at(const struct mely_stats_core *core, size_t at)
{
	return (const uint64_t *)(const void *)((const char *)core + at);
}

static void
core_times(struct melyint_text *t, const struct mely_stats *stats)
{
	static const struct {
		const char *state;
		size_t at;
	} states[] = {{"busy", OF_CORE(busy_ns)}, {"steal", OF_CORE(steal_ns)},
	    {"poll", OF_CORE(poll_ns)}, {"sleep", OF_CORE(sleep_ns)}};
	uint32_t i;
	size_t k;

	family(t, "mely_core_seconds_total", "counter", "Time of cores by what they did.");
	for (i = 0; i < stats->cores_count; i++) {
		const struct mely_stats_core *c = mely_stats_core_row(stats, i);

		for (k = 0; k < sizeof states / sizeof states[0]; k++) {
			melyint_text_add(t, "mely_core_seconds_total{core=\"%u\",state=\"%s\"} ",
			    c->index, states[k].state);
			seconds(t, figures_at(c, states[k].at)[0]);
			melyint_text_add(t, "\n");
		}
	}
}

/* One row of mely/counters.def, for all cores. at: of the counter in struct mely_stats_core. */
static void
counter(struct melyint_text *t, const struct mely_stats *stats, const char *name, const char *unit,
    const char *help, size_t at, bool by_distance)
{
	bool is_time = strcmp(unit, "ns") == 0;
	size_t length = strlen(name);
	char of_family[64];
	uint32_t i;
	int d;

	/* Times are in seconds: stolen_ns is mely_core_stolen_seconds_total. */
	if (is_time && length > 3 && strcmp(name + length - 3, "_ns") == 0)
		length -= 3;
	snprintf(of_family, sizeof of_family, "mely_core_%.*s%s_total", (int)length, name,
	    is_time ? "_seconds" : "");
	family(t, of_family, "counter", help);
	for (i = 0; i < stats->cores_count; i++) {
		const struct mely_stats_core *c = mely_stats_core_row(stats, i);
		const uint64_t *figures = figures_at(c, at);

		for (d = 0; d < (by_distance ? MELY_DISTANCES : 1); d++) {
			melyint_text_add(t, "%s{core=\"%u\"", of_family, c->index);
			if (by_distance)
				melyint_text_add(t, ",distance=\"%s\"", mely_distance_name(d));
			melyint_text_add(t, "} ");
			if (is_time)
				seconds(t, figures[d]);
			else
				melyint_text_add(t, "%" PRIu64, figures[d]);
			melyint_text_add(t, "\n");
		}
	}
}

static void
counters(struct melyint_text *t, const struct mely_stats *stats)
{
#define MELY_COUNTER_TALLY(name, unit, help) \
	counter(t, stats, #name, #unit, help, OF_CORE(counters.name), false);
#define MELY_COUNTER(name, unit, help) \
	counter(t, stats, #name, #unit, help, OF_CORE(counters.name), false);
#define MELY_COUNTER_AT(name, unit, help) \
	counter(t, stats, #name, #unit, help, OF_CORE(counters.name), true);
#include <mely/counters.def>
}

static void
cores(struct melyint_text *t, const struct mely_stats *stats)
{
	uint32_t i;

	core_times(t, stats);
	family(t, "mely_core_colors_waiting", "gauge", "Colors in the queue of the core.");
	for (i = 0; i < stats->cores_count; i++) {
		const struct mely_stats_core *c = mely_stats_core_row(stats, i);

		melyint_text_add(t, "mely_core_colors_waiting{core=\"%u\"} %u\n", c->index,
		    c->colors_waiting);
	}
	counters(t, stats);
}

/* ---- handlers ------------------------------------------------------------------------------ */

/* name_part{handler="..",number="..", which the caller ends */
static void
sample(struct melyint_text *t, const struct mely_stats *stats, const char *name, const char *part,
    const struct mely_stats_handler *h)
{
	melyint_text_add(t, "%s%s{handler=\"", name, part);
	value(t, mely_stats_name(stats, h->name_at));
	melyint_text_add(t, "\",number=\"%u\"", h->number);
}

static void
histogram(struct melyint_text *t, const struct mely_stats *stats, const char *name,
    const struct mely_stats_handler *h, const struct mely_stats_hist *hist)
{
	uint64_t below = 0;
	uint32_t bucket = 0;
	int log;

	for (log = BOUND_FIRST; log <= BOUND_LAST; log += BOUND_STEP) {
		for (; mely_stats_bucket_to(bucket) <= 1ull << log; bucket++)
			below += mely_stats_bucket(stats, hist, bucket);
		sample(t, stats, name, "_bucket", h);
		/* A bucket of Prometheus includes its upper bound, one of the snapshot does not. */
		melyint_text_add(t, ",le=\"");
		seconds(t, (1ull << log) - 1);
		melyint_text_add(t, "\"} %" PRIu64 "\n", below);
	}
	sample(t, stats, name, "_bucket", h);
	melyint_text_add(t, ",le=\"+Inf\"} %" PRIu64 "\n", hist->count);
	sample(t, stats, name, "_sum", h);
	melyint_text_add(t, "} ");
	seconds(t, hist->sum_ns);
	melyint_text_add(t, "\n");
	sample(t, stats, name, "_count", h);
	melyint_text_add(t, "} %" PRIu64 "\n", hist->count);
}

static void
handler_figure(struct melyint_text *t, const struct mely_stats *stats, const char *name,
    const struct mely_stats_handler *h, const char *from, uint64_t figure, bool is_time)
{
	sample(t, stats, name, "", h);
	if (from != NULL)
		melyint_text_add(t, ",from=\"%s\"", from);
	melyint_text_add(t, "} ");
	if (is_time)
		seconds(t, figure);
	else
		melyint_text_add(t, "%" PRIu64, figure);
	melyint_text_add(t, "\n");
}

static const char *
from(uint32_t from)
{
	return from == MELY_STATS_ANNOTATED ? "annotated" : from == MELY_STATS_MEASURED ?
	    "measured" : "unknown";
}

static void
handlers(struct melyint_text *t, const struct mely_stats *stats)
{
	const struct mely_stats_handler *h;
	uint32_t i;

	family(t, "mely_handler_events_total", "counter", "Events run.");
	for (i = 0; (h = mely_stats_handler_row(stats, i)) != NULL; i++)
		handler_figure(t, stats, "mely_handler_events_total", h, NULL, h->count, false);
	family(t, "mely_handler_stalls_total", "counter", "Calls that ran beyond the limit.");
	for (i = 0; (h = mely_stats_handler_row(stats, i)) != NULL; i++)
		handler_figure(t, stats, "mely_handler_stalls_total", h, NULL, h->stalls, false);
	family(t, "mely_handler_time_seconds", "gauge", "Time that stealing uses.");
	for (i = 0; (h = mely_stats_handler_row(stats, i)) != NULL; i++)
		handler_figure(t, stats, "mely_handler_time_seconds", h, from(h->time_from),
		    h->time_ns, true);
	family(t, "mely_handler_penalty", "gauge", "Stealing penalty in use.");
	for (i = 0; (h = mely_stats_handler_row(stats, i)) != NULL; i++)
		handler_figure(t, stats, "mely_handler_penalty", h, from(h->penalty_from),
		    h->penalty, false);
	family(t, "mely_handler_run_seconds", "histogram",
	    "Run time of handlers, of sampled events.");
	for (i = 0; (h = mely_stats_handler_row(stats, i)) != NULL; i++)
		histogram(t, stats, "mely_handler_run_seconds", h, &h->time);
	family(t, "mely_handler_delay_seconds", "histogram",
	    "Delay between post and run, of sampled events.");
	for (i = 0; (h = mely_stats_handler_row(stats, i)) != NULL; i++)
		histogram(t, stats, "mely_handler_delay_seconds", h, &h->delay);
}

/* ---- colors -------------------------------------------------------------------------------- */

static void
color_labels(struct melyint_text *t, const struct mely_stats *stats, const char *name,
    const struct mely_stats_color *c)
{
	melyint_text_add(t, "%s{", name);
	if (c->kind == MELY_STATS_COLOR_ID)
		melyint_text_add(t, "id=\"%u\"", c->id);
	else
		melyint_text_add(t, "object=\"0x%" PRIx64 "\"", c->object);
	melyint_text_add(t, ",name=\"");
	value(t, mely_stats_name(stats, c->name_at));
	melyint_text_add(t, "\",core=\"%u\"} ", c->owner);
}

static void
colors(struct melyint_text *t, const struct mely_stats *stats)
{
	const struct mely_stats_color *c;
	uint32_t i;

	if (stats->colors_asked == 0)
		return;
	family(t, "mely_colors", "gauge", "Colors that have events or run.");
	melyint_text_add(t, "mely_colors %" PRIu64 "\n", stats->colors_found);
	family(t, "mely_color_events", "gauge", "Events waiting, of the colors listed.");
	for (i = 0; (c = mely_stats_color_row(stats, i)) != NULL; i++) {
		color_labels(t, stats, "mely_color_events", c);
		melyint_text_add(t, "%" PRIu64 "\n", c->length);
	}
	family(t, "mely_color_oldest_seconds", "gauge", "How long the first of them has waited.");
	for (i = 0; (c = mely_stats_color_row(stats, i)) != NULL; i++) {
		color_labels(t, stats, "mely_color_oldest_seconds", c);
		seconds(t, c->oldest_ns);
		melyint_text_add(t, "\n");
	}
}

static void
outside(struct melyint_text *t, const struct mely_stats *stats)
{
	family(t, "mely_info", "gauge", "The library.");
	melyint_text_add(t, "mely_info{version=\"");
	value(t, mely_stats_name(stats, stats->version_at));
	melyint_text_add(t, "\"} 1\n");
	family(t, "mely_up_seconds", "gauge", "Age of the runtime.");
	melyint_text_add(t, "mely_up_seconds ");
	seconds(t, stats->taken_ns - stats->made_ns);
	melyint_text_add(t, "\n");
	family(t, "mely_outside_posts_total", "counter", "Posts by outside threads.");
	melyint_text_add(t, "mely_outside_posts_total %" PRIu64 "\n", stats->outside_posts);
	family(t, "mely_outside_wakeups_total", "counter", "Wake-ups by outside threads.");
	melyint_text_add(t, "mely_outside_wakeups_total %" PRIu64 "\n", stats->outside_wakeups);
	family(t, "mely_outside_refused_total", "counter", "Refused posts of outside threads.");
	melyint_text_add(t, "mely_outside_refused_total %" PRIu64 "\n", stats->outside_refused);
	family(t, "mely_misuses_total", "counter", "Posts to released colors, without effect.");
	melyint_text_add(t, "mely_misuses_total %" PRIu64 "\n", stats->misuses);
}

int
mely_stats_prometheus(const struct mely_stats *stats, char **text, size_t *length)
{
	struct melyint_text t = {NULL, 0, 0, false};

	if (stats == NULL || text == NULL)
		return -EINVAL;
	outside(&t, stats);
	cores(&t, stats);
	handlers(&t, stats);
	colors(&t, stats);
	*text = t.data;
	if (length != NULL)
		*length = t.length;
	return t.failed ? -ENOMEM : 0;
}
