/* SPDX-License-Identifier: MIT */
/*
 * bycolor.h: the watchers, timers and work of each color, as an intrusive list for each color that
 * has any. All under the lock of the slots. NOTE(by color) in bycolor.c.
 */
#ifndef MELYINT_IO_BYCOLOR_H
#define MELYINT_IO_BYCOLOR_H

#include <stdbool.h>
#include <stdint.h>
#include <mely/mely.h>

/* A record's links; also the place of a walk in the list. */
struct melyint_mates {
	struct melyint_mates *next, *prev; /* of the same color; NULL at the ends */
	struct mely_color *color;
	bool place;                 /* of a walk, no record */
	/* of the first of its list */
	struct melyint_mates *chain;/* the first of another list in the same bucket */
	struct mely_event *ended;   /* posted when the list is empty; NULL: none */
};

struct melyint_bycolor {
	struct melyint_mates **buckets; /* mask + 1 of them */
	uint32_t mask;
	uint32_t lists;
	struct melyint_mates *only; /* the one bucket of a table that has not grown yet */
};

void melyint_bycolor_init(struct melyint_bycolor *table);
/* Lists that are not empty are forgotten. */
void melyint_bycolor_fini(struct melyint_bycolor *table);
/* The first of the color's list; NULL: it is empty. */
struct melyint_mates *melyint_bycolor_first(struct melyint_bycolor *table,
    const struct mely_color *color);
void melyint_bycolor_add(struct melyint_bycolor *table, struct melyint_mates *mates,
    struct mely_color *color);
/* Returns the event to post when the list is empty now, or NULL. */
struct mely_event *melyint_bycolor_remove(struct melyint_bycolor *table,
    struct melyint_mates *mates);
/* Enter a walk's place behind `mates`. */
void melyint_bycolor_place(struct melyint_mates *place, struct melyint_mates *mates);

#endif
