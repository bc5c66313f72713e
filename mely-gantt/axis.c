/* SPDX-License-Identifier: MIT */
/*
 * axis.c: see axis.h.
 */
#include "axis.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct unit {
	const char *typed;
	const char *shown;
	int64_t ns;
} units[] = {
	{"s", "s", 1000000000},
	{"ms", "ms", 1000000},
	{"us", "\302\265s", 1000},
	{"ns", "ns", 1}
};

#define UNITS (sizeof units / sizeof units[0])

bool
gantt_time_parse(const char *text, int64_t *ns)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || errno != 0 || !isfinite(value) || value < 0)
		return false;
	if (*end == '\0' && value == 0) {
		*ns = 0;
		return true;
	}
	for (size_t i = 0; i < UNITS; i++) {
		if (strcmp(end, units[i].typed) != 0)
			continue;
		value *= (double)units[i].ns;
		if (value > 9e18)
			return false;
		*ns = (int64_t)llround(value);
		return true;
	}
	return false;
}

/* The largest unit that ns holds a whole one of. */
static const struct unit *
unit_of(int64_t ns)
{
	size_t i = 0;

	while (i < UNITS - 1 && ns < units[i].ns)
		i++;
	return &units[i];
}

void
gantt_time_text(int64_t ns, char *text, size_t size)
{
	const struct unit *unit = unit_of(ns);
	double value = (double)ns / (double)unit->ns;
	int digits = unit->ns == 1 || value >= 100 ? 0 : value >= 10 ? 1 : 2;

	snprintf(text, size, "%.*f %s", digits, value, unit->shown);
}

void
gantt_time_exact(int64_t ns, char *text, size_t size)
{
	const struct unit *unit = unit_of(ns);
	int digits = 0;

	for (int64_t one = unit->ns; ns % one != 0; one /= 10)
		digits++;
	snprintf(text, size, "%.*f %s", digits, (double)ns / (double)unit->ns, unit->shown);
}

int64_t
gantt_axis_step(int64_t span, int most)
{
	static const int64_t factors[] = {1, 2, 5};
	int64_t power = 1;

	for (;;) {
		for (size_t i = 0; i < 3; i++) {
			if (span / (factors[i] * power) < most)
				return factors[i] * power;
		}
		if (power > INT64_MAX / 100)
			return power;
		power *= 10;
	}
}

void
gantt_axis_label(int64_t ns, int64_t step, int64_t largest, char *text, size_t size)
{
	const struct unit *unit = unit_of(largest);
	int digits = 0;

	for (int64_t one = unit->ns; step % one != 0; one /= 10)
		digits++;
	snprintf(text, size, "%.*f %s", digits, (double)ns / (double)unit->ns, unit->shown);
}
