/* SPDX-License-Identifier: MIT */
/*
 * range.c: one range of bytes.
 */
#include <stdbool.h>
#include <strings.h>

#include "base/assertion.h"
#include "http/range.h"

#define UNIT "bytes="

/* Read a number at *p; one that is too large becomes the largest. False: there is none. */
static bool
number(const char **p, const char *end, uint64_t *n)
{
	const char *from = *p;

	for (*n = 0; *p < end && (unsigned char)(**p - '0') <= 9; ++*p) {
		uint64_t digit = (uint64_t)(**p - '0');

		*n = *n > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *n * 10 + digit;
	}
	return *p > from;
}

static void
skip_blanks(const char **p, const char *end)
{
	while (*p < end && (**p == ' ' || **p == '\t' || **p == ','))
		++*p;
}

enum http_range
http_range_parse(const char *value, size_t len, uint64_t size, uint64_t *from, uint64_t *to)
{
	const char *p = value, *end = value + len;
	bool has_first, has_last;
	uint64_t first, last;

	if (len < sizeof UNIT || strncasecmp(p, UNIT, sizeof UNIT - 1) != 0)
		return HTTP_RANGE_NONE;
	p += sizeof UNIT - 1;
	skip_blanks(&p, end); /* and empty elements of the list */
	has_first = number(&p, end, &first);
	if (p == end || *p++ != '-')
		return HTTP_RANGE_NONE;
	has_last = number(&p, end, &last);
	skip_blanks(&p, end);
	if (p < end || !(has_first || has_last) || (has_first && has_last && last < first))
		return HTTP_RANGE_NONE;
	if (!has_first) {
		if (last == 0)
			return HTTP_RANGE_UNSATISFIABLE;
		/* The end of nothing is the whole of it, and a 206 cannot say so. */
		if (size == 0)
			return HTTP_RANGE_NONE;
		*from = last < size ? size - last : 0;
		*to = size;
	} else {
		if (first >= size)
			return HTTP_RANGE_UNSATISFIABLE;
		*from = first;
		*to = has_last && last < size ? last + 1 : size;
	}
	SWS_DEBUG_ASSERT(*from < *to && *to <= size);
	return HTTP_RANGE_ONE;
}
