/* SPDX-License-Identifier: MIT */
/*
 * texts.h: a list of texts: the values of a setting that can be given many times.
 */
#ifndef SWS_BASE_TEXTS_H
#define SWS_BASE_TEXTS_H

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"

struct sws_texts {
	const char **text;
	int count;
	int room;
	const void *owner;       /**< names the giver: values of another replace them */
};

/**
 * Add a text, which must last as long as the list. The values of another owner are replaced, not
 * freed. False: no memory.
 */
static inline bool
sws_texts_add(struct sws_texts *texts, const char *text, const void *owner,
    struct sws_arena *arena)
{
	if (texts->owner != owner)
		*texts = (struct sws_texts){.owner = owner};
	if (texts->count == texts->room) {
		int room = texts->room > 0 ? 2 * texts->room : 8;
		const char **more = sws_arena_alloc(arena, (size_t)room * sizeof *more);

		if (more == NULL)
			return false;
		if (texts->count > 0)
			memcpy(more, texts->text, (size_t)texts->count * sizeof *more);
		texts->text = more;
		texts->room = room;
	}
	texts->text[texts->count++] = text;
	return true;
}

/** Do two lists have the same texts? */
static inline bool
sws_texts_equal(const struct sws_texts *a, const struct sws_texts *b)
{
	for (int i = 0; i < a->count; i++)
		if (i >= b->count || strcmp(a->text[i], b->text[i]) != 0)
			return false;
	return a->count == b->count;
}

#endif
