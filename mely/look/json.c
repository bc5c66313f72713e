/* SPDX-License-Identifier: MIT */
/*
 * json.c: a snapshot as one JSON object. Its members have the names of the members in stats.h.
 * Addresses are strings, since a JSON number need not hold 64 bits.
 */
#include <errno.h>
#include <inttypes.h>
#include <mely/stats.h>

#include "base/text.h"

#define LAST_DOING MELY_STATS_SLEEPING

static void
string(struct melyint_text *t, const char *text)
{
	unsigned length;

	melyint_text_add(t, "\"");
	for (; *text != '\0'; text += length != 0 ? length : 1) {
		length = melyint_text_utf8(text);
		if (*text == '\\' || *text == '"')
			melyint_text_add(t, "\\%c", *text);
		else if ((unsigned char)*text < ' ' || *text == 0x7f)
			melyint_text_add(t, "\\u%04x", (unsigned)*text);
		else if (length == 0)
			melyint_text_add(t, "\\ufffd");
		else
			melyint_text_add(t, "%.*s", (int)length, text);
	}
	melyint_text_add(t, "\"");
}

/* A member that is a number. Each member ends in a comma; close_with removes the last. */
static void
number(struct melyint_text *t, const char *name, uint64_t n)
{
	melyint_text_add(t, "\"%s\":%" PRIu64 ",", name, n);
}

static void
address(struct melyint_text *t, const char *name, uint64_t at)
{
	if (at != 0)
		melyint_text_add(t, "\"%s\":\"0x%" PRIx64 "\",", name, at);
	else
		melyint_text_add(t, "\"%s\":null,", name);
}

static void
named(struct melyint_text *t, const char *member, const char *text)
{
	melyint_text_add(t, "\"%s\":", member);
	string(t, text);
	melyint_text_add(t, ",");
}

/* Remove the comma after the last member and close the object or array. */
static void
close_with(struct melyint_text *t, const char *bracket)
{
	if (!t->failed && t->length > 0 && t->data[t->length - 1] == ',')
		t->length--;
	melyint_text_add(t, "%s", bracket);
}

static void
distances(struct melyint_text *t, const char *name, const uint64_t *counts)
{
	int d;

	melyint_text_add(t, "\"%s\":{", name);
	for (d = 0; d < MELY_DISTANCES; d++)
		number(t, mely_distance_name(d), counts[d]);
	close_with(t, "},");
}

static void
counters(struct melyint_text *t, const struct mely_counters *c)
{
#define MELY_COUNTER_TALLY(name, unit, help) number(t, #name, c->name);
#define MELY_COUNTER(name, unit, help) number(t, #name, c->name);
#define MELY_COUNTER_AT(name, unit, help) distances(t, #name, c->name);
#include <mely/counters.def>
}

/* ---- cores --------------------------------------------------------------------------------- */

static void
running(struct melyint_text *t, const struct mely_stats *stats, const struct mely_stats_core *c)
{
	const struct mely_stats_handler *h = mely_stats_handler_numbered(stats, c->handler);

	if (c->color_kind == MELY_STATS_NO_COLOR) {
		melyint_text_add(t, "\"running\":null,");
		return;
	}
	melyint_text_add(t, "\"running\":{");
	number(t, "handler", c->handler);
	named(t, "name", h != NULL ? mely_stats_name(stats, h->name_at) : "");
	if (c->color_kind == MELY_STATS_COLOR_ID)
		number(t, "color_id", c->color_id);
	else
		address(t, "color_object", c->color_object);
	named(t, "color_name", mely_stats_name(stats, c->color_name_at));
	number(t, "running_ns", c->running_ns);
	number(t, "events_in_batch", c->events_in_batch);
	close_with(t, "},");
}

static void
core(struct melyint_text *t, const struct mely_stats *stats, const struct mely_stats_core *c)
{
	static const char *const doings[LAST_DOING + 1] = {
	    "away", "busy", "stealing", "polling", "sleeping"};

	melyint_text_add(t, "{");
	number(t, "index", c->index);
	melyint_text_add(t, "\"pu\":%" PRId32 ",", c->pu);
	named(t, "doing", c->doing <= LAST_DOING ? doings[c->doing] : "?");
	number(t, "colors_waiting", c->colors_waiting);
	number(t, "colors_stealable", c->colors_stealable);
	number(t, "events_waiting", c->events_waiting);
	running(t, stats, c);
	number(t, "busy_ns", c->busy_ns);
	number(t, "steal_ns", c->steal_ns);
	number(t, "poll_ns", c->poll_ns);
	number(t, "sleep_ns", c->sleep_ns);
	counters(t, &c->counters);
	close_with(t, "},");
}

/* ---- handlers and colors ------------------------------------------------------------------- */

/* Buckets: least value, first value above, count; the last bucket has no end. */
static void
histogram(struct melyint_text *t, const struct mely_stats *stats, const char *name,
    const struct mely_stats_hist *hist)
{
	uint32_t i;

	melyint_text_add(t, "\"%s\":{", name);
	number(t, "count", hist->count);
	number(t, "sum_ns", hist->sum_ns);
	number(t, "average_ns", mely_stats_average(hist));
	number(t, "p50_ns", mely_stats_quantile(stats, hist, .5));
	number(t, "p90_ns", mely_stats_quantile(stats, hist, .9));
	number(t, "p99_ns", mely_stats_quantile(stats, hist, .99));
	number(t, "max_ns", hist->max_ns);
	melyint_text_add(t, "\"buckets\":[");
	for (i = hist->first; i < hist->first + hist->buckets; i++) {
		uint64_t n = mely_stats_bucket(stats, hist, i), to = mely_stats_bucket_to(i);

		if (n == 0)
			continue;
		melyint_text_add(t, "[%" PRIu64 ",", mely_stats_bucket_from(i));
		if (to != UINT64_MAX)
			melyint_text_add(t, "%" PRIu64 ",%" PRIu64 "],", to, n);
		else
			melyint_text_add(t, "null,%" PRIu64 "],", n);
	}
	close_with(t, "]},");
}

static const char *
from(uint32_t from)
{
	return from == MELY_STATS_ANNOTATED ? "annotated" : from == MELY_STATS_MEASURED ?
	    "measured" : "unknown";
}

static void
handler(struct melyint_text *t, const struct mely_stats *stats,
    const struct mely_stats_handler *h)
{
	melyint_text_add(t, "{");
	number(t, "number", h->number);
	named(t, "name", mely_stats_name(stats, h->name_at));
	address(t, "fn", h->fn);
	number(t, "count", h->count);
	number(t, "time_ns", h->time_ns);
	named(t, "time_from", from(h->time_from));
	number(t, "penalty", h->penalty);
	named(t, "penalty_from", from(h->penalty_from));
	number(t, "stall_ms", h->stall_ms);
	number(t, "stalls", h->stalls);
	histogram(t, stats, "time", &h->time);
	histogram(t, stats, "delay", &h->delay);
	close_with(t, "},");
}

static void
flag(struct melyint_text *t, const char *name, bool on)
{
	melyint_text_add(t, "\"%s\":%s,", name, on ? "true" : "false");
}

static void
color(struct melyint_text *t, const struct mely_stats *stats, const struct mely_stats_color *c)
{
	melyint_text_add(t, "{");
	if (c->kind == MELY_STATS_COLOR_ID)
		number(t, "id", c->id);
	else
		address(t, "object", c->object);
	named(t, "name", mely_stats_name(stats, c->name_at));
	number(t, "owner", c->owner);
	melyint_text_add(t, "\"priority\":%" PRId32 ",", c->priority);
	number(t, "handler", c->handler);
	number(t, "length", c->length);
	number(t, "oldest_ns", c->oldest_ns);
	flag(t, "running", c->flags & MELY_STATS_COLOR_RUNNING);
	flag(t, "pinned", c->flags & MELY_STATS_COLOR_PINNED);
	flag(t, "length_at_least", c->flags & MELY_STATS_LENGTH_AT_LEAST);
	flag(t, "length_estimated", c->flags & MELY_STATS_LENGTH_ESTIMATED);
	flag(t, "age_at_least", c->flags & MELY_STATS_AGE_AT_LEAST);
	close_with(t, "},");
}

static void
head(struct melyint_text *t, const struct mely_stats *stats)
{
	number(t, "version", stats->version);
	named(t, "mely", mely_stats_name(stats, stats->version_at));
	named(t, "program", mely_stats_name(stats, stats->program_at));
	number(t, "pid", stats->pid);
	number(t, "taken_ns", stats->taken_ns);
	number(t, "made_ns", stats->made_ns);
	number(t, "wall_ns", stats->wall_ns);
	flag(t, "stealing", stats->stealing != 0);
	number(t, "sample_every", stats->sample_every);
	number(t, "sample_events", stats->sample_events);
	number(t, "delay_every", stats->delay_every);
	number(t, "outside_posts", stats->outside_posts);
	number(t, "outside_wakeups", stats->outside_wakeups);
	number(t, "outside_refused", stats->outside_refused);
	number(t, "misuses", stats->misuses);
	number(t, "colors_asked", stats->colors_asked);
	number(t, "colors_found", stats->colors_found);
	melyint_text_add(t, "\"total\":{");
	counters(t, &stats->total);
	close_with(t, "},");
}

int
mely_stats_json(const struct mely_stats *stats, char **text, size_t *length)
{
	struct melyint_text t = {NULL, 0, 0, false};
	const struct mely_stats_core *c;
	const struct mely_stats_handler *h;
	const struct mely_stats_color *k;
	uint32_t i;

	if (stats == NULL || text == NULL)
		return -EINVAL;
	melyint_text_add(&t, "{");
	head(&t, stats);
	melyint_text_add(&t, "\"cores\":[");
	for (i = 0; (c = mely_stats_core_row(stats, i)) != NULL; i++)
		core(&t, stats, c);
	close_with(&t, "],\"handlers\":[");
	for (i = 0; (h = mely_stats_handler_row(stats, i)) != NULL; i++)
		handler(&t, stats, h);
	close_with(&t, "],\"colors\":[");
	for (i = 0; (k = mely_stats_color_row(stats, i)) != NULL; i++)
		color(&t, stats, k);
	close_with(&t, "]}\n");
	*text = t.data;
	if (length != NULL)
		*length = t.length;
	return t.failed ? -ENOMEM : 0;
}
