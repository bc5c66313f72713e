/* SPDX-License-Identifier: MIT */
/*
 * fields.c: cutting a head in lines.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/assertion.h"
#include "site/fields.h"

/* Does this line belong to one connection, or to one moment? */
static bool
is_passing(const char *name, size_t len)
{
	static const char *const names[] = {"Date", "Connection", "Transfer-Encoding"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i]) == len && strncasecmp(names[i], name, len) == 0)
			return true;
	return false;
}

/* The end of the line at p, where its CR is. */
static const char *
line_end(const char *p, const char *end)
{
	const char *cr = memchr(p, '\r', (size_t)(end - p));

	SWS_ASSERT(cr != NULL && cr + 1 < end && cr[1] == '\n');
	return cr;
}

/* How many lines there are at most, and the bytes of their names. */
static unsigned
measure(const char *p, const char *end, size_t *names_len)
{
	unsigned count = 0;

	*names_len = 0;
	for (const char *next; *p != '\r'; p = next, count++) {
		const char *stop = line_end(p, end);
		const char *colon = memchr(p, ':', (size_t)(stop - p));

		SWS_ASSERT(colon != NULL && colon > p);
		*names_len += (size_t)(colon - p);
		next = stop + 2;
	}
	return count;
}

struct sws_fields *
sws_fields_new(const char *head, size_t len)
{
	const char *end = head + len, *first = line_end(head, end) + 2;
	size_t names_len, size;
	unsigned most = measure(first, end, &names_len);
	struct sws_fields *fields;
	char *name;

	size = sizeof *fields + most * sizeof fields->field[0] + names_len;
	fields = malloc(size);
	if (fields == NULL)
		return NULL;
	fields->size = size;
	fields->count = 0;
	name = (char *)&fields->field[most];
	for (const char *p = first; *p != '\r'; p = line_end(p, end) + 2) {
		const char *stop = line_end(p, end);
		const char *colon = memchr(p, ':', (size_t)(stop - p)), *value = colon + 1;
		size_t name_len = (size_t)(colon - p);

		if (is_passing(p, name_len))
			continue;
		while (value < stop && *value == ' ')
			value++;
		for (size_t i = 0; i < name_len; i++)
			name[i] = (char)tolower((unsigned char)p[i]);
		SWS_ASSERT(fields->count < most);
		fields->field[fields->count++] = (struct sws_field){name, value,
			(uint16_t)name_len, (uint16_t)(stop - value), (uint16_t)(p - head)};
		name += name_len;
	}
	return fields;
}
