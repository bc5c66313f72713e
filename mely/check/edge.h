/* SPDX-License-Identifier: MIT */
/*
 * edge.h: edges of the color checker: "what this fiber has done so far comes before what that one
 * does from now on". An edge is a word that ThreadSanitizer sees as an atomic: one fiber stores to
 * it with release, the other loads it with acquire. An edge is found by an address of the runtime's
 * or the program's (its key); the memory at that address is not touched.
 *
 * Any thread, on the runtime's fiber of its thread.
 */
#ifndef MELYINT_CHECK_EDGE_H
#define MELYINT_CHECK_EDGE_H

#include <stdbool.h>

struct melyint_edge {
	long word;
	const void *key;
	struct melyint_edge *next; /* of its bucket, or spare */
};

/* The edge of key comes from fiber alone. NULL: remove the edge. */
void melyint_edge_set(const void *key, void *fiber);
/* The edge of key also comes from fiber. */
void melyint_edge_add(const void *key, void *fiber);
/* Take the edge of key out of the table. NULL: there is none. */
struct melyint_edge *melyint_edge_take(const void *key);
/* fiber comes after the edge, which may be NULL. */
void melyint_edge_follow(const struct melyint_edge *edge, void *fiber);
/* fiber comes after the edge of key, which stays in the table. */
void melyint_edge_follow_key(const void *key, void *fiber);
/* Give a taken edge back. */
void melyint_edge_free(struct melyint_edge *edge);

/* Edges by a word that the caller keeps. */
void melyint_edge_release(long *word, void *fiber);
void melyint_edge_acquire(const long *word, void *fiber);

/* Keys of edges: an event's key is its address; the others are addresses with an offset that no
 * event has. */
enum melyint_edge_key {
	MELYINT_KEY_RUN,       /* of a runtime: what came before the run; followed by fiber.c */
	MELYINT_KEY_STARTED,   /* of a watcher: what came before its start */
	MELYINT_KEY_OVER,      /* of a watcher: what its handler has done */
	MELYINT_KEY_WORKED,    /* of a runtime: what helpers have done for it */
	MELYINT_KEY_PASSED,    /* of a runtime: what mely_run_once_for has run */
	MELYINT_KEY_RELEASED   /* of a color: what came before its release */
};

#define MELYINT_KEY(object, key) ((const char *)(object) + (key))

#endif
