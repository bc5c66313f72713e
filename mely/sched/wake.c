/* SPDX-License-Identifier: MIT */
/*
 * wake.c: wake-ups, of cores with new work of their own and of cores that are to search for it: A,
 * B, D and E of NOTE(park) in park.c.
 */
#include "sched/wake.h"

#include "base/assert.h"
#include "core/hooks.h"
#include "sched/stuck.h"
#include "sched/victim.h"
#include "sched/wait.h"

bool
melyint_wake_locked(struct melyint_core *core)
{
	struct mely_runtime *rt = core->rt;
	struct melyint_domain *domain = core->fixed.domain;
	uint8_t sleep = MELY_LOAD(&core->locked.sleep, relaxed); /* under the lock */

	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock)); /* A of NOTE(park) */
	if (MELY_LIKELY(sleep == MELYINT_AWAKE))
		return false;
	/* Both counts include this core until it is marked awake. */
	MELY_DEBUG_ASSERT(MELY_PEEK(&domain->sleepers) > 0);
	MELY_DEBUG_ASSERT(sleep != MELYINT_SENTRY || MELY_PEEK(&rt->idle.sentries) == 1);
	melyint_set_sleep(core, MELYINT_AWAKE);
	/* relaxed, all: counts that are read as hints */
	if (sleep == MELYINT_SENTRY)
		MELY_SUB(&rt->idle.sentries, 1, relaxed);
	else if (sleep == MELYINT_OUTSIDE)
		MELY_STORE(&core->hint.busy, 1, relaxed); /* a hint; D of NOTE(outside) */
	if (MELY_SUB(&domain->sleepers, 1, relaxed) == 1)
		MELY_SUB(&rt->idle.domains, 1, relaxed);
	return true;
}

void
melyint_wake_finish(struct melyint_core *self, struct melyint_core *core)
{
	MELY_DEBUG_ASSERT(!melyint_lock_held(&core->lock));
	MELY_DEBUG_ASSERT(self == NULL || self == melyint_self);
	if (MELYINT_OBSERVED(wake))
		melyint_observe_wake(self, core);
	melyint_poller_wake(core);
	/* relaxed: set before the core first went outside; D of NOTE(outside) */
	if (core->index == 0 && MELY_LOAD(&core->rt->flow.embedded, relaxed))
		melyint_stuck_begin(core);
	if (self != NULL)
		MELY_COUNT(&self->counters.wakeups_sent, 1);
	else
		MELY_ADD(&core->rt->outside.wakeups, 1, relaxed); /* a count */
}

/* C of NOTE(outside): wake core 0, which does not keep others from searching. */
static void
wake_outside(struct melyint_core *self, struct mely_runtime *rt)
{
	struct melyint_core *core = &rt->cores[0];
	bool woken;

	/* relaxed: a hint; the lock decides */
	if (core == self || MELY_LOAD(&core->locked.sleep, relaxed) != MELYINT_OUTSIDE)
		return;
	melyint_lock_take(&core->lock);
	woken = melyint_wake_locked(core);
	melyint_lock_drop(&core->lock);
	if (woken)
		melyint_wake_finish(self, core);
}

/* Wake the sleeper of a domain that is nearest to core, to search for work. False: no core of the
 * domain sleeps. */
static bool
wake_nearest(struct melyint_core *self, struct melyint_core *core, struct melyint_domain *domain)
{
	struct mely_runtime *rt = core->rt;
	int i;

	/* The caller has claimed the search: B of NOTE(park). */
	MELY_DEBUG_ASSERT(MELY_PEEK(&domain->searching) != MELYINT_SEARCH_NONE);
	for (i = 0; i < rt->cores_count; i++) {
		/* core itself comes last: it may sleep by now, and posters may have held back for
		 * this search */
		struct melyint_core *sleeper = i < rt->cores_count - 1 ?
		    &rt->cores[core->fixed.victims[i]] : core;
		uint8_t sleep;
		bool woken;

		if (sleeper->fixed.domain != domain || sleeper == self)
			continue;
		/* relaxed: a hint; the lock decides */
		sleep = MELY_LOAD(&sleeper->locked.sleep, relaxed);
		if (sleep == MELYINT_AWAKE || sleep == MELYINT_OUTSIDE)
			continue;
		melyint_lock_take(&sleeper->lock);
		/* Core 0 may have left since: a core in the program's loop ends no search. relaxed:
		 * the lock is held */
		woken = MELY_LOAD(&sleeper->locked.sleep, relaxed) != MELYINT_OUTSIDE &&
		    melyint_wake_locked(sleeper);
		MELY_DEBUG_ASSERT(!woken || !sleeper->locked.searching);
		if (woken)
			sleeper->locked.searching = true;
		melyint_lock_drop(&sleeper->lock);
		if (woken) {
			melyint_wake_finish(self, sleeper);
			return true;
		}
	}
	return false;
}

/* True: a core of the domain searches now, this one's or another poster's choice. */
static bool
wake_searcher(struct melyint_core *self, struct melyint_core *core, struct melyint_domain *domain)
{
	int none;

	MELY_DEBUG_ASSERT(!melyint_lock_held(&core->lock));
	do {
		none = MELYINT_SEARCH_NONE;
		/* relaxed: the loser comes before the winner, which has not read the sleepers
		 * yet */
		if (!MELY_CAS(&domain->searching, &none, MELYINT_SEARCH_ONE, relaxed) ||
		    wake_nearest(self, core, domain))
			return true;
		/* acq_rel: D of NOTE(park), pairs with left_to_searcher */
	} while (MELY_EXCHANGE(&domain->searching, MELYINT_SEARCH_NONE, acq_rel) ==
	    MELYINT_SEARCH_MORE);
	return false;
}

/* D of NOTE(park): does a searcher take care of what was just posted, too? */
static bool
left_to_searcher(struct melyint_domain *domain)
{
	/* relaxed: if there is no searcher, the exchange in wake_searcher decides */
	int seen = MELY_LOAD(&domain->searching, relaxed);

	/* Another poster has recorded it already; to record it again would take the line from other
	 * cores. Pairs with the fence in melyint_hand_over_sentry: if the word has not changed, the
	 * searcher's check comes after what was posted before. */
	if (seen == MELYINT_SEARCH_MORE) {
		MELY_FENCE(seq_cst);
		seen = MELY_LOAD(&domain->searching, relaxed);
		if (seen == MELYINT_SEARCH_MORE)
			return true;
	}
	while (seen != MELYINT_SEARCH_NONE) {
		/* acq_rel: pairs with the exchanges that end a search */
		if (MELY_CAS(&domain->searching, &seen, MELYINT_SEARCH_MORE, acq_rel))
			return true;
	}
	return false;
}

/* Is there a sentry that finds what was posted before? It looks once more when it gives up. */
static bool
left_to_sentry(struct mely_runtime *rt)
{
	if (MELY_LOAD(&rt->idle.sentries, relaxed) == 0) /* relaxed, both: 0 or 1 */
		return false;
	MELY_FENCE(seq_cst); /* pairs with the one in melyint_hand_over_sentry */
	return MELY_LOAD(&rt->idle.sentries, relaxed) != 0;
}

/* E of NOTE(park): find a thief in one domain for what waits on core. True: its cores take care of
 * that. */
static bool
offer_to(struct melyint_core *self, struct melyint_core *core, struct melyint_domain *domain,
    bool sentry)
{
	/* relaxed, both: hints; the sentry sees what these loads miss: C of NOTE(park) */
	if (sentry && MELY_LOAD(&domain->searching, relaxed) != MELYINT_SEARCH_NONE)
		return true;
	if (!sentry && left_to_searcher(domain))
		return true;
	return MELY_LOAD(&domain->sleepers, relaxed) != 0 && wake_searcher(self, core, domain);
}

static MELY_NOINLINE void
offer_slow(struct melyint_core *self, struct melyint_core *core, bool behind)
{
	struct mely_runtime *rt = core->rt;
	/* relaxed, all: hints, as above */
	uint32_t n = MELY_LOAD(&core->hint.stealable, relaxed);
	bool sentry;
	int i;

	MELY_DEBUG_ASSERT(!melyint_lock_held(&core->lock));
	if (n == 0 || MELY_LOAD(&rt->switches.stealing, relaxed) == 0)
		return;
	sentry = left_to_sentry(rt);
	if (sentry && !melyint_victim_pays_wakeup(core, n, behind))
		return;
	for (i = 0; i < rt->domains_count; i++) {
		if (offer_to(self, core, &rt->domains[core->fixed.domains[i]], sentry))
			return;
	}
	wake_outside(self, rt);
}

void
melyint_offer(struct melyint_core *self, struct melyint_core *core)
{
	/* relaxed: a hint, as in offer_slow */
	if (MELY_UNLIKELY(MELY_LOAD(&core->rt->idle.domains, relaxed) > 0))
		offer_slow(self, core, false);
}

void
melyint_offer_behind(struct melyint_core *self, struct melyint_core *core)
{
	offer_slow(self, core, true);
}

void
melyint_wake_all(struct mely_runtime *rt)
{
	int i;

	for (i = 0; i < rt->cores_count; i++) {
		struct melyint_core *core = &rt->cores[i];
		bool woken;

		melyint_lock_take(&core->lock);
		woken = melyint_wake_locked(core);
		melyint_lock_drop(&core->lock);
		if (woken)
			melyint_wake_finish(NULL, core);
	}
}
