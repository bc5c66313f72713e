/* SPDX-License-Identifier: MIT */
/*
 * arena.h: memory for many small things that end together. One thread at a time.
 */
#ifndef SWS_BASE_ARENA_H
#define SWS_BASE_ARENA_H

#include <stddef.h>

struct sws_arena_piece;

/** Empty when it is zero. */
struct sws_arena {
	struct sws_arena_piece *pieces;
};

/** Zeroed memory, aligned for any type; NULL: none left. */
void *sws_arena_alloc(struct sws_arena *arena, size_t size);

/** A terminated copy of len bytes; NULL: no memory. */
char *sws_arena_copy(struct sws_arena *arena, const char *text, size_t len);

/** Free all of it. */
void sws_arena_free(struct sws_arena *arena);

#endif
