/* SPDX-License-Identifier: MIT */
/*
 * answer.c: see answer.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <mely/stats.h>

#include "look/live/answer.h"
#include "look/live/dump.h"

static int
add(struct melyint_text *text, const void *bytes, size_t length)
{
	size_t at;

	if (length > MELYINT_ANSWER_MOST)
		return -EMSGSIZE;
	at = melyint_text_reserve(text, length, 1);
	if (text->failed)
		return -ENOMEM;
	memcpy(text->data + at, bytes, length);
	return 0;
}

static int
made_of(struct mely_runtime *rt, const struct melyint_request *request, struct melyint_text *text)
{
	struct mely_stats *stats;
	size_t length = 0;
	char *made = NULL;
	int error = mely_stats_take(rt, request->oldest ? MELY_STATS_BY_AGE : 0, request->colors,
	    &stats);

	if (error != 0)
		return error;
	if (request->kind == MELYINT_REQUEST_STATS)
		error = add(text, stats, stats->size);
	else if (request->kind == MELYINT_REQUEST_JSON)
		error = mely_stats_json(stats, &made, &length);
	else
		error = mely_stats_prometheus(stats, &made, &length);
	mely_stats_free(stats);
	if (error == 0 && made != NULL)
		error = add(text, made, length);
	free(made);
	return error;
}

int
melyint_answer(struct mely_runtime *rt, const struct melyint_request *request,
    struct melyint_text *text)
{
	switch (request->kind) {
	case MELYINT_REQUEST_STATS:
	case MELYINT_REQUEST_JSON:
	case MELYINT_REQUEST_PROMETHEUS:
		return made_of(rt, request, text);
	case MELYINT_REQUEST_DUMP:
		return melyint_dump_text(rt, text);
	default:
		melyint_text_add(text, "%s\n", mely_version());
		return 0;
	}
}
