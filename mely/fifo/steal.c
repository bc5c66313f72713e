/* SPDX-License-Identifier: MIT */
/*
 * steal.c: libasync-smp's stealing, figure 2 of the Mely paper, instead of sched/steal.c and
 * sched/victim.c.
 * Thief's thread only.
 *
 * NOTE(figure2)
 *   A. The core set: the core with the most events first, then the successive core numbers. The
 *      thief counts the events without locks, then locks each core that it examines.
 *   B. can_be_stolen: its queue holds events of two colors at least.
 *   C. choose_color_to_steal: scan from the front for the first color that does not run there and
 *      has less than half of the queue's events. The thief skips pinned colors.
 *   D. construct_event_set: scan from the front and take the color's events out, up to the color's
 *      count; to the end of the queue with MELY_LIBASYNC_SCAN=full.
 *   E. Out of the queue the color is MOVING, with its events on color->_tails, where posts follow
 *      them, and belongs to the thief. migrate: under its own lock the thief appends them to its
 *      FIFO. At no time are two core locks held.
 * The thief does not weigh the cost or the gain of a steal. Whether a sleeping thread is woken to
 * steal is decided by what waits, as in Mely's scheduler: the cores of the original never slept.
 */
#include <stdlib.h>
#include <string.h>

#include "core/worth.h"
#include "base/assert.h"
#include "base/clock.h"
#include "core/hooks.h"
#include "sched/lend.h"
#include "sched/steal.h"
#include "sched/victim.h"
#include "sched/wake.h"

enum {
	WAKEUP_NS = 100000,     /* MELYINT_WAKEUP_NS of core/worth.h */
	EVENT_NS_UNKNOWN = 1000
};

void
melyint_steal_settle(struct mely_runtime *rt)
{
	const char *scan = getenv("MELY_LIBASYNC_SCAN");

	rt->limits.scan_full = scan != NULL && strcmp(scan, "full") == 0;
	if (scan != NULL && *scan != '\0' && !rt->limits.scan_full && strcmp(scan, "count") != 0)
		melyint_say("MELY_LIBASYNC_SCAN=%s: not count or full", scan);
}

/* The number of core's events. Any thread; a hint. */
static uint32_t
pending(const struct melyint_core *core)
{
	return MELY_LOAD(&core->ready.pending, relaxed); /* written under its lock */
}

/* A of NOTE(figure2): the first of the set; the thief itself when no other core has events. */
static int
first_of_set(const struct melyint_core *thief)
{
	const struct mely_runtime *rt = thief->rt;
	uint32_t most = 0;
	int best = thief->index, i;

	for (i = 0; i < rt->cores_count; i++) {
		uint32_t events = pending(&rt->cores[i]);

		if (i != thief->index && events > most) {
			most = events;
			best = i;
		}
	}
	return best;
}

/* B and C of NOTE(figure2). Under the victim's lock. */
static struct mely_color *
choose(const struct melyint_core *victim)
{
	const struct melyint_coreq *q = &victim->ready;
	struct mely_event *ev = q->first;
	uint32_t left;

	MELY_DEBUG_ASSERT(melyint_lock_held(&victim->lock));
	if (q->colors < 2)
		return NULL;
	for (left = q->length; left > 0; left--, ev = ev->_next) {
		/* relaxed, all: under the lock */
		struct mely_color *color = MELY_LOAD(&ev->_color, relaxed);

		MELY_DEBUG_ASSERT(MELY_PEEK(&color->_owner) == victim);
		if (MELY_LOAD(&color->_state, relaxed) != MELYINT_COLOR_RUNNING &&
		    (uint64_t)melyint_fifo_count(color) * 2 < q->length &&
		    !(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_PINNED))
			return color;
	}
	return NULL;
}

/* D and E of NOTE(figure2), the half under the victim's lock. */
static void
take_out(struct melyint_core *thief, struct melyint_core *victim, struct mely_color *color)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&victim->lock) && thief != victim);
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_QUEUED); /* invariant 6 */
	MELY_DEBUG_ASSERT(melyint_self == thief && MELY_PEEK(&thief->hint.moving) == 0);
	melyint_fifo_collect(&victim->ready, color, thief->rt->limits.scan_full);
	melyint_core_count_waiting(victim, color, -1u);
	melyint_color_become(color, MELYINT_COLOR_MOVING);
	/* relaxed: the drain reads it under all locks (drain.c), and we hold the victim's */
	MELY_COUNT(&thief->hint.moving, 1);
	/* release: pairs with the acquire in melyint_color_lock; a thread that locks the thief
	 * finds the color as the victim's lock left it */
	MELY_STORE(&color->_owner, thief, release);
	MELY_STOLEN();
}

/* One try: from the victim's queue to the thief's. */
static bool
migrate(struct melyint_core *thief, struct melyint_core *victim, uint64_t began_ticks)
{
	struct mely_color *color;

	melyint_lock_take(&victim->lock);
	color = choose(victim);
	if (color != NULL)
		take_out(thief, victim, color);
	MELY_DEBUG_ASSERT(melyint_core_counts_agree(victim));
	melyint_lock_drop(&victim->lock);
	if (color == NULL)
		return false;
	if (MELYINT_OBSERVED(steal))
		melyint_observe_steal(thief, victim, color, began_ticks, 0, 1, false);
	melyint_lock_take(&thief->lock);
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_MOVING &&
	    MELY_PEEK(&color->_owner) == thief);
	melyint_core_link(thief, color);
	MELY_COUNT(&thief->hint.moving, -1u);
	MELY_DEBUG_ASSERT(melyint_core_counts_agree(thief));
	melyint_lock_drop(&thief->lock);
	return true;
}

static bool
steal_from(struct melyint_core *thief, struct melyint_core *victim)
{
	struct melyint_counters *c = &thief->counters;
	uint64_t began = melyint_ticks();
	bool won = migrate(thief, victim, began);

	MELY_COUNT(&c->steals_tried, 1);
	MELY_COUNT(&c->steals_tried_at[thief->fixed.distance[victim->index]], 1);
	MELY_COUNT(&c->stealing_ns, melyint_ticks_to_ns(melyint_ticks() - began));
	if (!won) {
		MELY_COUNT(&c->steals_empty, 1);
		return false;
	}
	MELY_COUNT(&c->steals, 1);
	MELY_COUNT(&c->steals_at[thief->fixed.distance[victim->index]], 1);
	return true;
}

bool
melyint_steal_glance(struct melyint_core *thief)
{
	return MELY_LOAD(&thief->rt->switches.stealing, relaxed) != 0 && /* a switch */
	    first_of_set(thief) != thief->index;
}

bool
melyint_steal_glanced(struct melyint_core *thief)
{
	return melyint_steal(thief);
}

bool
melyint_steal(struct melyint_core *thief)
{
	struct mely_runtime *rt = thief->rt;
	int first, i;

	MELY_ASSERT(melyint_self == thief && thief->batch.color == NULL); /* idle */
	if (!melyint_steal_glance(thief))
		return false;
	first = first_of_set(thief);
	for (i = 0; i < rt->cores_count; i++) {
		struct melyint_core *victim = &rt->cores[(first + i) % rt->cores_count];

		if (victim != thief && steal_from(thief, victim)) {
			/* There may be work for another thief. */
			melyint_offer(thief, victim);
			return true;
		}
	}
	return false;
}

/* Only idle cores steal. */
void
melyint_balance(struct melyint_core *core, uint64_t now_ticks)
{
	(void)core, (void)now_ticks;
}

/* No steal has a price here. */
void
melyint_victim_price(struct melyint_core *core)
{
	(void)core;
}

/* Load does not concentrate in the original. */
void
melyint_lend_look(struct melyint_core *core, uint64_t now_ticks)
{
	(void)core, (void)now_ticks;
}

/* Nor does it know stuck cores. */
void
melyint_steal_relieve(struct melyint_core *core, struct melyint_core *stuck)
{
	(void)core, (void)stuck;
}

bool
melyint_victim_pays_wakeup(const struct melyint_core *core, uint32_t n, bool behind)
{
	/* relaxed: a hint, written by its owner */
	uint32_t event_ns = MELY_LOAD(&core->hint.batch_ns, relaxed);

	(void)behind;
	return n >= 2 &&
	    (uint64_t)pending(core) * (event_ns != 0 ? event_ns : EVENT_NS_UNKNOWN) >= WAKEUP_NS;
}
