/* SPDX-License-Identifier: MIT */
/* options.c: see options.h. */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static bool
number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return errno == 0 && end != text && *end == '\0' && *text != '-';
}

bool
option_number(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	if (number(text, value) && *value >= min && *value <= max)
		return true;
	fprintf(stderr, "%s: %s: '%s' is not a number between %llu and %llu\n", MELY_SIM_NAME, name,
	    text, (unsigned long long)min, (unsigned long long)max);
	return false;
}

bool
option_seed(const char *name, const char *text, uint64_t *value)
{
	return option_number(name, text, 0, UINT64_MAX, value);
}
