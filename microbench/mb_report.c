/* SPDX-License-Identifier: MIT */
/*
 * mb_report.c: the samples of a configuration, their median and spread, and the line that is
 * printed, for people or as JSON. Main thread only.
 */
#include "mb.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
mb_sample_clear(struct mb_sample *sample)
{
	sample->value = sample->fairness = sample->p99 = NAN;
	sample->ideal_pct = sample->events = sample->cpu_ns = NAN;
	sample->requests = sample->syscalls = NAN;
	sample->steals = sample->stolen_events = sample->stolen_cycles = NAN;
	sample->steal_cycles = sample->lock_pct = sample->cache_misses = NAN;
	sample->cores = 0;
}

void
mb_series_init(struct mb_series *series, const char *bench, const char *peer, const char *unit,
    int colors, int runs)
{
	memset(series, 0, sizeof(*series));
	series->bench = bench;
	series->peer = peer;
	series->unit = unit;
	series->colors = colors;
	series->ratio = NAN;
	series->samples = calloc((size_t)runs, sizeof(*series->samples));
	if (series->samples == NULL)
		mb_fail("calloc", errno);
}

void
mb_series_add(struct mb_series *series, const struct mb_sample *sample)
{
	series->samples[series->count++] = *sample;
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median, least and greatest of one field over the runs; NAN when a run has none. */
static void
field_spread(const struct mb_series *series, size_t offset, double *median, double *min,
    double *max)
{
	int i, n = series->count;
	double *v = calloc((size_t)n + 1, sizeof(*v));

	if (v == NULL)
		mb_fail("calloc", errno);
	*median = *min = *max = NAN;
	for (i = 0; i < n; i++) {
		memcpy(&v[i], (const char *)&series->samples[i] + offset, sizeof(v[i]));
		if (isnan(v[i]))
			break;
	}
	if (n > 0 && i == n) {
		qsort(v, (size_t)n, sizeof(*v), compare_doubles);
		*median = (v[(n - 1) / 2] + v[n / 2]) / 2;
		*min = v[0];
		*max = v[n - 1];
	}
	free(v);
}

static double
field_median(const struct mb_series *series, size_t offset)
{
	double median, min, max;

	field_spread(series, offset, &median, &min, &max);
	return median;
}

double
mb_series_median(const struct mb_series *series)
{
	return field_median(series, offsetof(struct mb_sample, value));
}

/* The fields that only some benchmarks have. */
static const struct {
	const char *key;
	const char *words; /* for people, with one number */
	size_t offset;
} extras[] = {
	{"fairness", ", fairness %.3f", offsetof(struct mb_sample, fairness)},
	{"p99", ", p99 %.2f", offsetof(struct mb_sample, p99)},
	{"ideal_pct", ", %.1f %% of the ideal", offsetof(struct mb_sample, ideal_pct)},
	{"events", ", %.0f events a run", offsetof(struct mb_sample, events)},
	{"cpu_ns", ", %.2f ns CPU each", offsetof(struct mb_sample, cpu_ns)},
	{"requests", ", %.0f requests/s", offsetof(struct mb_sample, requests)},
	{"syscalls", ", %.2f system calls/s", offsetof(struct mb_sample, syscalls)},
	{"steals", ", %.0f steals/s", offsetof(struct mb_sample, steals)},
	{"stolen_events", " of %.2f events", offsetof(struct mb_sample, stolen_events)},
	{"stolen_cycles", " and %.0f cycles each", offsetof(struct mb_sample, stolen_cycles)},
	{"steal_cycles", ", a steal costs %.0f cycles", offsetof(struct mb_sample, steal_cycles)},
	{"lock_pct", ", waits for locks %.2f %%", offsetof(struct mb_sample, lock_pct)},
	{"cache_misses", ", %.1f cache misses an event", offsetof(struct mb_sample, cache_misses)},
};

static void
report_json(const struct mb_series *s, double median, double min, double max)
{
	double value;
	size_t i;

	printf("{\"bench\":\"%s\",\"peer\":\"%s\",", s->bench, s->peer);
	if (s->variant != NULL)
		printf("\"variant\":\"%s\",", s->variant);
	printf("\"cores\":%d,\"colors\":%d,\"unit\":\"%s\",", s->samples[0].cores, s->colors,
	    s->unit);
	printf("\"median\":%.9g,\"min\":%.9g,\"max\":%.9g,\"runs\":%d", median, min, max, s->count);
	for (i = 0; i < sizeof(extras) / sizeof(extras[0]); i++) {
		value = field_median(s, extras[i].offset);
		if (!isnan(value))
			printf(",\"%s\":%.9g", extras[i].key, value);
	}
	if (!isnan(s->ratio))
		printf(",\"ratio\":%.4g", s->ratio);
	if (s->method != NULL)
		printf(",\"method\":\"%s\"", s->method);
	printf("}\n");
}

static void
report_text(const struct mb_series *s, double median, double min, double max)
{
	bool millions = median >= 1e5;
	double scale = millions ? 1e-6 : 1, value;
	size_t i;

	printf("%s%s%s, %s, cores %d, colors %d: %.4g %s%s [%.4g - %.4g], %d run%s", s->bench,
	    s->variant != NULL ? " " : "", s->variant != NULL ? s->variant : "", s->peer,
	    s->samples[0].cores, s->colors, median * scale, millions ? "M " : "", s->unit,
	    min * scale, max * scale, s->count, s->count == 1 ? "" : "s");
	for (i = 0; i < sizeof(extras) / sizeof(extras[0]); i++) {
		value = field_median(s, extras[i].offset);
		if (!isnan(value))
			printf(extras[i].words, value);
	}
	if (!isnan(s->ratio))
		printf(", %.2fx the bare one", s->ratio);
	if (s->method != NULL)
		printf(" (%s)", s->method);
	printf("\n");
}

void
mb_series_report(struct mb_series *series, bool json)
{
	double median, min, max;

	field_spread(series, offsetof(struct mb_sample, value), &median, &min, &max);
	if (isnan(median))
		mb_fail("a run brought no value", 0);
	if (json)
		report_json(series, median, min, max);
	else
		report_text(series, median, min, max);
	fflush(stdout);
	free(series->samples);
	series->samples = NULL;
	series->count = 0;
}
