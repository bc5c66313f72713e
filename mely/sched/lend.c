/* SPDX-License-Identifier: MIT */
/*
 * lend.c: load that concentrates.
 *
 * NOTE(lend)
 *   A. Two cores that are half idle wake up more often than one that does the work of both, and a
 *      wake-up costs as much as a small handler. So a core that mostly sleeps lends its colors: a
 *      ready descriptor that its poller finds for an idle color it posts to another core of its
 *      domain, the borrower, which owns the color from then on. The descriptors of the color follow
 *      (NOTE(follow) in io/register.c), and the lender sleeps for long.
 *   B. Every 10 ms in which it is awake, a core computes its load, the share of the time in which
 *      it did not sleep. It lends to the nearest core that has room for its load. Of two cores with
 *      similar loads the one with the higher number lends, and a core that borrows does not lend.
 *      A lender adds its load to the borrower's, so that not all choose the same.
 *   C. A lender comes back before queues build. A poster wakes it when the borrower has half a
 *      millisecond of work, and as a thief it takes from the borrower only then, or when the
 *      borrower has been in one turn for a millisecond. As the sentry it checks once in 5 ms
 *      instead of every one, if no other core is busy than the borrower. It stays the sentry as
 *      long as the borrower begins turns in between: a wake-up for each burst would cost more.
 *      Nothing else gives a color back: the core that stole it has work, and soon no room in the
 *      borrower.
 *   D. A lender that sleeps for long does not compute its load. So before it gives a color away it
 *      asks whether the loan still holds: whether colors may move at all, and whether the borrower
 *      has room. While the borrower sits in a long turn, the lender keeps what it finds.
 * All words of other cores are hints, so all accesses are relaxed.
 */
#include "sched/lend.h"

#include "base/assert.h"
#include "base/clock.h"

enum {
	LOOK_TICKS = 10,   /* after these, in ticks of the core, a load is computed */
	WHOLE = 1000,      /* a load: never asleep */
	LENDS_BELOW = 300, /* the load of a lender */
	ROOM = 600,        /* the load up to which a borrower borrows */
	FACTOR = 4,        /* between loads that are not similar */
	MARGIN = 50,
	FALL_SHIFT = 3     /* a load rises by half of the difference, and falls by this */
};

/* The load since it was last computed. A core that no thread runs has no time for others. */
static uint32_t
load_of(struct melyint_core *core, uint64_t now_ticks)
{
	struct melyint_others *others = &core->others;
	uint64_t spent[MELYINT_DOINGS], idle, passed = now_ticks - others->load_ticks;

	(void)melyint_doing_read(&core->tallies, now_ticks, spent);
	idle = spent[MELY_STATS_SLEEPING] - others->idle_ticks;
	others->idle_ticks += idle;
	if (others->load_ticks == 0) /* the first time */
		passed = 0;
	others->load_ticks = now_ticks;
	return idle < passed ? (uint32_t)(WHOLE - idle * WHOLE / passed) : 0;
}

static uint32_t
smoothed(uint32_t before, uint32_t load)
{
	return load > before ? before + (load - before + 1) / 2 :
	    before - ((before - load) >> FALL_SHIFT);
}

static bool
has_room(const struct melyint_core *core, const struct melyint_core *other, uint32_t load)
{
	uint32_t theirs = MELY_LOAD(&other->loan.load, relaxed);

	if (other->fixed.domain != core->fixed.domain || theirs + load > ROOM ||
	    MELY_LOAD(&other->loan.lends_to, relaxed) != NULL)
		return false;
	return other->index < core->index ? FACTOR * theirs >= load :
	    theirs > FACTOR * load + MARGIN;
}

/* May colors move? Without that heuristic a thief takes whatever waits, and C would not hold. */
static bool
may_lend(const struct mely_runtime *rt)
{
	return MELY_LOAD(&rt->switches.stealing, relaxed) != 0 &&
	    (MELY_LOAD(&rt->switches.heuristics, relaxed) & MELY_STEAL_TIME_LEFT) != 0 &&
	    rt->config.pollers != 1 && !MELY_LOAD(&rt->flow.embedded, relaxed);
}

static struct melyint_core *
choose(const struct melyint_core *core, uint32_t load)
{
	struct mely_runtime *rt = core->rt;
	int i;

	if (load >= LENDS_BELOW || !may_lend(rt))
		return NULL;
	for (i = 0; i < rt->cores_count - 1; i++) {
		struct melyint_core *other = &rt->cores[core->fixed.victims[i]];

		if (has_room(core, other, load))
			return other;
	}
	return NULL;
}

/* Does another core lend to this one, and may it? */
static bool
borrows(const struct melyint_core *core, uint32_t load)
{
	const struct mely_runtime *rt = core->rt;
	int i;

	for (i = 0; i < rt->cores_count; i++) {
		if (MELY_LOAD(&rt->cores[i].loan.lends_to, relaxed) == core)
			return load <= ROOM && may_lend(rt);
	}
	return false;
}

void
melyint_lend_look(struct melyint_core *core, uint64_t now_ticks)
{
	struct melyint_core *to = NULL;
	uint32_t load;

	MELY_DEBUG_ASSERT(melyint_self == core);
	if (now_ticks - core->others.load_ticks < LOOK_TICKS * core->rt->limits.tick_ticks)
		return;
	load = smoothed(MELY_LOAD(&core->loan.load, relaxed), load_of(core, now_ticks));
	MELY_STORE(&core->loan.load, load, relaxed);
	if (MELY_LOAD(&core->loan.borrows, relaxed) && !borrows(core, load))
		MELY_STORE(&core->loan.borrows, false, relaxed);
	if (!MELY_LOAD(&core->loan.borrows, relaxed))
		to = choose(core, load);
	if (to != NULL && to != MELY_LOAD(&core->loan.lends_to, relaxed))
		MELY_ADD(&to->loan.load, load, relaxed);
	MELY_STORE(&core->loan.lends_to, to, relaxed);
	if (to != NULL && !MELY_LOAD(&to->loan.borrows, relaxed))
		MELY_STORE(&to->loan.borrows, true, relaxed);
}

bool
melyint_lend_holds(struct melyint_core *core)
{
	const struct melyint_core *to = MELY_LOAD(&core->loan.lends_to, relaxed);

	MELY_DEBUG_ASSERT(melyint_self == core && to != core);
	if (to == NULL || core->batch.color != NULL || core->others.relieved != NULL)
		return false;
	if (may_lend(core->rt) && MELY_LOAD(&to->loan.load, relaxed) <= ROOM)
		return !melyint_lend_deaf(to, melyint_ticks());
	MELY_STORE(&core->loan.lends_to, NULL, relaxed);
	return false;
}

bool
melyint_lend(struct melyint_core *self, struct mely_color *color)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&self->lock) && melyint_self == self);
	/* relaxed, both: under the lock */
	if (MELY_LOAD(&color->_state, relaxed) != MELYINT_COLOR_IDLE ||
	    (MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_PINNED) != 0 ||
	    !melyint_lend_holds(self))
		return false;
	/* Events of the color would stay in this core's queue. */
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_heads) == NULL && color->_tails == NULL);
	/* release: pairs with the acquire in melyint_color_lock */
	MELY_STORE(&color->_owner, MELY_LOAD(&self->loan.lends_to, relaxed), release);
	MELY_COUNT(&self->counters.lent, 1);
	return true;
}
