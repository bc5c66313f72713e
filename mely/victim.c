/* SPDX-License-Identifier: MIT */
/*
 * victim.c: whom to rob, and of what; see victim.h. A color that weighs more than a steal costs is
 * worthy (paper, section 3.2; stealq.h), and the heaviest go first. Where there is none, a victim
 * is worth it when what waits there, at the usual time of its batches, is more than a color's way
 * to another core and back costs, or when something has been waiting behind a busy core for a
 * while; the price of a wake-up is set against the same.
 */
#include "clock.h"
#include "victim.h"
#include "weight.h"

enum {
	/* Three times a sleeping thread's way back to work, of the order of what microbench/wake
	 * shows on a virtual machine: for less the core itself is done before help comes. */
	WAKEUP_NS = 100000,
	MOVE_NS = 30000,   /* the steal, cold caches, and descriptors that are elsewhere */
	BATCH_NS_UNKNOWN = 1000,
	PINNED_SKIPPED_MAX = 16,
	AVERAGE_SHIFT = 4,
	STEAL_NS_MIN = 100,    /* a preempted steal must not ... */
	STEAL_NS_MAX = 20000   /* ... keep everybody from the next */
};

/* How long n color-queues of core will keep it, by its usual batches. */
static uint64_t
backlog_ns(const struct melyint_core *core, uint32_t n)
{
	/* relaxed: a hint, written by its owner */
	uint32_t batch_ns = MELY_LOAD(&core->batch_ns, relaxed);

	return (uint64_t)n * (batch_ns != 0 ? batch_ns : BATCH_NS_UNKNOWN);
}

void
melyint_victim_price(struct melyint_core *core)
{
	struct mely_runtime *rt = core->rt;
	/* relaxed, all: switches and measurements */
	unsigned heuristics = MELY_LOAD(&rt->heuristics, relaxed);
	uint64_t worth_min = UINT64_MAX;

	if (rt->cores_count == 1) {
		worth_min = UINT64_MAX;
	} else if (heuristics & MELY_STEAL_TIME_LEFT) {
		unsigned nearest = core->distance[core->victims[0]];

		worth_min = melyint_weight_from_ns(MELY_LOAD(&rt->steal_ns[nearest], relaxed));
	} else if (heuristics & MELY_STEAL_PENALTY) {
		worth_min = 0;
	}
	MELY_STORE(&core->worth_min, worth_min, relaxed);
}

void
melyint_victim_paid(struct melyint_core *thief, const struct melyint_core *victim, uint64_t ns)
{
	_Atomic uint32_t *price = &thief->rt->steal_ns[thief->distance[victim->index]];
	/* relaxed, both: a measurement; one of two at the same time may be lost */
	uint32_t average = MELY_LOAD(price, relaxed);

	ns = ns < STEAL_NS_MIN ? STEAL_NS_MIN : ns > STEAL_NS_MAX ? STEAL_NS_MAX : ns;
	average = average - (average >> AVERAGE_SHIFT) + (uint32_t)(ns >> AVERAGE_SHIFT);
	MELY_STORE(price, average, relaxed);
}

void
melyint_core_weigh_slow(struct melyint_core *core, struct mely_color *color)
{
	uint64_t worth = melyint_color_worth(color);
	uint64_t worth_min = MELY_LOAD(&core->worth_min, relaxed); /* a hint */
	uint64_t cost = worth_min;

	if (worth <= worth_min) {
		melyint_core_unworthy(core, color);
		return;
	}
	if (cost == 0) /* by penalty alone: any will do, but heavy ones rather */
		cost = melyint_weight_from_ns(STEAL_NS_MIN);
	melyint_stealq_put(&core->worthy_colors, color, worth, cost);
	MELY_STORE(&core->worthy, core->worthy_colors.length, relaxed); /* under the lock */
}

bool
melyint_victim_worthy(struct melyint_core *thief, struct melyint_core *victim,
    uint64_t now_ticks)
{
	struct melyint_glance *glance = &thief->glances[victim->index];
	/* relaxed, both: hints, written under the victim's lock */
	uint32_t stealable = MELY_LOAD(&victim->stealable, relaxed);
	uint32_t dry = MELY_LOAD(&victim->dry, relaxed);

	if (stealable == 0)
		return false;
	/* relaxed, both: a hint written under the victim's lock, and a switch */
	if (MELY_LOAD(&victim->worthy, relaxed) != 0 ||
	    !(MELY_LOAD(&thief->rt->heuristics, relaxed) & MELY_STEAL_TIME_LEFT))
		return true;
	if (stealable >= 2 && backlog_ns(victim, stealable) >= MOVE_NS)
		return true;
	/* Little waits. If the victim has never been without waiting work since an earlier look, it
	 * has more than it can do: two colors that keep it busy, or a handler that does not end.
	 * A pair that only plays ping-pong leaves nothing waiting at every hop, and stays. */
	if (dry != glance->dry || glance->ticks == 0) {
		glance->dry = dry;
		glance->ticks = now_ticks;
		return false;
	}
	return now_ticks - glance->ticks >= thief->rt->aged_ticks;
}

struct mely_color *
melyint_victim_choose(struct melyint_core *victim)
{
	uint32_t levels = victim->ready.levels;
	struct mely_color *best = melyint_stealq_best(&victim->worthy_colors);

	if (best != NULL)
		return best;
	/* The highest priority first; in it the color that has waited longest. */
	while (levels != 0) {
		unsigned level = 31u - (unsigned)__builtin_clz(levels);
		struct mely_color *first = victim->ready.first[level], *color = first;
		int skipped;

		for (skipped = 0; skipped < PINNED_SKIPPED_MAX; skipped++) {
			/* relaxed: flags are under the victim's lock, which is held */
			if (!(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_PINNED))
				return color;
			color = color->_next;
			if (color == first)
				break;
		}
		levels &= ~(1u << level);
	}
	return NULL;
}

bool
melyint_victim_pays_wakeup(const struct melyint_core *core, uint32_t n)
{
	return n >= 2 && backlog_ns(core, n) >= WAKEUP_NS;
}
