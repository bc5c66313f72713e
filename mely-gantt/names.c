/* SPDX-License-Identifier: MIT */
/*
 * names.c: see names.h. Open addressing, at most half full.
 */
#include "names.h"

#include <stdlib.h>
#include <string.h>

static uint32_t
hash(const char *text)
{
	uint32_t h = 2166136261u;

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h ^ h >> 15;
}

static int
grow(struct gantt_names *names)
{
	uint32_t slots = names->slots == 0 ? 64 : names->slots * 2;
	uint32_t room = slots / 2;
	uint32_t *slot = calloc(slots, sizeof *slot);
	char **text = realloc(names->text, room * sizeof *text);

	if (text != NULL)
		names->text = text;
	if (slot == NULL || text == NULL) {
		free(slot);
		return -1;
	}
	for (uint32_t i = 0; i < names->count; i++) {
		uint32_t at = hash(text[i]) & (slots - 1);

		while (slot[at] != 0)
			at = (at + 1) & (slots - 1);
		slot[at] = i + 1;
	}
	free(names->slot);
	names->slot = slot;
	names->slots = slots;
	names->room = room;
	return 0;
}

uint32_t
gantt_names_number(struct gantt_names *names, const char *text)
{
	uint32_t at;

	if (names->count == names->room && grow(names) != 0)
		return GANTT_NO_NAME;
	at = hash(text) & (names->slots - 1);
	while (names->slot[at] != 0) {
		if (strcmp(names->text[names->slot[at] - 1], text) == 0)
			return names->slot[at] - 1;
		at = (at + 1) & (names->slots - 1);
	}
	names->text[names->count] = strdup(text);
	if (names->text[names->count] == NULL)
		return GANTT_NO_NAME;
	names->slot[at] = ++names->count;
	return names->count - 1;
}

void
gantt_names_free(struct gantt_names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free(names->text[i]);
	free(names->text);
	free(names->slot);
	memset(names, 0, sizeof *names);
}
