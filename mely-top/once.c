/* SPDX-License-Identifier: MIT */
/*
 * once.c: a sample as text or JSON on standard output.
 */
#include <stdio.h>
#include <stdlib.h>

#include "once.h"
#include "rows.h"

enum { WIDTH = 100 };

/* Print a line without the blanks at its end. */
static void
say(char *line)
{
	size_t n = 0, i;

	for (i = 0; line[i] != '\0'; i++)
		n = line[i] != ' ' ? i + 1 : n;
	printf("%.*s\n", (int)n, line);
}

void
once_text(const struct sample *sample)
{
	char line[ROW_MOST];
	int bar, bar_width;
	uint32_t i;

	row_title(line, WIDTH, sample);
	say(line);
	row_totals(line, WIDTH, sample);
	say(line);
	row_steals(line, ROW_MOST, sample);
	say(line);
	printf("\nCORES  # busy  + stealing  - polling  . asleep\n");
	for (i = 0; i < sample->now->cores_count; i++) {
		row_core(line, WIDTH, sample, i, &bar, &bar_width);
		say(line);
	}
	printf("\n");
	row_handlers_head(line, WIDTH, "");
	say(line);
	for (i = 0; i < sample->handlers_count; i++) {
		row_handler(line, WIDTH, sample, &sample->handlers[i]);
		say(line);
	}
	if (sample->now->colors_asked == 0)
		return;
	printf("\n");
	row_colors_head(line, WIDTH, "");
	say(line);
	for (i = 0; i < sample->now->colors_count; i++) {
		row_color(line, WIDTH, sample, mely_stats_color_row(sample->now, i));
		say(line);
	}
	if (sample->now->colors_found > sample->now->colors_count)
		printf("and %llu more\n", (unsigned long long)(sample->now->colors_found -
		    sample->now->colors_count));
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void
json_distances(const char *name, const double *rates)
{
	int d;

	printf(",\"%s_per_s\":{", name);
	for (d = 0; d < MELY_DISTANCES; d++)
		printf("%s\"%s\":%.3f", d > 0 ? "," : "", mely_distance_name(d), rates[d]);
	printf("}");
}

static void
json_totals(const struct sample *sample)
{
	const struct total_rates *t = &sample->total;

	printf("\"total\":{\"busy\":%.6f,\"steal\":%.6f,\"poll\":%.6f,\"sleep\":%.6f", t->busy,
	    t->steal, t->poll, t->sleep);
#define MELY_COUNTER_TALLY(name, unit, help) printf(",\"" #name "_per_s\":%.3f", t->name);
#define MELY_COUNTER(name, unit, help) printf(",\"" #name "_per_s\":%.3f", t->name);
#define MELY_COUNTER_AT(name, unit, help) json_distances(#name, t->name);
#include <mely/counters.def>
	printf("}");
}

static void
json_handler(const struct handler_rates *r)
{
	printf("{\"number\":%u,\"events_per_s\":%.3f,\"samples\":%llu", r->row->number, r->events,
	    (unsigned long long)r->samples);
	if (r->samples > 0)
		printf(",\"average_ns\":%llu,\"p50_ns\":%llu,\"p99_ns\":%llu,\"share\":%.6f",
		    (unsigned long long)r->average_ns, (unsigned long long)r->p50_ns,
		    (unsigned long long)r->p99_ns, r->share);
	if (r->delays > 0)
		printf(",\"delay_p99_ns\":%llu", (unsigned long long)r->delay_p99_ns);
	printf(",\"stalls\":%llu}", (unsigned long long)r->stalls);
}

bool
once_json(const struct sample *sample)
{
	char *stats;
	size_t length;
	uint32_t i;

	if (mely_stats_json(sample->now, &stats, &length) != 0)
		return false;
	printf("{\"mely_top\":1,\"seconds\":%.6f,\"since_start\":%s,\n\"rates\":{",
	    sample->seconds, sample->before == NULL ? "true" : "false");
	json_totals(sample);
	printf(",\n\"cores\":[");
	for (i = 0; i < sample->now->cores_count; i++) {
		const struct core_rates *r = &sample->cores[i];

		printf("%s{\"index\":%u,\"busy\":%.6f,\"steal\":%.6f,\"poll\":%.6f,\"sleep\":%.6f,"
		    "\"events_per_s\":%.3f}", i > 0 ? ",\n" : "",
		    mely_stats_core_row(sample->now, i)->index,
		    r->busy, r->steal, r->poll, r->sleep,
		    r->events);
	}
	printf("],\n\"handlers\":[");
	for (i = 0; i < sample->handlers_count; i++) {
		printf("%s", i > 0 ? ",\n" : "");
		json_handler(&sample->handlers[i]);
	}
	printf("]},\n\"stats\":%s}\n", stats);
	free(stats);
	return true;
}
