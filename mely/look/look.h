/* SPDX-License-Identifier: MIT */
/*
 * look.h: the colors that have events, seen by a thread that is not their core.
 *
 * NOTE(look)
 *   A. A core's lock keeps everything that waits there in place. It is held for a few microseconds
 *      at a time, until so many colors or events have been touched; between two holds the walk
 *      keeps its place in the core-queue by a cursor, which whoever unlinks what it stands on moves
 *      one on. So there is one walk at a time (rt->walks.lock), and to have none costs an unlink a
 *      comparison.
 *   B. Colors go to the end of the queue while the walk goes on. It ends after as many as there
 *      were at its beginning, and knows those that it has seen. One may be missed, none is there
 *      twice.
 *   C. The running color is in no queue. core->shown.running is set under this core's lock or, by a
 *      steal, a victim's, but set back under this one's alone: so who sees a color there may
 *      follow it until the lock is dropped.
 *   D. What the core has taken into its batch nobody else may walk. So a look is announced first
 *      (rt->walks.begun), and a core that ticks, which it does every millisecond unless its
 *      handler keeps it, counts what is left of its batch and says so. The look waits for that a
 *      little. Without an answer more may wait than is seen.
 * No color is touched without the lock; what is copied out is read later.
 */
#ifndef MELYINT_LOOK_LOOK_H
#define MELYINT_LOOK_LOOK_H

#include "core/core.h"

enum {
	MELYINT_LOOK_COLORS = 16,  /* under one hold of a lock */
	MELYINT_LOOK_EVENTS = MELY_STATS_LENGTH_MAX
};

/* What is seen of a color. */
struct melyint_sight {
	struct mely_stats_color row;
	const struct mely_color *color; /* not to be followed */
	uint64_t stamp_ticks;           /* of the first event that waits; 0: none does */
	uint32_t touched;               /* events that had to be touched for it */
};

/* All cores' colors: the first ones by the order asked for. */
struct melyint_look {
	bool by_age;
	uint32_t room;                 /* so many are kept */
	uint32_t count;
	struct melyint_sight *sights;  /* [room] */
	uint64_t now_ticks;            /* ages are those of this moment */
	uint64_t found;                /* those that were not kept included */
	uint64_t *events;              /* of each core, may be NULL */
};

/* Walk all cores' queues; then the colors kept are in order. 0 or -ENOMEM. Any thread but one that
 * holds a lock of a core. look->sights is for free(), also after an error. */
int melyint_look(struct mely_runtime *rt, struct melyint_look *look);

/* ---- what each scheduler does in its own way: look_queue.c, fifo/look.c ------------------ */

/* Under core->lock: put the cursor on the first that waits. At most so many steps lie ahead. */
uint32_t melyint_look_begin(struct melyint_core *core);

/* Under core->lock: the color under the cursor, which moves on. False: the walk is over. */
bool melyint_look_next(struct melyint_core *core, struct melyint_sight *sight);

/* Owner, between a batch's last event and its end: D of NOTE(look). */
void melyint_look_answer(struct melyint_core *core);

/* Under core->lock: what waits of a color of this core that runs. */
void melyint_look_running(struct melyint_core *core, struct mely_color *color,
    struct melyint_sight *sight);

/* Under core->lock: what is the same for all. first: the event that is next, or NULL. */
void melyint_look_color(struct melyint_core *core, const struct mely_color *color,
    const struct mely_event *first, struct melyint_sight *sight);

#endif
