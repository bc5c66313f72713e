/* SPDX-License-Identifier: MIT */
/*
 * find.c: searching a head line by line.
 */
#include <string.h>
#include <strings.h>

#include "base/assertion.h"
#include "http/find.h"

/* The line at *at, without its end; *at becomes the next one. False: there is none. */
static bool
next_line(const char *head, size_t len, size_t *at, struct http_text *line)
{
	const char *end;

	SWS_ASSERT(*at <= len);
	if (*at == len)
		return false;
	line->at = head + *at;
	end = memchr(line->at, '\n', len - *at);
	line->len = end != NULL ? (size_t)(end - line->at) : len - *at;
	*at += line->len + (end != NULL);
	if (line->len > 0 && line->at[line->len - 1] == '\r')
		line->len--;
	SWS_ASSERT(*at <= len);
	return true;
}

struct http_text
http_find_request_line(const char *head, size_t len)
{
	struct http_text line = {head, 0};
	size_t at = 0;

	while (next_line(head, len, &at, &line) && line.len == 0)
		;
	return line;
}

struct http_line_parts
http_split_request_line(struct http_text line)
{
	struct http_line_parts parts = {line, {"", 0}, {"", 0}};
	const char *space, *last, *end;

	/* An empty line may be nowhere. */
	if (line.len == 0 || (space = memchr(line.at, ' ', line.len)) == NULL)
		return parts;
	last = memrchr(line.at, ' ', line.len);
	end = line.at + line.len;
	parts.method.len = (size_t)(space - line.at);
	if (end - last > 5 && memcmp(last + 1, "HTTP/", 5) == 0)
		parts.protocol = (struct http_text){last + 1, (size_t)(end - last - 1)};
	else
		last = end;
	if (last > space)
		parts.target = (struct http_text){space + 1, (size_t)(last - space - 1)};
	return parts;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool
http_find_field(const char *head, size_t len, const char *name, size_t *at,
    struct http_text *value)
{
	size_t name_len = strlen(name);
	struct http_text line;

	/* The request line is not a field. */
	if (*at == 0)
		while (next_line(head, len, at, &line) && line.len == 0)
			;
	while (next_line(head, len, at, &line) && line.len > 0) {
		if (line.len <= name_len || line.at[name_len] != ':'
		    || strncasecmp(line.at, name, name_len) != 0)
			continue;
		value->at = line.at + name_len + 1;
		value->len = line.len - name_len - 1;
		for (; value->len > 0 && is_blank(value->at[0]); value->at++)
			value->len--;
		while (value->len > 0 && is_blank(value->at[value->len - 1]))
			value->len--;
		return true;
	}
	*at = len;
	return false;
}
