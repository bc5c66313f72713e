/* SPDX-License-Identifier: MIT */
/*
 * query.c: parameters are compared as they are: those that sws knows need no escapes.
 */
#include <string.h>
#include <strings.h>

#include "http/query.h"

bool
http_query_is(const char *query, size_t len, const char *name, const char *value)
{
	const char *p = query, *end = query + len;
	size_t name_len = strlen(name), value_len = strlen(value);

	while (p < end) {
		const char *and = memchr(p + 1, '&', (size_t)(end - p - 1));
		const char *to = and != NULL ? and : end;

		p++; /* '?' or '&' */
		if ((size_t)(to - p) > name_len && memcmp(p, name, name_len) == 0
		    && p[name_len] == '=')
			return (size_t)(to - p) == name_len + 1 + value_len
			    && memcmp(p + name_len + 1, value, value_len) == 0;
		p = to;
	}
	return false;
}

/* The weight of a media range in thousandths; malformed parameters do not count. */
static int
weight(const char *p, const char *end)
{
	int n = 1000;

	while ((p = memchr(p, ';', (size_t)(end - p))) != NULL) {
		for (p++; p < end && (*p == ' ' || *p == '\t'); p++)
			;
		if (end - p < 3 || (*p | 0x20) != 'q' || p[1] != '=')
			continue;
		p += 2;
		n = *p == '1' ? 1000 : 0;
		if (*p == '0' && end - p > 2 && p[1] == '.')
			for (int i = 2, digit = 100; i < end - p && digit > 0; i++, digit /= 10)
				n += p[i] >= '0' && p[i] <= '9' ? (p[i] - '0') * digit : 0;
		return n;
	}
	return n;
}

static bool
is_type(const char *p, const char *end, const char *type)
{
	size_t len = strlen(type);

	return (size_t)(end - p) >= len && strncasecmp(p, type, len) == 0
	    && (p + len == end || strchr("; \t", p[len]) != NULL);
}

bool
http_accept_json(const char *value, size_t len)
{
	const char *p = value, *end = value + len;
	int json = 0, html = 0;

	while (p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		const char *to = comma != NULL ? comma : end;

		while (p < to && (*p == ' ' || *p == '\t'))
			p++;
		if (is_type(p, to, "application/json"))
			json = weight(p, to);
		else if (is_type(p, to, "text/html") || is_type(p, to, "*/*"))
			html = weight(p, to) > html ? weight(p, to) : html;
		p = to + 1;
	}
	return json > html;
}
