/* SPDX-License-Identifier: MIT */
/*
 * park.c: sleep and wake.
 *
 * NOTE(park)
 *   A. A core goes to sleep under its own lock, and only with an empty core-queue. Whoever posts
 *      to it does so under the same lock: either the sleeper sees the event, or the poster sees
 *      the sleeper, marks it awake and owes it one wake-up system call, made after the unlock.
 *      No wake-up is lost and none is sent to a core that is awake.
 *   B. For work that waits behind a busy core a sleeper is woken as a thief when that pays
 *      (victim.c). At most one woken core searches at a time (rt->idle.searching); when it finds
 *      something and more is left, it wakes the next.
 *   C. The glances of B are not ordered against a core that is just going to sleep, so both could
 *      miss each other. Therefore one of the sleepers is the watcher while any core is busy: it
 *      looks up every millisecond. A core that goes to sleep takes the role if somebody is busy
 *      and nobody has it; a poster that leaves work waiting where nobody watches, and a core that
 *      begins a batch with others waiting, wakes a sleeper to take it; and a watcher that gets
 *      work of its own wakes a successor. So does a searcher, whom the same may have been left
 *      to; if they find nothing they owe it until they sleep again or begin a batch. When all
 *      cores sleep, nobody watches and nothing ticks. The watcher also relieves cores that do not
 *      come back: NOTE(stuck) in stuck.c.
 *   D. A search keeps others from waking a second core. Who is kept from it while nobody watches
 *      says so in rt->idle.searching, and whoever ends the search sees it: one who found nobody to
 *      wake tries again, a searcher that comes back leaves a watcher behind, as in C.
 *
 * NOTE(outside)
 *   Between passes (mely_run_once_for) the thread of core 0 may poll the descriptor of core 0's
 *   epoll set (mely_backend_fd) in the program's own loop.
 *   A. At the end of a pass, with an empty core-queue, the core goes outside: under its lock it
 *   sets
 *      its sleep to OUTSIDE and counts as a sleeper, before the program polls. So A of NOTE(park)
 *      holds: a poster that appends later sees OUTSIDE, marks the core awake and writes to its
 *      eventfd, which makes the set readable. A core that has something left to run stays awake and
 *      makes the set readable at once.
 *   B. The core then checks again whether there is something to steal, the phase (life/cycle.c) and
 *      its timers. libev holds the timers but cannot wait for them here, so a timerfd in the set
 *      follows the earliest one, also when another thread arms an earlier one (io/due.c).
 *   C. The thread may be computing, so it comes back at an unknown time. Therefore the core never
 *      takes the role of C of NOTE(park), and a waker never gives it the search of B: either would
 *      keep others from waking a core that starts at once. A waker that finds no other sleeper does
 *      wake it, but ends the search itself. While another core is busy and there is no watcher, the
 *      timerfd brings the thread back after a millisecond.
 *   D. A waker marks the core busy. If the thread does not come back, the core counts as stuck
 *      (NOTE(stuck)) and others pull the colors that wait there. A core that relieves it may take
 *      its wake-up out of the set; then it writes the wake-up again, for the program's poll.
 *   E. A pass begins by marking the core awake, and then collects what the set and the timers have.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "sched/run.h"
#include "sched/drain.h"
#include "look/watchdog/monitor.h"
#include "look/trace/observe.h"
#include "queue/outbox.h"
#include "sched/park.h"
#include "io/poller.h"
#include "sched/steal.h"
#include "sched/stuck.h"
#include "sched/victim.h"

enum {
	WATCH_NS = 1000000,
	DRAIN_LOOK_NS = 2000000,
	SPIN_NS_MIN = 500,
	SHORT_SLEEP_NS = 20000
};

/* ---- waking ---------------------------------------------------------------------------------- */

bool
melyint_wake_locked(struct melyint_core *core)
{
	struct mely_runtime *rt = core->rt;
	uint8_t sleep = MELY_LOAD(&core->locked.sleep, relaxed); /* under the lock */

	if (MELY_LIKELY(sleep == MELYINT_AWAKE))
		return false;
	MELY_STORE(&core->locked.sleep, MELYINT_AWAKE, relaxed); /* under the lock */
	/* relaxed, both: counts that are looked at as hints */
	if (sleep == MELYINT_SENTRY)
		MELY_SUB(&rt->idle.sentries, 1, relaxed);
	else if (sleep == MELYINT_OUTSIDE)
		MELY_STORE(&core->hint.busy, 1, relaxed); /* a hint; D of NOTE(outside) */
	MELY_SUB(&rt->idle.sleepers, 1, relaxed);
	return true;
}

void
melyint_wake_finish(struct melyint_core *self, struct melyint_core *core)
{
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

/* C of NOTE(outside): core 0 comes when it comes, and does not keep others from searching. */
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

/* Wake the sleeper nearest to core, to search for work. False: nobody sleeps. */
static bool
wake_nearest(struct melyint_core *self, struct melyint_core *core)
{
	struct mely_runtime *rt = core->rt;
	int i;

	for (i = 0; i < rt->cores_count; i++) {
		/* core itself comes last: it may sleep when others were turned away meanwhile */
		struct melyint_core *sleeper = i < rt->cores_count - 1 ?
		    &rt->cores[core->fixed.victims[i]] : core;
		/* relaxed: a hint; the lock decides */
		uint8_t sleep = MELY_LOAD(&sleeper->locked.sleep, relaxed);
		bool woken;

		if (sleeper == self || sleep == MELYINT_AWAKE || sleep == MELYINT_OUTSIDE)
			continue;
		melyint_lock_take(&sleeper->lock);
		woken = melyint_wake_locked(sleeper);
		if (woken)
			sleeper->locked.searching = true;
		melyint_lock_drop(&sleeper->lock);
		if (woken) {
			melyint_wake_finish(self, sleeper);
			return true;
		}
	}
	wake_outside(self, rt);
	return false;
}

static void
wake_searcher(struct melyint_core *self, struct melyint_core *core)
{
	struct mely_runtime *rt = core->rt;
	int none;

	do {
		none = MELYINT_SEARCH_NONE;
		/* relaxed: who loses comes before the winner, whose look at the sleepers is
		 * still to come */
		if (!MELY_CAS(&rt->idle.searching, &none, MELYINT_SEARCH_ONE, relaxed) ||
		    wake_nearest(self, core))
			return;
		/* acq_rel: D of NOTE(park), pairs with left_to_searcher */
	} while (MELY_EXCHANGE(&rt->idle.searching, MELYINT_SEARCH_NONE, acq_rel) ==
	    MELYINT_SEARCH_MORE);
}

/* D of NOTE(park): does somebody search who will see to what was just posted, too? */
static bool
left_to_searcher(struct mely_runtime *rt)
{
	/* relaxed: if nobody does, the exchange in wake_searcher decides */
	int seen = MELY_LOAD(&rt->idle.searching, relaxed);

#ifndef MELYINT_TSAN
	/* Somebody has said so already, and to say it again costs others the line. seq_cst: pairs
	 * with the fence in end_search. If the word is still what it was, then what was posted
	 * before comes before the searcher's look. */
	if (seen == MELYINT_SEARCH_MORE) {
		MELY_FENCE(seq_cst);
		seen = MELY_LOAD(&rt->idle.searching, relaxed);
		if (seen == MELYINT_SEARCH_MORE)
			return true;
	}
#endif
	while (seen != MELYINT_SEARCH_NONE) {
		/* acq_rel: pairs with the exchanges that end a search */
		if (MELY_CAS(&rt->idle.searching, &seen, MELYINT_SEARCH_MORE, acq_rel))
			return true;
	}
	return false;
}

static MELY_NOINLINE void
offer_slow(struct melyint_core *self, struct melyint_core *core, bool behind)
{
	struct mely_runtime *rt = core->rt;
	/* relaxed, all: hints; what is missed here the watcher sees: C of NOTE(park) */
	uint32_t n = MELY_LOAD(&core->hint.stealable, relaxed);
	bool watched = MELY_LOAD(&rt->idle.sentries, relaxed) != 0;

	if (n == 0 || MELY_LOAD(&rt->switches.stealing, relaxed) == 0)
		return;
	if (watched && (MELY_LOAD(&rt->idle.searching, relaxed) != MELYINT_SEARCH_NONE ||
	    !melyint_victim_pays_wakeup(core, n, behind)))
		return;
	if (watched || !left_to_searcher(rt))
		wake_searcher(self, core);
}

void
melyint_offer(struct melyint_core *self, struct melyint_core *core)
{
	/* relaxed: a hint, as in offer_slow */
	if (MELY_UNLIKELY(MELY_LOAD(&core->rt->idle.sleepers, relaxed) > 0))
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

/* ---- sleeping -------------------------------------------------------------------------------- */

/* Spin on what arrives in memory. True: something has. */
static bool
spin(struct melyint_core *core)
{
	uint64_t until;

	if (core->pace.spin_ns < SPIN_NS_MIN)
		return false;
	until = melyint_ticks() + melyint_ns_to_ticks(core->pace.spin_ns);
	do {
		/* relaxed: the lock of the turn that follows orders what it announces */
		if (MELY_LOAD(&core->hint.waiting, relaxed) != 0) {
			core->pace.spin_ns *= 2;
			if (core->pace.spin_ns > core->rt->limits.spin_ns_max)
				core->pace.spin_ns = core->rt->limits.spin_ns_max;
			return true;
		}
		melyint_cpu_relax();
	} while (melyint_ticks() < until);
	core->pace.spin_ns /= 2;
	return false;
}

/* A of NOTE(park): false when there is something to do after all. */
static bool
fall_asleep(struct melyint_core *core, uint8_t how)
{
	bool empty;

	melyint_lock_take(&core->lock);
	empty = core->ready.length == 0;
	if (empty) {
		MELY_STORE(&core->locked.sleep, how, relaxed); /* under the lock */
		if (how == MELYINT_OUTSIDE)
			MELY_STORE(&core->hint.busy, 0, relaxed); /* before a waker sets it */
		MELY_ADD(&core->rt->idle.sleepers, 1, relaxed);         /* a hint */
	}
	melyint_lock_drop(&core->lock);
	return empty;
}

/* Back, whoever woke us. True: somebody else had marked us awake. */
static bool
stand_up(struct melyint_core *core)
{
	bool by_other;

	melyint_lock_take(&core->lock);
	by_other = !melyint_wake_locked(core);
	melyint_lock_drop(&core->lock);
	return by_other;
}

static bool
anybody_busy(const struct melyint_core *core)
{
	const struct mely_runtime *rt = core->rt;
	int i;

	for (i = 0; i < rt->cores_count; i++) {
		/* relaxed: a hint; a core that gets busy later sees that nobody watches */
		if (&rt->cores[i] != core && MELY_LOAD(&rt->cores[i].hint.busy, relaxed) != 0)
			return true;
	}
	return false;
}

/* What became of a core that would be the watcher. */
enum watch {
	WATCH_NONE,
	WATCH_KEPT,
	WATCH_LOST /* woken before others could see its role, which kept them from taking it */
};

/* Become the watcher if there is something to watch: C of NOTE(park). */
static enum watch
take_watch(struct melyint_core *core)
{
	struct mely_runtime *rt = core->rt;
	int none = 0;
	bool asleep;

	if (rt->cores_count == 1 || !anybody_busy(core) ||
	    (MELY_LOAD(&rt->switches.stealing, relaxed) == 0 && !melyint_stuck_watched(rt)))
		return WATCH_NONE;
	/* relaxed: a count of 0 or 1, looked at as a hint */
	if (!MELY_CAS(&rt->idle.sentries, &none, 1, relaxed))
		return WATCH_NONE;
	melyint_lock_take(&core->lock);
	asleep = MELY_LOAD(&core->locked.sleep, relaxed) == MELYINT_ASLEEP; /* under the lock */
	if (asleep)
		MELY_STORE(&core->locked.sleep, MELYINT_SENTRY, relaxed);
	melyint_lock_drop(&core->lock);
	if (asleep)
		return WATCH_KEPT;
	MELY_SUB(&rt->idle.sentries, 1, relaxed);
	return WATCH_LOST;
}

/* A woken searcher has looked: the next may be woken. True: it was one. */
static bool
end_search(struct melyint_core *core)
{
	bool was;

	melyint_lock_take(&core->lock);
	was = core->locked.searching;
	core->locked.searching = false;
	melyint_lock_drop(&core->lock);
	if (was) {
		/* acq_rel: as in wake_searcher; what follows sees what others left to us */
		(void)MELY_EXCHANGE(&core->rt->idle.searching, MELYINT_SEARCH_NONE, acq_rel);
#ifndef MELYINT_TSAN
		MELY_FENCE(seq_cst); /* pairs with the one in left_to_searcher */
#endif
	}
	return was;
}

static uint64_t
longest_sleep(struct melyint_core *core, bool watching)
{
	/* acquire: pairs with the release stores of the life cycle; mely_stop wakes all after it */
	if (MELY_LOAD(&core->rt->phase, acquire) == MELYINT_DRAINING)
		return DRAIN_LOOK_NS;
	return watching ? WATCH_NS : UINT64_MAX;
}

/* The watcher keeps its role through the looks that show nothing. Under the lock, for what its own
 * poller brought woke nobody, and the hints miss a color that is just being pinned. */
static bool
watches_on(struct melyint_core *core)
{
	bool on;

	melyint_lock_take(&core->lock);
	/* relaxed: under the lock */
	on = core->ready.length == 0 && MELY_LOAD(&core->locked.sleep, relaxed) == MELYINT_SENTRY;
	melyint_lock_drop(&core->lock);
	return on;
}

static void
sleep_on(struct melyint_core *core, uint64_t timeout_ns)
{
	if (MELYINT_OBSERVED(sleep))
		melyint_observe_sleep(core, timeout_ns);
	melyint_poller_sleep(core, timeout_ns);
	if (MELYINT_OBSERVED(sleep))
		melyint_observe_awake(core);
}

/* In the poller until somebody wakes us, or there is something to take. */
static void
doze(struct melyint_core *core, bool watching)
{
	do {
		MELY_COUNT(&core->counters.sleeps, 1);
		/* relaxed: only others' glances; no queue is touched by it */
		MELY_STORE(&core->hint.busy, 0, relaxed);
		(void)melyint_doing(&core->tallies, MELY_STATS_SLEEPING, melyint_ticks());
		sleep_on(core, longest_sleep(core, watching));
		(void)melyint_doing(&core->tallies, MELY_STATS_STEALING, melyint_ticks());
		melyint_monitor_awake(core);
		if (watching)
			melyint_stuck_look(core, melyint_ticks(), true);
	} while (watching && watches_on(core) && anybody_busy(core) &&
	    !melyint_outbox_collect(core) && !melyint_steal(core));
}

void
melyint_hand_over_watch(struct melyint_core *core)
{
	struct mely_runtime *rt = core->rt;
	int i;

	core->others.owes_sentry = core->batch.color == NULL &&
	    MELY_LOAD(&core->hint.waiting, relaxed) == 0; /* a hint */
	for (i = 0; i < rt->cores_count - 1 && !core->others.owes_sentry; i++)
		melyint_offer(core, &rt->cores[core->fixed.victims[i]]);
}

void
melyint_park(struct melyint_core *core)
{
	struct mely_runtime *rt = core->rt;
	enum watch watch;
	uint64_t began;

	/* A look at all before others are told: to say so and take it back is dear among many. */
	if (spin(core) || melyint_steal(core) || !fall_asleep(core, MELYINT_ASLEEP))
		return;
	/* Look at all hints again, now that posters can see us sleep. */
	if (melyint_steal(core)) {
		stand_up(core);
		if (end_search(core) || core->others.owes_sentry)
			melyint_hand_over_watch(core);
		return;
	}
	core->others.owes_sentry = false;
	watch = take_watch(core);
	began = melyint_ticks();
	/* acquire: a stop is followed by a wake-up of all sleepers, which may come after this */
	if (MELY_LOAD(&rt->phase, acquire) < MELYINT_STOPPED)
		doze(core, watch == WATCH_KEPT);
	if (stand_up(core) && melyint_ticks() - began < melyint_ns_to_ticks(SHORT_SLEEP_NS) &&
	    core->pace.spin_ns < rt->limits.spin_ns_max)
		core->pace.spin_ns =
		    core->pace.spin_ns < SPIN_NS_MIN ? SPIN_NS_MIN : core->pace.spin_ns * 2;
	/* Look at once for what we may have been woken for, so that the next can be woken. */
	if (core->batch.color == NULL && MELY_LOAD(&core->hint.waiting, relaxed) == 0) /* a hint */
		melyint_steal(core);
	if (end_search(core) || watch != WATCH_NONE)
		melyint_hand_over_watch(core);
	if (core->batch.color != NULL || MELY_LOAD(&core->hint.waiting, relaxed) != 0) /* a hint */
		melyint_stuck_begin(core);
}

/* ---- in the program's loop ------------------------------------------------------------------- */

/* B and C of NOTE(outside) */
static uint64_t
next_pass(const struct melyint_core *core)
{
	const struct mely_runtime *rt = core->rt;

	/* acquire: pairs with the release stores of the life cycle; mely_stop wakes all after it */
	if (MELY_LOAD(&rt->phase, acquire) == MELYINT_DRAINING)
		return melyint_now_ns() + DRAIN_LOOK_NS;
	/* relaxed, both: a hint, and a switch */
	if (rt->cores_count == 1 || MELY_LOAD(&rt->idle.sentries, relaxed) != 0 ||
	    !anybody_busy(core) ||
	    (MELY_LOAD(&rt->switches.stealing, relaxed) == 0 && !melyint_stuck_watched(rt)))
		return UINT64_MAX;
	return melyint_now_ns() + WATCH_NS;
}

bool
melyint_go_outside(struct melyint_core *core, uint64_t *pass_ns)
{
	MELY_ASSERT(core->index == 0 && core->batch.color == NULL);
	core->pace.outside = true;
	if (!fall_asleep(core, MELYINT_OUTSIDE))
		return false;
	/* Look at all hints again, now that posters can see us outside. */
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
	core->pace.outside = false;
	(void)stand_up(core);
	melyint_monitor_awake(core);
}
