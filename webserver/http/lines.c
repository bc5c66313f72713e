/* SPDX-License-Identifier: MIT */
/*
 * lines.c: adding to lines of fields.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http/lines.h"

static bool
is_own(const char *name, size_t len)
{
	static const char *const names[] = {
		"Accept-Ranges", "Connection", "Content-Encoding", "Content-Length",
		"Content-Range", "Content-Type", "Date", "ETag", "Keep-Alive", "Last-Modified",
		"Location", "Server", "Trailer", "Transfer-Encoding", "Upgrade", "Vary"
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i]) == len && strncasecmp(names[i], name, len) == 0)
			return true;
	return false;
}

/* Take the line of the field with this name out of lines. */
static void
remove_line(char *lines, const char *name, size_t len)
{
	char *line = lines;

	while (*line != '\0') {
		char *next = strchr(line, '\n') + 1;

		if (strncasecmp(line, name, len) == 0 && line[len] == ':')
			memmove(line, next, strlen(next) + 1);
		else
			line = next;
	}
}

enum http_lines_error
http_lines_add(char *lines, size_t room, const char *line)
{
	size_t len = strspn(line, "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz"), used;
	const char *value = line + len + 1, *p;

	for (p = line; (unsigned char)*p >= 0x20 && *p != 0x7f; p++)
		;
	if (len == 0 || line[len] != ':' || *p != '\0')
		return HTTP_LINES_FORM;
	if (is_own(line, len))
		return HTTP_LINES_OWN;
	while (*value == ' ')
		value++;
	remove_line(lines, line, len);
	if (*value == '\0')
		return HTTP_LINES_FINE;
	used = strlen(lines);
	if ((size_t)snprintf(lines + used, room - used, "%.*s: %s\r\n", (int)len, line, value)
	    < room - used)
		return HTTP_LINES_FINE;
	lines[used] = '\0';
	return HTTP_LINES_FULL;
}
