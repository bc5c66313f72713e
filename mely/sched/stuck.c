/* SPDX-License-Identifier: MIT */
/*
 * stuck.c: cores that do not come back, and other cores that poll on their behalf meanwhile.
 *
 * NOTE(stuck)
 *   A. A busy core that has not ended a batch or gone to sleep for stuck_ms is stuck: a handler
 *      computes or blocks for long, or the core's thread gets no processor. It serves neither its
 *      poller nor its queues. The core does nothing for this: other cores read two of its counters
 *      and note when they last saw them change.
 *   B. Every core that runs batches checks for stuck cores in its tick, and so does the sentry of
 *      NOTE(park). When all cores slept and one gets busy, there is no sentry, and to wake one at
 *      every such beginning would be dear. Instead the core that begins arms a timer that all
 *      pollers share, unless there is a sentry or the timer is armed already. When it expires it
 *      wakes one sleeper, which becomes the sentry if another core is busy and else sleeps on. So
 *      a beginning costs a system call at most once in stuck_ms, and nothing ticks while all sleep.
 *   C. The core that finds a stuck one relieves it, about once a millisecond while it is stuck: it
 *      delivers what the stuck core holds back for other cores, polls on its behalf and runs its
 *      timers (NOTE(hold) in io/poller.c). It posts what that brings as ever, except that it always
 *      adopts an idle color (NOTE(post)). Idle cores steal the colors that wait on the stuck core
 *      (NOTE(steal)), and pull what is left. Busy cores pull much later: a core whose thread has
 *      lost its processor is stuck, too, and if the cores that run took all colors from those that
 *      do not, colors would get very unequal turns. For the same reason they pull the later the
 *      more cores share a processor. Only what is pinned there, and the color that runs there, has
 *      to wait.
 *   D. The poller stays the stuck core's: it polls again as soon as it is back, and no state has to
 *      be handed back. A descriptor whose color has run elsewhere for long enough leaves, as ever
 *      (NOTE(follow) in io/fd.c).
 * To treat a core as stuck that is not costs little and breaks nothing, so all reads here are
 * relaxed: a thread that polls holds the poller.
 */
#include "sched/stuck.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/descriptor.h"
#include "base/clock.h"
#include "queue/outbox.h"
#include "sched/steal.h"
#include "sched/wait.h"

enum {
	LOOKS_MAX = 16,      /* cores that a busy core checks in one tick */
	BUSY_PULLS_AFTER = 8 /* a busy core waits this many times as long as an idle one */
};

int
melyint_stuck_init(struct mely_runtime *rt)
{
	struct melyint_stuck *stuck = &rt->stuck;
	int usable;

	/* relaxed: no other thread knows the runtime yet */
	MELY_STORE(&stuck->until, 0, relaxed);
	stuck->ticks = stuck->pull_ticks = 0;
	stuck->fd = -1;
	MELY_ASSERT(rt->io != NULL); /* its pollers come next */
	if (rt->config.stuck_ms == 0 || rt->cores_count == 1)
		return 0;
	stuck->fd = melyint_fd_high(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
	if (stuck->fd < 0)
		return -errno;
	stuck->ticks = melyint_ns_to_ticks(rt->config.stuck_ms * 1000000ull);
	usable = mely_cores_usable();
	MELY_ASSERT(usable > 0);
	stuck->pull_ticks = stuck->ticks * (uint64_t)((rt->cores_count + usable - 1) / usable);
	return 0;
}

void
melyint_stuck_fini(struct mely_runtime *rt)
{
	if (rt->stuck.fd >= 0)
		close(rt->stuck.fd);
	rt->stuck.fd = -1;
}

bool
melyint_stuck_needs_sentry(const struct mely_runtime *rt)
{
	return rt->stuck.ticks != 0;
}

/* ---- A of NOTE(stuck) ------------------------------------------------------------------------ */

/* A number that changes when the core comes back from what it does. */
static uint64_t
progress_of(const struct melyint_core *core)
{
	/* relaxed, both: written by the core */
	return MELY_LOAD(&core->counters.batches, relaxed) +
	    MELY_LOAD(&core->counters.sleeps, relaxed);
}

static void
note(struct melyint_progress *progress, uint64_t seen, uint64_t now_ticks)
{
	/* relaxed, both: hints; two cores that note at the same time may mix theirs */
	MELY_STORE(&progress->seen, seen, relaxed);
	MELY_STORE(&progress->seen_ticks, now_ticks, relaxed);
}

/* The time for which core has not come back; 0: it is not stuck. */
static uint64_t
stuck_for(struct melyint_core *core, uint64_t now_ticks)
{
	struct melyint_progress *progress = &core->progress;
	uint64_t seen, since;

	/* relaxed, all: hints */
	if (MELY_LOAD(&core->hint.busy, relaxed) == 0)
		return 0;
	seen = progress_of(core);
	since = MELY_LOAD(&progress->seen_ticks, relaxed);
	if (seen != MELY_LOAD(&progress->seen, relaxed)) {
		note(progress, seen, now_ticks);
		return 0;
	}
	if (since == 0 || now_ticks <= since || now_ticks - since < core->rt->stuck.ticks)
		return 0;
	return now_ticks - since;
}

/* ---- B of NOTE(stuck) ------------------------------------------------------------------------ */

static void
arm(const struct mely_runtime *rt)
{
	uint64_t ns = rt->config.stuck_ms * 1000000ull;
	struct itimerspec once = {.it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};

	MELY_DEBUG_ASSERT(rt->stuck.fd >= 0 && ns > 0); /* a time of 0 would disarm it */
	/* Cannot fail with these arguments; without the timer, cores check when they are next
	 * awake. */
	(void)timerfd_settime(rt->stuck.fd, 0, &once, NULL);
}

void
melyint_stuck_begin(struct melyint_core *core)
{
	struct melyint_stuck *stuck = &core->rt->stuck;
	uint64_t now, until;

	if (stuck->ticks == 0)
		return;
	now = melyint_ticks();
	note(&core->progress, progress_of(core), now);
	/* relaxed, all: a sentry that gives up its role checks for busy cores before it sleeps */
	if (MELY_LOAD(&core->rt->idle.sentries, relaxed) != 0)
		return;
	until = MELY_LOAD(&stuck->until, relaxed);
	if (now >= until && MELY_CAS(&stuck->until, &until, now + stuck->ticks, relaxed))
		arm(core->rt);
}

/* ---- C of NOTE(stuck) ------------------------------------------------------------------------ */

static void
relieve(struct melyint_core *self, struct melyint_core *core, uint64_t now_ticks, bool pull)
{
	struct melyint_progress *progress = &core->progress;

	MELY_ASSERT(core != self);
	MELY_DEBUG_ASSERT(melyint_self == self && self->others.relieved == NULL);
	/* relaxed, both: one relief is enough, two do no harm */
	if (now_ticks - MELY_LOAD(&progress->relieved_ticks, relaxed) <
	    core->rt->limits.tick_ticks / 2)
		return;
	MELY_STORE(&progress->relieved_ticks, now_ticks, relaxed);
	melyint_outbox_collect_from(self, core);
	self->others.relieved = core;
	(void)melyint_poller_relieve(self, core);
	self->others.relieved = NULL;
	if (pull)
		melyint_steal_relieve(self, core);
}

void
melyint_stuck_look(struct melyint_core *core, uint64_t now_ticks, bool idle)
{
	struct mely_runtime *rt = core->rt;
	uint64_t pull_ticks = rt->stuck.pull_ticks * (idle ? 1 : BUSY_PULLS_AFTER);
	int others = rt->cores_count - 1, first = 0, n = others, i;

	MELY_DEBUG_ASSERT(melyint_self == core);
	if (rt->stuck.ticks == 0)
		return;
	MELY_DEBUG_ASSERT(others > 0); /* melyint_stuck_init */
	if (!idle && others > LOOKS_MAX) {
		/* Check other cores a millisecond later. */
		first = (int)(now_ticks / rt->limits.tick_ticks * LOOKS_MAX % (uint64_t)others);
		n = LOOKS_MAX;
	}
	for (i = 0; i < n; i++) {
		struct melyint_core *other = &rt->cores[core->fixed.victims[(first + i) % others]];
		uint64_t stuck = stuck_for(other, now_ticks);

		if (MELY_UNLIKELY(stuck != 0))
			relieve(core, other, now_ticks, stuck >= pull_ticks);
	}
}
