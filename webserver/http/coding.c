/* SPDX-License-Identifier: MIT */
/*
 * coding.c: weights of content codings.
 */
#include <string.h>
#include <strings.h>

#include "base/assertion.h"
#include "http/coding.h"

#define NONE (-1)

static const struct {
	const char *name, *suffix;
} codings[HTTP_CODINGS] = {
	[HTTP_IDENTITY] = {"identity", ""},
	[HTTP_ZSTD] = {"zstd", ".zst"},
	[HTTP_BR] = {"br", ".br"},
	[HTTP_GZIP] = {"gzip", ".gz"},
};

const char *
http_coding_name(enum http_coding coding)
{
	SWS_ASSERT(coding < HTTP_CODINGS);
	return codings[coding].name;
}

const char *
http_coding_suffix(enum http_coding coding)
{
	SWS_ASSERT(coding < HTTP_CODINGS);
	return codings[coding].suffix;
}

void
http_accepted_init(struct http_accepted *accepted)
{
	for (int i = 0; i < HTTP_CODINGS; i++)
		accepted->weight[i] = NONE;
	accepted->other = NONE;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The weight at p, "0.5" say, in thousandths; NONE: it is none. */
static int
weight(const char *p, const char *end)
{
	int n = 0, digit = 1000;

	if (p == end || (*p != '0' && *p != '1'))
		return NONE;
	n = (*p++ - '0') * 1000;
	if (p < end && *p == '.')
		for (p++; p < end && (unsigned char)(*p - '0') <= 9 && digit > 1; p++) {
			digit /= 10;
			n += (*p - '0') * digit;
		}
	return p == end && n <= 1000 ? n : NONE;
}

/* The weight in the parameters of an element, which begin with ';' or are empty. */
static int
weight_of(const char *p, const char *end)
{
	if (p == end)
		return 1000;
	for (p++; p < end && is_blank(*p); p++)
		;
	if (end - p < 3 || (*p | 0x20) != 'q' || p[1] != '=')
		return NONE;
	return weight(p + 2, end);
}

/* One element of the list, without blanks around it. */
static void
add(struct http_accepted *accepted, const char *p, const char *end)
{
	const char *semicolon = memchr(p, ';', (size_t)(end - p)), *name_end;
	size_t len;
	int w;

	name_end = semicolon != NULL ? semicolon : end;
	w = weight_of(name_end, end);
	while (name_end > p && is_blank(name_end[-1]))
		name_end--;
	len = (size_t)(name_end - p);
	if (w == NONE || len == 0)
		return;
	if (len == 1 && *p == '*')
		accepted->other = (int16_t)w;
	/* RFC 9110, 8.4.1.3: an old name of gzip. */
	if (len == 6 && strncasecmp(p, "x-gzip", 6) == 0)
		accepted->weight[HTTP_GZIP] = (int16_t)w;
	for (int i = 0; i < HTTP_CODINGS; i++)
		if (len == strlen(codings[i].name) && strncasecmp(p, codings[i].name, len) == 0)
			accepted->weight[i] = (int16_t)w;
}

void
http_accepted_add(struct http_accepted *accepted, const char *value, size_t len)
{
	const char *p = value, *end = value + len;

	while (p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		const char *to = comma != NULL ? comma : end, *next = to + 1;

		while (p < to && is_blank(*p))
			p++;
		while (to > p && is_blank(to[-1]))
			to--;
		add(accepted, p, to);
		if (comma == NULL)
			return;
		p = next;
	}
}

/* Identity is acceptable unless it is excluded, and the least of all unless it has a weight. */
static int
weight_for(const struct http_accepted *accepted, enum http_coding coding)
{
	if (accepted->weight[coding] != NONE)
		return accepted->weight[coding];
	if (coding == HTTP_IDENTITY)
		return accepted->other == 0 ? 0 : 1;
	return accepted->other != NONE ? accepted->other : 0;
}

enum http_coding
http_coding_choose(const struct http_accepted *accepted, const uint8_t *order)
{
	enum http_coding best = HTTP_IDENTITY;
	int most = 0;

	for (; *order != HTTP_IDENTITY; order++) {
		int w = weight_for(accepted, *order);

		if (w > most) {
			most = w;
			best = *order;
		}
	}
	return most >= weight_for(accepted, HTTP_IDENTITY) ? best : HTTP_IDENTITY;
}
