/* SPDX-License-Identifier: MIT */
/*
 * once_json.c: a sample as JSON on standard output.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "once.h"

static void
put(struct json_object *to, const char *key, struct json_object *value)
{
	(void)json_object_object_add(to, key, value);
}

static void
put_number(struct json_object *to, const char *key, uint64_t number)
{
	put(to, key, json_object_new_uint64(number));
}

/* With this many digits behind the point. */
static void
put_real(struct json_object *to, const char *key, double value, int digits)
{
	char text[400]; /* the longest double */

	snprintf(text, sizeof text, "%.*f", digits, value);
	put(to, key, json_object_new_double_s(value, text));
}

static void
put_shares(struct json_object *to, double busy, double steal, double poll, double asleep)
{
	put_real(to, "busy", busy, 6);
	put_real(to, "steal", steal, 6);
	put_real(to, "poll", poll, 6);
	put_real(to, "sleep", asleep, 6);
}

static struct json_object *
distances(const double *rates)
{
	struct json_object *to = json_object_new_object();
	int d;

	for (d = 0; d < MELY_DISTANCES; d++)
		put_real(to, mely_distance_name(d), rates[d], 3);
	return to;
}

static struct json_object *
totals(const struct total_rates *t)
{
	struct json_object *to = json_object_new_object();

	put_shares(to, t->busy, t->steal, t->poll, t->sleep);
#define MELY_COUNTER_TALLY(name, unit, help) put_real(to, #name "_per_s", t->name, 3);
#define MELY_COUNTER(name, unit, help) put_real(to, #name "_per_s", t->name, 3);
#define MELY_COUNTER_AT(name, unit, help) put(to, #name "_per_s", distances(t->name));
#include <mely/counters.def>
	return to;
}

static struct json_object *
cores(const struct sample *sample)
{
	struct json_object *to = json_object_new_array();
	uint32_t i;

	for (i = 0; i < sample->now->cores_count; i++) {
		const struct core_rates *r = &sample->cores[i];
		struct json_object *core = json_object_new_object();

		put_number(core, "index", mely_stats_core_row(sample->now, i)->index);
		put_shares(core, r->busy, r->steal, r->poll, r->sleep);
		put_real(core, "events_per_s", r->events, 3);
		(void)json_object_array_add(to, core);
	}
	return to;
}

static struct json_object *
handler(const struct handler_rates *r)
{
	struct json_object *to = json_object_new_object();

	put_number(to, "number", r->row->number);
	put_real(to, "events_per_s", r->events, 3);
	put_number(to, "samples", r->samples);
	if (r->samples > 0) {
		put_number(to, "average_ns", r->average_ns);
		put_number(to, "p50_ns", r->p50_ns);
		put_number(to, "p99_ns", r->p99_ns);
		put_real(to, "share", r->share, 6);
	}
	if (r->delays > 0)
		put_number(to, "delay_p99_ns", r->delay_p99_ns);
	put_number(to, "stalls", r->stalls);
	return to;
}

static struct json_object *
rates(const struct sample *sample)
{
	struct json_object *to = json_object_new_object(), *handlers = json_object_new_array();
	uint32_t i;

	for (i = 0; i < sample->handlers_count; i++)
		(void)json_object_array_add(handlers, handler(&sample->handlers[i]));
	put(to, "total", totals(&sample->total));
	put(to, "cores", cores(sample));
	put(to, "handlers", handlers);
	return to;
}

bool
once_json(const struct sample *sample)
{
	struct json_object *all = json_object_new_object();
	const char *text;
	char *stats;
	size_t length;
	bool printed;

	if (mely_stats_json(sample->now, &stats, &length) != 0) {
		json_object_put(all);
		return false;
	}
	put_number(all, "mely_top", 1);
	put_real(all, "seconds", sample->seconds, 6);
	put(all, "since_start", json_object_new_boolean(sample->before == NULL));
	put(all, "rates", rates(sample));
	put(all, "stats", json_tokener_parse(stats));
	free(stats);
	text = json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN);
	/* Without memory json-c makes nulls on the way. */
	printed = text != NULL && json_object_object_get(all, "stats") != NULL;
	if (printed)
		puts(text);
	json_object_put(all);
	return printed;
}
