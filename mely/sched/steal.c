/* SPDX-License-Identifier: MIT */
/*
 * steal.c: moving color-queues between cores. Thief's thread only.
 *
 * NOTE(steal)
 *   A. The thief glances at each victim in core-set order without a lock (victim.c): at the nearest
 *      ones each time, at all once in a while and before it sleeps, since every glance takes a line
 *      from a core that writes it. It tries the victim's lock for about as long as a queue is held;
 *      it does not wait for a holder that has lost its processor.
 *   B. Under the victim's lock the thief unlinks the color and, last, sets its owner to itself:
 *      from then on a poster that locks the victim finds that the color has moved, and locks the
 *      thief. A RUNNING color is in no core-queue and so cannot be stolen.
 *   C. An idle thief makes the color its running batch in the same critical section. A busy one
 *      (balance) leaves it MOVING: posters append to it but do not link it until the thief has
 *      linked it under its own lock. No thread holds two core locks at a time.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "core/hooks.h"
#include "core/worth.h"
#include "sched/run.h"
#include "sched/steal.h"
#include "sched/victim.h"
#include "sched/wake.h"

enum {
	PULLS_MAX = 16,  /* colors under one hold of a lock */
	ROUNDS_MAX = 8,  /* such holds in one balance */
#if defined(MELYINT_SIM) && !defined(MELYINT_SIM_COSTS)
	TRIES_MAX = 3,   /* of a lock: in the hunt a thief must give up now and then */
#else
	TRIES_MAX = 32,
#endif
	NEAR_VICTIMS = 4 /* that a thief glances at each time */
};

/* Unlink what the policy chose. Under the victim's lock. The victim owns the color until hand_over.
 * */
static struct mely_color *
unlink_chosen(struct melyint_core *victim, struct mely_color *color)
{
	if (color == NULL)
		return NULL;
	MELY_DEBUG_ASSERT(melyint_lock_held(&victim->lock));
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_owner) == victim &&
	    MELY_PEEK(&color->_state) == MELYINT_COLOR_QUEUED); /* invariant 6 */
	MELY_DEBUG_ASSERT(!(MELY_PEEK(&color->_flags) & MELYINT_COLOR_PINNED));
	melyint_core_unlink(victim, color);
	if (victim->ready.length == 0)
		MELY_COUNT(&victim->hint.dry, 1);
	return color;
}

/* B of NOTE(steal): the last touch of the color under the victim's lock. */
static void
hand_over(struct melyint_core *thief, struct mely_color *color)
{
	MELY_DEBUG_ASSERT(melyint_self == thief && MELY_PEEK(&color->_owner) != thief);
	MELY_DEBUG_ASSERT(melyint_lock_held(&MELY_PEEK(&color->_owner)->lock));
	/* C of NOTE(steal): from now on a poster does not link it. */
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_RUNNING ||
	    MELY_PEEK(&color->_state) == MELYINT_COLOR_MOVING);
	/* release: pairs with the acquire in melyint_color_lock; a thread that locks the thief
	 * finds the color as the victim's lock left it */
	MELY_STORE(&color->_owner, thief, release);
	MELY_STOLEN();
}

/* The weight that a stolen color takes with it. Under the lock of its owner. */
static uint64_t
weight_of(const struct mely_color *color)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&MELY_PEEK(&color->_owner)->lock));
	/* relaxed: under the lock */
	return MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_RELEASED ? 0 :
	    color->_u._worth._time_left;
}

/* Count n tries, of which `won` succeeded. */
static void
count(struct melyint_core *thief, const struct melyint_core *victim, uint32_t n, uint32_t won,
    uint64_t weight)
{
	struct melyint_counters *c = &thief->counters;

	MELY_DEBUG_ASSERT(won <= n && thief != victim);
	MELY_COUNT(&c->steals_tried, n);
	MELY_COUNT(&c->steals_empty, n - won);
	MELY_COUNT(&c->steals, won);
	MELY_COUNT(&c->steals_tried_at[thief->fixed.distance[victim->index]], n);
	MELY_COUNT(&c->steals_at[thief->fixed.distance[victim->index]], won);
	MELY_COUNT(&c->stolen_ns, weight >> MELYINT_WEIGHT_SHIFT);
}

/* Account for a steal that took `ticks`. */
static void
settle(struct melyint_core *thief, struct melyint_core *victim, bool won, uint64_t ticks)
{
	uint64_t ns = melyint_ticks_to_ns(ticks);
	uint64_t steals = MELY_LOAD(&thief->counters.steals, relaxed); /* ours */

	MELY_COUNT(&thief->counters.stealing_ns, ns);
	if (!won)
		return;
	MELY_DEBUG_ASSERT(thief->batch.color != NULL); /* its first batch away from home */
	melyint_victim_paid(thief, victim, ns);
	/* C of NOTE(measure) */
	if (thief->sampling.observe == 0) /* else plain_left has the countdown */
		thief->sampling.plain_left = thief->sampling.batches_left;
	thief->sampling.away = true;
	thief->sampling.away_measured = steals % MELYINT_SAMPLE_STEALS == 0;
	thief->sampling.batches_left = 1;
}

/* A of NOTE(steal). */
static bool
try_lock(struct melyint_core *victim)
{
	int i;

	for (i = 0; i < TRIES_MAX; i++) {
		if (melyint_lock_try(&victim->lock))
			return true;
		melyint_cpu_relax();
	}
	return false;
}

static bool
steal_from(struct melyint_core *thief, struct melyint_core *victim, enum melyint_reason reason)
{
	uint64_t began = melyint_ticks(), weight = 0;
	struct mely_color *color = NULL;

	if (try_lock(victim)) {
		color = unlink_chosen(victim, melyint_victim_choose(thief, victim, reason, began));
		if (color != NULL) {
			weight = weight_of(color);
			melyint_batch_take(thief, color);
			hand_over(thief, color);
		}
		MELY_DEBUG_ASSERT(melyint_core_counts_agree(victim));
		melyint_lock_drop(&victim->lock);
		if (color != NULL && MELYINT_OBSERVED(steal))
			melyint_observe_steal(thief, victim, color, began, 0, 1, false);
		/* The victim's colors wait from now on, unless nothing was taken and waiting was
		 * not the reason. */
		if (color != NULL || reason == MELYINT_WAITED)
			thief->others.glances[victim->index].ticks = 0;
	}
	count(thief, victim, 1, color != NULL, weight);
	settle(thief, victim, color != NULL, melyint_ticks() - began);
	return color != NULL;
}

/* The number of victims to glance at: the nearest ones; all of them once in a while. */
static int
victims_now(struct melyint_core *thief, uint64_t now)
{
	int all = thief->rt->cores_count - 1;

	if (all <= NEAR_VICTIMS)
		return all;
	if (now - thief->others.far_ticks < thief->rt->limits.far_ticks)
		return NEAR_VICTIMS;
	thief->others.far_ticks = now;
	return all;
}

/* The next victim at or behind place *at of the core set that is worth a try, or NULL. */
static struct melyint_core *
worthy_victim(struct melyint_core *thief, uint64_t now, int *at, int end,
    enum melyint_reason *reason)
{
	struct mely_runtime *rt = thief->rt;
	const uint16_t *order;

	MELY_DEBUG_ASSERT(*at >= 0 && end < rt->cores_count); /* the length of a core set */
	/* relaxed, both: switches */
	if (MELY_LOAD(&rt->switches.stealing, relaxed) == 0)
		return NULL;
	order = MELY_LOAD(&rt->switches.heuristics, relaxed) & MELY_STEAL_LOCALITY ?
	    thief->fixed.victims : thief->fixed.victims_flat;
	while (*at < end) {
		struct melyint_core *victim = &rt->cores[order[(*at)++]];

		*reason = melyint_victim_worthy(thief, victim, now);
		if (*reason != MELYINT_NOT_WORTHY)
			return victim;
		/* relaxed: a hint */
		if (MELY_LOAD(&victim->hint.stealable, relaxed) != 0)
			MELY_COUNT(&thief->counters.steals_unworthy, 1);
	}
	return NULL;
}

bool
melyint_steal_glance(struct melyint_core *thief)
{
	uint64_t now = melyint_ticks();
	enum melyint_reason reason;
	int at = 0;

	MELY_DEBUG_ASSERT(melyint_self == thief && thief->batch.color == NULL);
	thief->others.victims_end = victims_now(thief, now);
	return worthy_victim(thief, now, &at, thief->others.victims_end, &reason) != NULL;
}

static bool
steal_among(struct melyint_core *thief, int end)
{
	uint64_t now = melyint_ticks();
	struct melyint_core *victim;
	enum melyint_reason reason;
	int at = 0;

	MELY_ASSERT(thief->batch.color == NULL); /* idle */
	while ((victim = worthy_victim(thief, now, &at, end, &reason)) != NULL) {
		if (steal_from(thief, victim, reason)) {
			/* A drain that did not see the batch would end the run. */
			MELY_DEBUG_ASSERT(thief->locked.has_batch);
			/* There may be work for another thief. */
			melyint_offer_behind(thief, victim);
			return true;
		}
	}
	return false;
}

bool
melyint_steal_glanced(struct melyint_core *thief)
{
	return steal_among(thief, thief->others.victims_end);
}

bool
melyint_steal(struct melyint_core *thief)
{
	return steal_among(thief, thief->rt->cores_count - 1);
}

/* ---- balance --------------------------------------------------------------------------------- */

/* C of NOTE(steal): pull up to `wanted` colors, one steal each, into core's own core-queue. */
static uint32_t
pull(struct melyint_core *core, struct melyint_core *victim, uint32_t wanted)
{
	struct mely_color *pulled[PULLS_MAX];
	uint32_t n = 0, i;
	uint64_t weight = 0, began = melyint_ticks();

	MELY_ASSERT(core != victim);
	MELY_DEBUG_ASSERT(melyint_self == core && MELY_PEEK(&core->hint.moving) == 0);
	if (!melyint_lock_try(&victim->lock)) {
		count(core, victim, 1, 0, 0);
		return 0;
	}
	/* relaxed: the drain reads it under all locks (drain.c), and we hold the victim's */
	MELY_COUNT(&core->hint.moving, 1);
	while (n < wanted && n < PULLS_MAX) {
		struct mely_color *color = unlink_chosen(victim, melyint_victim_eldest(victim));

		if (color == NULL)
			break;
		weight += weight_of(color);
		melyint_color_become(color, MELYINT_COLOR_MOVING);
		hand_over(core, color);
		pulled[n++] = color;
	}
	melyint_lock_drop(&victim->lock);
	for (i = 0; MELYINT_OBSERVED(steal) && i < n; i++)
		melyint_observe_steal(core, victim, pulled[i], began, i, n, true);

	melyint_lock_take(&core->lock);
	for (i = 0; i < n; i++) {
		MELY_DEBUG_ASSERT(MELY_PEEK(&pulled[i]->_state) == MELYINT_COLOR_MOVING &&
		    MELY_PEEK(&pulled[i]->_owner) == core);
		melyint_core_link(core, pulled[i]);
	}
	MELY_COUNT(&core->hint.moving, -1u);
	MELY_DEBUG_ASSERT(melyint_core_counts_agree(core));
	melyint_lock_drop(&core->lock);
	count(core, victim, n > 0 ? n : 1, n, weight);
	MELY_COUNT(&core->counters.balance_steals, n);
	return n;
}

void
melyint_balance(struct melyint_core *core, uint64_t now_ticks)
{
	struct mely_runtime *rt = core->rt;
	uint32_t mine = MELY_LOAD(&core->hint.stealable, relaxed); /* ours */
	int i;

	MELY_DEBUG_ASSERT(melyint_self == core);
	/* relaxed: a switch */
	if (!rt->config.balance || MELY_LOAD(&rt->switches.stealing, relaxed) == 0)
		return;
	for (i = 0; i < rt->cores_count - 1; i++) {
		struct melyint_core *victim = &rt->cores[core->fixed.victims[i]];
		struct melyint_glance *glance = &core->others.glances[victim->index];
		/* relaxed, both: hints, written under the victim's lock */
		uint32_t theirs = MELY_LOAD(&victim->hint.stealable, relaxed);
		uint32_t dry = MELY_LOAD(&victim->hint.dry, relaxed);
		bool loaded = dry == glance->dry && glance->ticks != 0;

		glance->dry = dry;
		glance->ticks = now_ticks;
		/* The victim had waiting work through the whole interval, and more than we have:
		 * take half of the difference. An odd color goes to and fro, so that colors on
		 * unequal cores get equal turns in the long run. */
		if (loaded && theirs > mine) {
			uint32_t wanted = (theirs - mine + 1) / 2, got = 1, round;

			for (round = 0; round < ROUNDS_MAX && wanted > 0 && got > 0; round++) {
				got = pull(core, victim, wanted);
				MELY_DEBUG_ASSERT(got <= wanted);
				wanted -= got;
			}
			return;
		}
	}
}

void
melyint_steal_relieve(struct melyint_core *core, struct melyint_core *stuck)
{
	MELY_DEBUG_ASSERT(melyint_self == core && core != stuck);
	/* relaxed, both: a switch, and a hint */
	if (MELY_LOAD(&core->rt->switches.stealing, relaxed) != 0 &&
	    MELY_LOAD(&stuck->hint.stealable, relaxed) != 0)
		(void)pull(core, stuck, PULLS_MAX);
}

/* Mely's stealing has no settings but those of the runtime. */
void
melyint_steal_settle(struct mely_runtime *rt)
{
	(void)rt;
}
