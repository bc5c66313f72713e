/* SPDX-License-Identifier: MIT */
/*
 * victim.c: whom to rob, and of what; see victim.h. With the time-left heuristic (paper, section
 * 3.2) a victim is robbed of a color that is worth more than the steal costs, from the highest
 * interval of its stealing-queue, and otherwise only when something has been waiting behind a busy
 * core for a while. With penalties alone (3.3) anything may go, the most worthy first; with neither
 * the color that has waited longest goes at once. The price of a wake-up is set against the same.
 */
#include "base/clock.h"
#include "sched/victim.h"

enum {
	/* Three times a sleeping thread's way back to work, of the order of what microbench/wake
	 * shows on a virtual machine: for less the core itself is done before help comes. */
	WAKEUP_NS = 100000,
	BATCH_NS_UNKNOWN = 1000,
	PINNED_SKIPPED_MAX = 16,
	RECHECKED_MAX = 8,
	AVERAGE_SHIFT = 4,
	STEAL_NS_MIN = 100,    /* a preempted steal must not ... */
	STEAL_NS_MAX = 20000,  /* ... keep everybody from the next */
	INTERVAL_FACTOR = 8    /* worth so many steals: the second interval; the third: a wake-up */
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
	/* relaxed, both: a measurement; one of two at the same time may be lost */
	uint32_t average = MELY_LOAD(price, relaxed);

	if (thief->rt->config.steal_ns != 0)
		return; /* fixed */
	ns = ns < STEAL_NS_MIN ? STEAL_NS_MIN : ns > STEAL_NS_MAX ? STEAL_NS_MAX : ns;
	average = average - (average >> AVERAGE_SHIFT) + (uint32_t)(ns >> AVERAGE_SHIFT);
	MELY_STORE(price, average, relaxed);
}

/* ---- the stealing-queue ---------------------------------------------------------------------- */

static unsigned
interval_of(uint64_t worth, uint64_t price)
{
	if (worth >= (uint64_t)WAKEUP_NS << MELYINT_WEIGHT_SHIFT)
		return 2;
	return worth >= price * INTERVAL_FACTOR;
}

/* What waits there is worth at least so much. Anyone. */
static uint64_t
worthy_ns(const struct melyint_core *core)
{
	const struct melyint_stealq *q = &core->stealq;
	/* relaxed: a hint */
	uint64_t price_ns = MELY_LOAD(&core->hint.worth_min, relaxed) >> MELYINT_WEIGHT_SHIFT;

	return melyint_stealq_length_in(q, 0) * price_ns +
	    melyint_stealq_length_in(q, 1) * price_ns * INTERVAL_FACTOR +
	    melyint_stealq_length_in(q, 2) * (uint64_t)WAKEUP_NS;
}

/* A of NOTE(worth). Under core->lock; core has the color in its core-queue. */
static uint64_t
worth_of(const struct melyint_core *core, const struct mely_color *color)
{
	/* relaxed, all: under the lock, and measurements */
	const struct mely_event *first = MELY_LOAD(&color->_heads, relaxed);
	const struct mely_handler *handler;
	uint64_t recent = color->_u._worth._recent; /* ns: shifted, the product would overflow */
	unsigned weighing = MELY_LOAD(&core->rt->switches.weighing, relaxed);
	uint64_t plain, divided;

	if (first == NULL)
		first = color->_tails;
	if (first == NULL)
		return 0; /* the last was cancelled while it moved */
	if (melyint_weighs_penalties(weighing)) {
		handler = first->_handler;
		plain = MELY_LOAD(&handler->_weight[melyint_weighing_plain(weighing) - 1], relaxed);
		divided = MELY_LOAD(&handler->_weight[weighing - 1], relaxed);
		if (divided < plain)
			recent = recent * divided / plain;
	}
	return color->_u._worth._time_left + (recent << MELYINT_WEIGHT_SHIFT);
}

bool
melyint_core_weigh_slow(struct melyint_core *core, struct mely_color *color)
{
	uint64_t worth = worth_of(core, color);
	uint64_t price = MELY_LOAD(&core->hint.worth_min, relaxed); /* a hint */

	if (worth <= price) {
		melyint_core_unworthy(core, color);
		return false;
	}
	if (price == 0) /* by penalty alone: any will do, but heavy ones rather */
		price = melyint_weight_from_ns(STEAL_NS_MIN);
	return melyint_stealq_put(&core->stealq, color, interval_of(worth, price));
}

/* ---- whom ------------------------------------------------------------------------------------ */

/* How long n color-queues of core will keep it, by its usual batches. */
static uint64_t
backlog_ns(const struct melyint_core *core, uint32_t n)
{
	/* relaxed: a hint, written by its owner */
	uint32_t batch_ns = MELY_LOAD(&core->hint.batch_ns, relaxed);

	return (uint64_t)n * (batch_ns != 0 ? batch_ns : BATCH_NS_UNKNOWN);
}

/* How long the victim has had waiting work at every turn that a look of this thief could see. */
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

	if (stealable == 0)
		return MELYINT_NOT_WORTHY;
	if (!(heuristics(rt) & MELY_STEAL_TIME_LEFT))
		return MELYINT_WAITED;
	/* If the victim has never been without waiting work since an earlier look, it has more than
	 * it can do: two colors that keep it busy, or a handler that does not end. A pair that only
	 * plays ping-pong leaves nothing waiting at every hop, and stays. */
	ticks = waited_ticks(thief, victim, now_ticks);
	if (ticks >= rt->limits.aged_ticks)
		return MELYINT_WAITED;
	if (melyint_stealq_length(&victim->stealq) == 0)
		return MELYINT_NOT_WORTHY;
	return stealable >= 2 || ticks >= rt->limits.soon_ticks ?
	    MELYINT_WORTHY : MELYINT_NOT_WORTHY;
}

bool
melyint_victim_pays_wakeup(const struct melyint_core *core, uint32_t n, bool behind)
{
	if (n < 2 && !behind)
		return false;
	if (heuristics(core->rt) & MELY_STEAL_TIME_LEFT)
		return worthy_ns(core) >= WAKEUP_NS;
	return n >= 2 && backlog_ns(core, n) >= WAKEUP_NS;
}

/* ---- of what --------------------------------------------------------------------------------- */

/* A color that is worth what it costs this thief; the queue may be behind the prices. */
static struct mely_color *
worthiest(const struct melyint_core *thief, struct melyint_core *victim)
{
	uint64_t price = MELY_LOAD(&victim->hint.worth_min, relaxed); /* a hint */
	uint64_t own = heuristics(thief->rt) & MELY_STEAL_TIME_LEFT ?
	    price_at(thief->rt, thief->fixed.distance[victim->index]) : 0;
	struct mely_color *best;
	int i;

	for (i = 0; i < RECHECKED_MAX; i++) {
		best = melyint_stealq_best(&victim->stealq);
		if (best == NULL || worth_of(victim, best) > (own > price ? own : price))
			return best;
		if (worth_of(victim, best) > price)
			return NULL; /* for a nearer thief */
		melyint_core_unworthy(victim, best);
	}
	return NULL;
}

/* May a color go that is not worth it, because it has waited? One in aged_ticks, however many
 * thieves there are; any when the victim has not taken a turn since the last. Under its lock. */
static bool
may_go(struct melyint_core *thief, struct melyint_core *victim, uint64_t now_ticks)
{
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
