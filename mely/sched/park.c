/* SPDX-License-Identifier: MIT */
/*
 * park.c: sleep and wake.
 *
 * NOTE(park)
 *   A. A core goes to sleep under its own lock, and only with an empty core-queue. A poster appends
 *      under the same lock. So either the sleeper sees the event, or the poster sees the sleeper,
 *      marks it awake and owes it one wake-up system call, made after the unlock. No wake-up is
 *      lost, and none is sent to a core that is awake.
 *   B. For work that waits behind a busy core, a sleeper is woken as a thief when that pays
 *      (victim.c). At most one woken core of a domain searches at a time (domain->searching). When
 *      it finds work and more is left, it wakes the next.
 *   C. The glances of B are not ordered against a core that is just going to sleep, so each could
 *      miss the other. Therefore, while any core is busy, one of the sleepers is the sentry: it
 *      checks every millisecond (a lender in 5: NOTE(lend) in lend.c). A core that goes to sleep
 *      becomes the sentry if another core is busy and there is no sentry. A poster that leaves
 *      work waiting while there is no sentry, and a core that begins a batch while others wait,
 *      wake a sleeper to become it. A sentry that gets work of its own wakes a successor. So does
 *      a searcher that gets work, since posters may have left the same duty to it. A searcher that
 *      finds nothing owes the others a sentry until it sleeps again or begins a batch. When all
 *      cores sleep there is no sentry, and nothing ticks. The sentry also relieves cores that do
 *      not come back: NOTE(stuck) in stuck.c.
 *   D. A search keeps posters from waking a second core. A poster that holds back for that reason
 *      while there is no sentry records it in domain->searching, and the core that ends the search
 *      reads it there: a waker that found no sleeper tries again; a searcher that comes back leaves
 *      a sentry behind, as in C.
 *   E. The cores that share a cache are a domain, with a count of its sleepers and a search of its
 *      own: one word for all would be written by each sleep of each core and read by each batch,
 *      and one search would wake core after core of a large machine. A poster tries the domains
 *      in the order of its core's victims, until cores of one take care of its work. What every
 *      batch reads, rt->idle.domains, counts the domains that have sleepers. A core that falls
 *      asleep as the first of its domain adds 1 to it, under its lock, after it has counted
 *      itself, and then checks all work, as each sleeper does. So what a poster leaves because it
 *      finds no domain counted, while the first one is between the two and a second one sleeps, the
 *      first one finds; and it offers what it does not take.
 *
 * NOTE(outside)
 *   Between passes (mely_run_once_for) the thread of core 0 may poll the descriptor of core 0's
 *   epoll set (mely_backend_fd) in the program's own loop.
 *   A. At the end of a pass, with an empty core-queue, the core goes outside: under its lock it
 *      sets its sleep to OUTSIDE and counts as a sleeper, before the program polls. So A of
 *      NOTE(park) holds: a poster that appends later sees OUTSIDE, marks the core awake and writes
 *      to its eventfd, which makes the set readable. A core that has something left to run stays
 *      awake and makes the set readable at once.
 *   B. The core then checks again whether there is something to steal, the phase (life/cycle.c) and
 *      its timers. The program's loop does not wait for them, so a timerfd in the set
 *      follows the earliest one, also when another thread arms an earlier one (io/due.c).
 *   C. The thread may be computing, so it comes back at an unknown time. Therefore the core never
 *      becomes the sentry of C of NOTE(park), and a waker never gives it the search of B: either
 *      would keep others from waking a core that starts at once. A waker that finds no other
 *      sleeper does wake it, but ends the search itself. While another core is busy and there is no
 *      sentry, the timerfd brings the thread back after a millisecond.
 *   D. A waker marks the core busy. If the thread does not come back, the core counts as stuck
 *      (NOTE(stuck)) and others pull the colors that wait there. A core that relieves it may take
 *      its wake-up out of the set; then it writes the wake-up again, for the program's poll.
 *   E. A pass begins by marking the core awake, and then collects what the set and the timers have.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "core/hooks.h"
#include "queue/outbox.h"
#include "sched/drain.h"
#include "sched/lend.h"
#include "sched/park.h"
#include "sched/run.h"
#include "sched/steal.h"
#include "sched/stuck.h"
#include "sched/wait.h"
#include "sched/wake.h"

enum {
	SENTRY_NS = 1000000,      /* between two checks of the sentry */
	LENDER_NS = 5000000,      /* ... if it lends: C of NOTE(lend) */
	DRAIN_LOOK_NS = 2000000,  /* between two checks whether a drain is done */
	SPIN_NS_MIN = 500,
	SHORT_SLEEP_NS = 20000
};

/* A spin would have paid: the next one is twice as long, within the limit. */
static void
spin_longer(struct melyint_core *core)
{
	uint32_t most = core->rt->limits.spin_ns_max, ns = core->pace.spin_ns * 2;

	ns = ns < SPIN_NS_MIN ? SPIN_NS_MIN : ns;
	core->pace.spin_ns = ns < most ? ns : most;
}

/* Spin until an event arrives. True: one has. */
static bool
spin(struct melyint_core *core)
{
	uint64_t until;

	MELY_DEBUG_ASSERT(melyint_self == core && core->batch.color == NULL);
	MELY_DEBUG_ASSERT(core->pace.spin_ns <= core->rt->limits.spin_ns_max);
	if (core->pace.spin_ns < SPIN_NS_MIN)
		return false;
	until = melyint_ticks() + melyint_ns_to_ticks(core->pace.spin_ns);
	do {
		/* relaxed: the lock of the next turn orders what this announces */
		if (MELY_LOAD(&core->hint.waiting, relaxed) != 0) {
			spin_longer(core);
			return true;
		}
		melyint_cpu_relax();
	} while (melyint_ticks() < until);
	core->pace.spin_ns /= 2;
	return false;
}

/* Nothing waits for this core alone to do it, except what is in its core-queue. Owner. */
static void
assert_nothing_held_back(const struct melyint_core *core)
{
	MELY_ASSERT(melyint_self == core && core->batch.color == NULL);
	MELY_DEBUG_ASSERT(melyint_outbox_length(&core->outbox) == 0);
	MELY_DEBUG_ASSERT(core->due.leaving == NULL && core->due.released == NULL &&
	    core->due.unmarked == 0);
}

/* A of NOTE(park). False: there is work after all. */
static bool
fall_asleep(struct melyint_core *core, uint8_t how)
{
	bool empty;

	assert_nothing_held_back(core);
	melyint_lock_take(&core->lock);
	empty = core->ready.length == 0;
	/* The end of a batch posts completions; this core runs none before it wakes. */
	MELY_DEBUG_ASSERT(core->locked.waiters == NULL && !core->locked.has_batch);
	if (empty) {
		melyint_set_sleep(core, how);
		if (how == MELYINT_OUTSIDE)
			MELY_STORE(&core->hint.busy, 0, relaxed); /* before a waker sets it */
		/* relaxed, both: hints; in this order, under the lock: E of NOTE(park) */
		if (MELY_ADD(&core->fixed.domain->sleepers, 1, relaxed) == 0)
			MELY_ADD(&core->rt->idle.domains, 1, relaxed);
		MELY_DEBUG_ASSERT(MELY_PEEK(&core->fixed.domain->sleepers) <=
		    core->rt->cores_count);
	}
	melyint_lock_drop(&core->lock);
	/* The sleeper looks at the others' work, and for busy cores, only when they can see it: C
	 * of NOTE(park). Pairs with the fence in melyint_rise. */
	MELY_FENCE(seq_cst);
	return empty;
}

void
melyint_rise(struct melyint_core *core)
{
	MELY_DEBUG_ASSERT(melyint_self == core && core->batch.color == NULL);
	melyint_monitor_awake(core);
	MELY_FENCE(seq_cst); /* a busy core looks for sleepers: pairs with fall_asleep */
}

/* Back from a sleep. True: another thread had marked the core awake. */
static bool
stand_up(struct melyint_core *core)
{
	bool by_other;

	MELY_DEBUG_ASSERT(melyint_self == core);
	melyint_lock_take(&core->lock);
	by_other = !melyint_wake_locked(core);
	melyint_lock_drop(&core->lock);
	return by_other;
}

/* Is a core busy besides this one and that one? */
static bool
busy_besides(const struct melyint_core *core, const struct melyint_core *that)
{
	const struct mely_runtime *rt = core->rt;
	int i;

	for (i = 0; i < rt->cores_count; i++) {
		/* relaxed: a hint; a core that gets busy later sees that there is no sentry */
		if (&rt->cores[i] != core && &rt->cores[i] != that &&
		    MELY_LOAD(&rt->cores[i].hint.busy, relaxed) != 0)
			return true;
	}
	return false;
}

static bool
other_busy(const struct melyint_core *core)
{
	return busy_besides(core, NULL);
}

/* Is there something for the sentry to watch? For a lender, if the borrower has begun a turn since
 * then, too: C of NOTE(lend). */
static bool
worth_watching(const struct melyint_core *core, uint64_t since_ticks)
{
	/* relaxed, both: ours, and a hint */
	const struct melyint_core *to = MELY_LOAD(&core->loan.lends_to, relaxed);

	return other_busy(core) ||
	    (to != NULL && MELY_LOAD(&to->pace.turn_ticks, relaxed) > since_ticks);
}

/* What became of a core that tried to be the sentry. */
enum sentry {
	SENTRY_NONE,
	SENTRY_KEPT,
	SENTRY_LOST /* woken before others could see its role, which kept them from taking it */
};

/* Become the sentry if there is something to watch: C of NOTE(park). */
static enum sentry
take_sentry(struct melyint_core *core)
{
	struct mely_runtime *rt = core->rt;
	int none = 0;
	bool asleep;

	MELY_DEBUG_ASSERT(melyint_self == core);
	/* relaxed: a count of 0 or 1; worth_watching reads a line of each core */
	if (rt->cores_count == 1 || MELY_LOAD(&rt->idle.sentries, relaxed) != 0 ||
	    !worth_watching(core, melyint_ticks() - melyint_ns_to_ticks(LENDER_NS)) ||
	    (MELY_LOAD(&rt->switches.stealing, relaxed) == 0 &&
	    !melyint_stuck_needs_sentry(rt)))
		return SENTRY_NONE;
	/* relaxed: as above */
	if (!MELY_CAS(&rt->idle.sentries, &none, 1, relaxed))
		return SENTRY_NONE;
	melyint_lock_take(&core->lock);
	asleep = MELY_LOAD(&core->locked.sleep, relaxed) == MELYINT_ASLEEP; /* under the lock */
	if (asleep)
		melyint_set_sleep(core, MELYINT_SENTRY);
	/* Under the lock: the thread that wakes the sentry takes it off the count. */
	MELY_DEBUG_ASSERT(MELY_PEEK(&rt->idle.sentries) == 1);
	melyint_lock_drop(&core->lock);
	if (asleep)
		return SENTRY_KEPT;
	MELY_SUB(&rt->idle.sentries, 1, relaxed);
	return SENTRY_LOST;
}

/* End this core's search, if it was woken for one: another core may be woken. True: it was. */
static bool
end_search(struct melyint_core *core)
{
	bool was;

	MELY_DEBUG_ASSERT(melyint_self == core);
	melyint_lock_take(&core->lock);
	was = core->locked.searching;
	core->locked.searching = false;
	melyint_lock_drop(&core->lock);
	/* One core searches at a time, and it alone ends its search. */
	MELY_DEBUG_ASSERT(!was ||
	    MELY_PEEK(&core->fixed.domain->searching) != MELYINT_SEARCH_NONE);
	if (was) {
		/* acq_rel: as in wake_searcher. The caller looks for what posters left to it. */
		(void)MELY_EXCHANGE(&core->fixed.domain->searching, MELYINT_SEARCH_NONE, acq_rel);
	}
	return was;
}

/* Is the borrower the only other busy core, and does it have time? C of NOTE(lend) */
static bool
watches_borrower(const struct melyint_core *core)
{
	/* relaxed: ours */
	const struct melyint_core *to = MELY_LOAD(&core->loan.lends_to, relaxed);

	return to != NULL && !busy_besides(core, to) && !melyint_lend_deaf(to, melyint_ticks());
}

static uint64_t
longest_sleep(struct melyint_core *core, bool sentry)
{
	/* acquire: pairs with the release stores of the life cycle; mely_stop wakes all after it */
	if (MELY_LOAD(&core->rt->phase, acquire) == MELYINT_DRAINING)
		return DRAIN_LOOK_NS;
	if (!sentry)
		return UINT64_MAX;
	return watches_borrower(core) ? LENDER_NS : SENTRY_NS;
}

/* The sentry keeps its role while its checks find nothing. It reads this under the lock: what its
 * own poller brought woke no core, and the hints miss a color that is just being pinned. */
static bool
stays_sentry(struct melyint_core *core)
{
	bool on;

	melyint_lock_take(&core->lock);
	/* relaxed: under the lock */
	on = core->ready.length == 0 && MELY_LOAD(&core->locked.sleep, relaxed) == MELYINT_SENTRY;
	MELY_DEBUG_ASSERT(!on || MELY_PEEK(&core->rt->idle.sentries) == 1);
	melyint_lock_drop(&core->lock);
	return on;
}

static void
sleep_on(struct melyint_core *core, uint64_t timeout_ns)
{
	MELY_DEBUG_ASSERT(melyint_self == core && !melyint_lock_held(&core->lock));
	if (MELYINT_OBSERVED(sleep))
		melyint_observe_sleep(core, timeout_ns);
	melyint_poller_sleep(core, timeout_ns);
	if (MELYINT_OBSERVED(sleep))
		melyint_observe_awake(core);
}

/* What the sentry looks at besides work. */
static void
watch(struct melyint_core *core)
{
	MELY_DEBUG_ASSERT(melyint_self == core && !core->pace.outside);
	melyint_stuck_look(core, melyint_ticks(), true);
	/* The busy cores may not come back before the deadline. acquire: as in longest_sleep */
	if (MELY_LOAD(&core->rt->phase, acquire) == MELYINT_DRAINING)
		melyint_drain_look(core->rt);
}

/* Wait in the poller until another thread wakes us, or there is work to take. */
static void
doze(struct melyint_core *core, bool sentry)
{
	uint64_t began;

	do {
		began = melyint_ticks();
		MELY_COUNT(&core->counters.sleeps, 1);
		/* release: pairs with the load in monitor.c, which then sees the count. For others'
		 * glances it protects no queue. */
		MELY_STORE(&core->hint.busy, 0, release);
		(void)melyint_doing(&core->tallies, MELY_STATS_SLEEPING, began);
		sleep_on(core, longest_sleep(core, sentry));
		(void)melyint_doing(&core->tallies, MELY_STATS_STEALING, melyint_ticks());
		melyint_rise(core);
		if (sentry)
			watch(core);
	} while (sentry && stays_sentry(core) &&
	    worth_watching(core, began) && !melyint_outbox_collect(core) && !melyint_steal(core));
}

void
melyint_hand_over_sentry(struct melyint_core *core)
{
	struct mely_runtime *rt = core->rt;
	int i;

	MELY_DEBUG_ASSERT(melyint_self == core);
	core->others.owes_sentry = core->batch.color == NULL &&
	    MELY_LOAD(&core->hint.waiting, relaxed) == 0; /* a hint */
	MELY_FENCE(seq_cst); /* it is over before the look: left_to_searcher, left_to_sentry */
	for (i = 0; i < rt->cores_count - 1 && !core->others.owes_sentry; i++)
		melyint_offer(core, &rt->cores[core->fixed.victims[i]]);
}

void
melyint_park(struct melyint_core *core)
{
	struct mely_runtime *rt = core->rt;
	enum sentry sentry;
	uint64_t began;

	/* Check all victims before announcing the sleep: on many cores it is dear to announce one
	 * and take it back. */
	if (spin(core) || melyint_steal(core) || !fall_asleep(core, MELYINT_ASLEEP))
		return;
	/* Check all hints again, now that posters can see us sleep. */
	if (melyint_steal(core)) {
		stand_up(core);
		if (end_search(core) || core->others.owes_sentry)
			melyint_hand_over_sentry(core);
		return;
	}
	core->others.owes_sentry = false;
	sentry = take_sentry(core);
	began = melyint_ticks();
	/* acquire: a stop is followed by a wake-up of all sleepers, which may come after this */
	if (MELY_LOAD(&rt->phase, acquire) < MELYINT_STOPPED)
		doze(core, sentry == SENTRY_KEPT);
	if (stand_up(core) && melyint_ticks() - began < melyint_ns_to_ticks(SHORT_SLEEP_NS))
		spin_longer(core);
	/* Take at once what we may have been woken for, so that the next core can be woken. */
	if (core->batch.color == NULL && MELY_LOAD(&core->hint.waiting, relaxed) == 0) /* a hint */
		melyint_steal(core);
	if (end_search(core) || sentry != SENTRY_NONE)
		melyint_hand_over_sentry(core);
	if (core->batch.color != NULL || MELY_LOAD(&core->hint.waiting, relaxed) != 0) /* a hint */
		melyint_stuck_begin(core);
	/* It runs batches now, and only the core itself falls asleep. */
	MELY_DEBUG_ASSERT(MELY_PEEK(&core->locked.sleep) == MELYINT_AWAKE);
}

/* ---- in the program's loop ------------------------------------------------------------------- */

/* B and C of NOTE(outside) */
static uint64_t
next_pass(const struct melyint_core *core)
{
	const struct mely_runtime *rt = core->rt;

	MELY_DEBUG_ASSERT(core->index == 0 && core->pace.outside);
	/* acquire: pairs with the release stores of the life cycle; mely_stop wakes all after it */
	if (MELY_LOAD(&rt->phase, acquire) == MELYINT_DRAINING)
		return melyint_now_ns() + DRAIN_LOOK_NS;
	/* relaxed, both: a hint, and a switch */
	if (rt->cores_count == 1 || MELY_LOAD(&rt->idle.sentries, relaxed) != 0 ||
	    !other_busy(core) ||
	    (MELY_LOAD(&rt->switches.stealing, relaxed) == 0 && !melyint_stuck_needs_sentry(rt)))
		return UINT64_MAX;
	return melyint_now_ns() + SENTRY_NS;
}

bool
melyint_go_outside(struct melyint_core *core, uint64_t *pass_ns)
{
	MELY_ASSERT(core->index == 0 && core->batch.color == NULL);
	core->pace.outside = true;
	if (!fall_asleep(core, MELYINT_OUTSIDE))
		return false;
	/* Check all hints again, now that posters can see us outside. */
	if (melyint_steal(core)) {
		stand_up(core);
		return false;
	}
	MELY_COUNT(&core->counters.sleeps, 1);
	*pass_ns = next_pass(core);
	return true;
}

void
melyint_come_inside(struct melyint_core *core)
{
	MELY_ASSERT(core->index == 0);
	core->pace.outside = false;
	(void)stand_up(core);
	melyint_rise(core);
	MELY_DEBUG_ASSERT(MELY_PEEK(&core->locked.sleep) == MELYINT_AWAKE);
}
