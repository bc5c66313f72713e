/* SPDX-License-Identifier: MIT */
/*
 * arena.c: a list of pieces, one for each thing: what is read once at the start or at a reload
 * needs no better.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

struct sws_arena_piece {
	struct sws_arena_piece *next;
	_Alignas(max_align_t) char bytes[];
};

void *
sws_arena_alloc(struct sws_arena *arena, size_t size)
{
	struct sws_arena_piece *piece = calloc(1, sizeof *piece + size);

	if (piece == NULL)
		return NULL;
	piece->next = arena->pieces;
	arena->pieces = piece;
	return piece->bytes;
}

char *
sws_arena_copy(struct sws_arena *arena, const char *text, size_t len)
{
	char *copy = sws_arena_alloc(arena, len + 1);

	if (copy != NULL)
		memcpy(copy, text, len);
	return copy;
}

void
sws_arena_free(struct sws_arena *arena)
{
	while (arena->pieces != NULL) {
		struct sws_arena_piece *piece = arena->pieces;

		arena->pieces = piece->next;
		free(piece);
	}
}
