/* SPDX-License-Identifier: MIT */
/*
 * request.c: parse a request of the live socket.
 */
#include <errno.h>
#include <string.h>

#include "look/live/request.h"

/* A line without its newline. */
struct line {
	const char *at, *end;
};

/* Take the next word; false: there is none. Single blanks separate words. */
static bool
word(struct line *line, struct line *taken)
{
	const char *blank;

	if (line->at == line->end)
		return false;
	blank = memchr(line->at, ' ', (size_t)(line->end - line->at));
	taken->at = line->at;
	taken->end = blank != NULL ? blank : line->end;
	line->at = blank != NULL ? blank + 1 : line->end;
	return taken->at != taken->end;
}

static bool
is(const struct line *taken, const char *text)
{
	size_t length = (size_t)(taken->end - taken->at);

	return strlen(text) == length && memcmp(taken->at, text, length) == 0;
}

static bool
number(const struct line *taken, uint32_t most, uint32_t *value)
{
	const char *at;

	*value = 0;
	for (at = taken->at; at != taken->end; at++) {
		if (*at < '0' || *at > '9')
			return false;
		*value = *value * 10 + (uint32_t)(*at - '0');
		if (*value > most)
			return false;
	}
	return taken->at != taken->end;
}

/* The rest of a stats or json request. */
static bool
colors(struct line *line, struct melyint_request *request)
{
	struct line option, value, order;

	request->oldest = true;
	if (line->at == line->end)
		return true;
	if (!word(line, &option) || !is(&option, "colors") || !word(line, &value) ||
	    !number(&value, MELYINT_COLORS_MOST, &request->colors))
		return false;
	if (line->at == line->end)
		return true;
	request->oldest = false;
	return word(line, &order) && is(&order, "longest") && line->at == line->end;
}

static bool
understood(struct line *line, struct melyint_request *request)
{
	static const struct {
		const char *name;
		enum melyint_request_kind kind;
		bool colors;
	} known[] = {
		{"stats", MELYINT_REQUEST_STATS, true},
		{"json", MELYINT_REQUEST_JSON, true},
		{"prometheus", MELYINT_REQUEST_PROMETHEUS, false},
		{"dump", MELYINT_REQUEST_DUMP, false},
		{"version", MELYINT_REQUEST_VERSION, false},
	};
	struct line verb;
	size_t i;

	/* Refuse a blank at the end. */
	if (line->at == line->end || line->end[-1] == ' ' || !word(line, &verb))
		return false;
	for (i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (is(&verb, known[i].name)) {
			request->kind = known[i].kind;
			return known[i].colors ? colors(line, request) : line->at == line->end;
		}
	}
	return false;
}

int
melyint_request_parse(const char *bytes, size_t length, struct melyint_request *request)
{
	size_t most = length < MELYINT_REQUEST_MAX ? length : MELYINT_REQUEST_MAX;
	const char *newline = most > 0 ? memchr(bytes, '\n', most) : NULL;
	struct line line;

	memset(request, 0, sizeof *request);
	if (newline == NULL)
		return length >= MELYINT_REQUEST_MAX ? -EINVAL : 0;
	line.at = bytes;
	line.end = newline;
	if (!understood(&line, request))
		return -EINVAL;
	return (int)(newline - bytes) + 1;
}
