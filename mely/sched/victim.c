/* SPDX-License-Identifier: MIT */
/*
 * victim.c: which core to steal from, and which color. With the time-left heuristic (paper, section
 * 3.2) a thief takes a color that is worth more than the steal costs, from the highest interval of
 * the victim's stealing-queue; it takes another color only when something has waited behind a busy
 * core for a while. With penalties alone (3.3) it may take any color, the most worthy first; with
 * neither, it takes the color that has waited longest, at once. A wake-up pays by the same measure.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "core/worth.h"
#include "sched/lend.h"
#include "sched/victim.h"

enum {
	BATCH_NS_UNKNOWN = 1000,
	PINNED_SKIPPED_MAX = 16,
	RECHECKED_MAX = 8,
	AVERAGE_SHIFT = 4,
	STEAL_NS_MAX = 20000 /* a preempted steal must not keep thieves from the next */
};

static unsigned
heuristics(const struct mely_runtime *rt)
{
	return MELY_LOAD(&rt->switches.heuristics, relaxed); /* switches */
}

/* ---- the price ------------------------------------------------------------------------------- */

static uint64_t
price_at(const struct mely_runtime *rt, unsigned distance)
{
	MELY_DEBUG_ASSERT(distance < MELY_DISTANCES);
	/* relaxed: a measurement */
	return melyint_weight_from_ns(MELY_LOAD(&rt->steal_ns[distance], relaxed));
}

void
melyint_victim_price(struct melyint_core *core)
{
	const struct mely_runtime *rt = core->rt;
	uint64_t worth_min;

	/* relaxed, both: a switch and a hint */
	if (MELY_LOAD(&rt->switches.weighing, relaxed) == MELYINT_WEIGH_NOT)
		worth_min = UINT64_MAX;
	else if (heuristics(rt) & MELY_STEAL_TIME_LEFT)
		worth_min = price_at(rt, core->fixed.distance[core->fixed.victims[0]]);
	else
		worth_min = 0;
	if (worth_min != MELY_LOAD(&core->hint.worth_min, relaxed))
		MELY_STORE(&core->hint.worth_min, worth_min, relaxed);
}

void
melyint_victim_paid(struct melyint_core *thief, const struct melyint_core *victim, uint64_t ns)
{
	_Atomic uint32_t *price = &thief->rt->steal_ns[thief->fixed.distance[victim->index]];
	/* relaxed, both: a measurement; of two at the same time one may be lost */
	uint32_t average = MELY_LOAD(price, relaxed);

	MELY_DEBUG_ASSERT(thief != victim);
	if (thief->rt->config.steal_ns != 0)
		return; /* fixed */
	/* relaxed: ours. All thieves and posters read the price; it is written as often on many
	 * cores as on eight. */
	if (MELY_LOAD(&thief->counters.steals, relaxed) % thief->rt->limits.share_every != 0)
		return;
	ns = ns < MELYINT_STEAL_NS_MIN ? MELYINT_STEAL_NS_MIN :
	    ns > STEAL_NS_MAX ? STEAL_NS_MAX : ns;
	average = average - (average >> AVERAGE_SHIFT) + (uint32_t)(ns >> AVERAGE_SHIFT);
	MELY_STORE(price, average, relaxed);
}

/* ---- which victim ---------------------------------------------------------------------------- */

/* The time that n color-queues will keep core busy, by its average batch. */
static uint64_t
backlog_ns(const struct melyint_core *core, uint32_t n)
{
	/* relaxed: a hint, written by its owner */
	uint32_t batch_ns = MELY_LOAD(&core->hint.batch_ns, relaxed);

	return (uint64_t)n * (batch_ns != 0 ? batch_ns : BATCH_NS_UNKNOWN);
}

/* The time for which the victim has had waiting work at every turn that this thief could see. */
static uint64_t
waited_ticks(struct melyint_core *thief, struct melyint_core *victim, uint64_t now_ticks)
{
	struct melyint_glance *glance = &thief->others.glances[victim->index];
	uint32_t dry = MELY_LOAD(&victim->hint.dry, relaxed); /* a hint, written under its lock */

	if (dry != glance->dry || glance->ticks == 0) {
		glance->dry = dry;
		glance->ticks = now_ticks;
	}
	return now_ticks - glance->ticks;
}

enum melyint_reason
melyint_victim_worthy(struct melyint_core *thief, struct melyint_core *victim,
    uint64_t now_ticks)
{
	const struct mely_runtime *rt = thief->rt;
	/* relaxed: a hint, written under the victim's lock, as the others */
	uint32_t stealable = MELY_LOAD(&victim->hint.stealable, relaxed);
	uint64_t ticks;

	MELY_DEBUG_ASSERT(thief != victim);
	if (stealable == 0)
		return MELYINT_NOT_WORTHY;
	if (!(heuristics(rt) & MELY_STEAL_TIME_LEFT))
		return MELYINT_WAITED;
	/* A victim that has never been without waiting work since an earlier glance has more than
	 * it can do: two colors keep it busy, or a handler does not end. A pair that only plays
	 * ping-pong leaves nothing waiting at every hop, and stays. */
	ticks = waited_ticks(thief, victim, now_ticks);
	if (ticks >= rt->limits.aged_ticks)
		return MELYINT_WAITED;
	if (melyint_stealq_length(&victim->stealq) == 0 ||
	    (melyint_lend_leaves(thief, victim, now_ticks) &&
	    backlog_ns(victim, stealable) < MELYINT_LEND_BACKLOG_NS))
		return MELYINT_NOT_WORTHY;
	return stealable >= 2 || ticks >= rt->limits.soon_ticks ?
	    MELYINT_WORTHY : MELYINT_NOT_WORTHY;
}

bool
melyint_victim_pays_wakeup(const struct melyint_core *core, uint32_t n, bool behind)
{
	if (n < 2 && !behind)
		return false;
	if (MELY_LOAD(&core->loan.borrows, relaxed)) /* a hint */
		return backlog_ns(core, n) >= MELYINT_LEND_BACKLOG_NS; /* C of NOTE(lend) */
	if (heuristics(core->rt) & MELY_STEAL_TIME_LEFT)
		return melyint_core_worthy_ns(core) >= MELYINT_WAKEUP_NS;
	return n >= 2 && backlog_ns(core, n) >= MELYINT_WAKEUP_NS;
}

/* ---- which color ----------------------------------------------------------------------------- */

/* The color, if any, waits on the victim and can have a worth: C of NOTE(worth). */
static void
assert_stealable(const struct melyint_core *victim, const struct mely_color *color)
{
	MELY_DEBUG_ASSERT(color == NULL || (MELY_PEEK(&color->_owner) == victim &&
	    MELY_PEEK(&color->_state) == MELYINT_COLOR_QUEUED));
	MELY_DEBUG_ASSERT(color == NULL || !(MELY_PEEK(&color->_flags) & MELYINT_COLOR_NO_WORTH));
}

/* A color that is worth its price to this thief, or NULL. Prices may have changed since the
 * stealing-queue was ordered. Under the victim's lock. */
static struct mely_color *
worthiest(const struct melyint_core *thief, struct melyint_core *victim)
{
	uint64_t price = MELY_LOAD(&victim->hint.worth_min, relaxed); /* a hint */
	uint64_t own = heuristics(thief->rt) & MELY_STEAL_TIME_LEFT ?
	    price_at(thief->rt, thief->fixed.distance[victim->index]) : 0;
	struct mely_color *best;
	int i;

	MELY_DEBUG_ASSERT(melyint_lock_held(&victim->lock));
	for (i = 0; i < RECHECKED_MAX; i++) {
		best = melyint_stealq_best(&victim->stealq);
		assert_stealable(victim, best);
		if (best == NULL || melyint_color_worth(victim, best) > (own > price ? own : price))
			return best;
		if (melyint_color_worth(victim, best) > price)
			return NULL; /* for a nearer thief */
		melyint_core_unworthy(victim, best);
	}
	return NULL;
}

/* May a color leave because it has waited, though it is not worth it? One in aged_ticks, however
 * many thieves there are; any if the victim has not taken a turn since the last. Under its lock. */
static bool
may_go(struct melyint_core *thief, struct melyint_core *victim, uint64_t now_ticks)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&victim->lock));
	if (!(heuristics(thief->rt) & MELY_STEAL_TIME_LEFT))
		return true;
	if (victim->locked.turns != victim->locked.aged_turns &&
	    now_ticks - victim->locked.aged_ticks < thief->rt->limits.aged_ticks)
		return false;
	victim->locked.aged_turns = victim->locked.turns;
	victim->locked.aged_ticks = now_ticks;
	return true;
}

struct mely_color *
melyint_victim_choose(struct melyint_core *thief, struct melyint_core *victim,
    enum melyint_reason reason, uint64_t now_ticks)
{
	struct mely_color *best = NULL;

	MELY_DEBUG_ASSERT(melyint_lock_held(&victim->lock) && reason != MELYINT_NOT_WORTHY);
	if (heuristics(thief->rt) & (MELY_STEAL_TIME_LEFT | MELY_STEAL_PENALTY))
		best = worthiest(thief, victim);
	if (best != NULL || reason != MELYINT_WAITED || !may_go(thief, victim, now_ticks))
		return best;
	return melyint_victim_eldest(victim);
}

struct mely_color *
melyint_victim_eldest(const struct melyint_core *victim)
{
	uint32_t levels = victim->ready.levels;

	MELY_DEBUG_ASSERT(melyint_lock_held(&victim->lock));
	/* The highest priority first; in it the color that has waited longest. */
	while (levels != 0) {
		unsigned level = 31u - (unsigned)__builtin_clz(levels);
		struct mely_color *first = victim->ready.first[level], *color = first;
		int skipped;

		MELY_DEBUG_ASSERT(melyint_coreq_level_agrees(&victim->ready, level));
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
