/* SPDX-License-Identifier: MIT */
/*
 * range.c: reading ranges of bytes, and joining those that overlap.
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

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Skip blanks and empty elements of the list. */
static void
skip_empty(const char **p, const char *end)
{
	while (*p < end && (is_blank(**p) || **p == ','))
		++*p;
}

/* Read one range at *p. NONE: it is malformed; UNSATISFIABLE: nothing of it exists. */
static enum http_range
one(const char **p, const char *end, uint64_t size, struct http_part *part)
{
	uint64_t first, last;
	bool has_first = number(p, end, &first), has_last;

	if (*p == end || *(*p)++ != '-')
		return HTTP_RANGE_NONE;
	has_last = number(p, end, &last);
	while (*p < end && is_blank(**p))
		++*p;
	if ((*p < end && **p != ',') || !(has_first || has_last)
	    || (has_first && has_last && last < first))
		return HTTP_RANGE_NONE;
	if (!has_first) {
		if (last == 0)
			return HTTP_RANGE_UNSATISFIABLE;
		/* The end of nothing is the whole of it, and a 206 cannot say so. */
		if (size == 0)
			return HTTP_RANGE_NONE;
		part->from = last < size ? size - last : 0;
		part->to = size;
	} else {
		if (first >= size)
			return HTTP_RANGE_UNSATISFIABLE;
		part->from = first;
		part->to = has_last && last < size ? last + 1 : size;
	}
	SWS_DEBUG_ASSERT(part->from < part->to && part->to <= size);
	return HTTP_RANGE_ONE;
}

/* Is the gap between two parts small, or none? */
static bool
is_near(const struct http_part *a, const struct http_part *b)
{
	return a->from <= b->to + HTTP_RANGES_GAP && b->from <= a->to + HTTP_RANGES_GAP;
}

/* Join part number i with each that is near; it may grow, and then be near to others. */
static void
join(struct http_ranges *r, unsigned i)
{
	for (unsigned k = 0; k < r->count; k++) {
		struct http_part *a = &r->part[k < i ? k : i], *b = &r->part[k < i ? i : k];

		if (k == i || !is_near(a, b))
			continue;
		a->from = b->from < a->from ? b->from : a->from;
		a->to = b->to > a->to ? b->to : a->to;
		r->count--;
		for (struct http_part *p = b; p < r->part + r->count; p++)
			*p = p[1];
		i = k < i ? k : i;
		k = UINT32_MAX; /* from the beginning */
	}
}

enum http_range
http_range_parse(const char *value, size_t len, uint64_t size, struct http_ranges *ranges)
{
	const char *p = value, *end = value + len;
	unsigned asked = 0;

	ranges->count = 0;
	if (len < sizeof UNIT || strncasecmp(p, UNIT, sizeof UNIT - 1) != 0)
		return HTTP_RANGE_NONE;
	p += sizeof UNIT - 1;
	for (skip_empty(&p, end); p < end; skip_empty(&p, end)) {
		struct http_part part;
		enum http_range is = one(&p, end, size, &part);

		if (is == HTTP_RANGE_NONE || ++asked > HTTP_RANGES_MAX)
			return HTTP_RANGE_NONE;
		if (is == HTTP_RANGE_UNSATISFIABLE)
			continue;
		ranges->part[ranges->count++] = part;
		join(ranges, ranges->count - 1);
	}
	if (ranges->count == 0)
		return asked > 0 ? HTTP_RANGE_UNSATISFIABLE : HTTP_RANGE_NONE;
	return ranges->count == 1 ? HTTP_RANGE_ONE : HTTP_RANGE_MANY;
}
