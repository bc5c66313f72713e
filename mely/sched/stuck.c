/* SPDX-License-Identifier: MIT */
/*
 * stuck.c: cores that do not come back, and the others who do their looking meanwhile.
 *
 * NOTE(stuck)
 *   A. A busy core that has not ended a batch, nor gone to sleep, for stuck_ms is stuck: a handler
 *      computes or blocks for long, or the core's thread gets no processor. It looks neither at its
 *      poller nor at its queues. Nothing is asked of it for this: the others read two of its
 *      counters and note when they last saw them change.
 *   B. Who sees it: every core that runs batches, in its tick; and the watcher of NOTE(park). When
 *      all slept and one gets busy, nobody watches, and to wake a watcher at every such beginning
 *      would be dear. Instead the beginner, if nobody watches, arms a timer that all pollers know,
 *      unless it is armed already. When that fires it wakes one sleeper, who becomes the watcher
 *      if somebody is busy, and sleeps on if not. So: a beginning costs a system call at most
 *      once in stuck_ms, and when all sleep nothing ticks.
 *   C. Who sees it relieves the stuck core, about once a millisecond as long as it is stuck: what
 *      it holds back for other cores is delivered, its poller is looked at in its place and its
 *      timers are run (NOTE(hold) in poller.c). What that brings is posted as ever, only that an
 *      idle color is always adopted by the core that posts (NOTE(post)). Colors that wait there
 *      are for idle cores to steal (NOTE(steal)), and idle cores pull what is left. Busy ones do
 *      so much later: to them a core whose thread has lost its processor looks the same, and if
 *      those that run took all from those that do not, colors would get very unequal turns. For
 *      the same reason it is later the more cores share a processor. Only what is pinned there,
 *      and the color that runs there, has to wait.
 *   D. The poller stays the stuck core's: it looks again as soon as it is back, and nothing has to
 *      be handed back. A descriptor whose color has run elsewhere for long enough leaves, as ever
 *      (NOTE(follow) in io/fd.c).
 * To take a core that is not stuck for one costs little and breaks nothing, so all reading here is
 * relaxed: whoever holds the poller uses it.
 */
#include "sched/stuck.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "io/state.h"
#include "queue/outbox.h"
#include "io/poller.h"
#include "sched/steal.h"

enum {
	LOOKS_MAX = 16,
	BUSY_PULLS_AFTER = 8 /* times as long as idle ones */
};

int
melyint_stuck_init(struct mely_runtime *rt)
{
	struct melyint_io *io = rt->io;
	int usable;

	/* relaxed: nobody else knows it yet */
	MELY_STORE(&io->stuck_until, 0, relaxed);
	io->stuck_ticks = io->pull_ticks = 0;
	io->stuckfd = -1;
	if (rt->config.stuck_ms == 0 || rt->cores_count == 1)
		return 0;
	io->stuckfd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (io->stuckfd < 0)
		return -errno;
	io->stuck_ticks = melyint_ns_to_ticks(rt->config.stuck_ms * 1000000ull);
	usable = mely_cores_usable();
	io->pull_ticks = io->stuck_ticks * (uint64_t)((rt->cores_count + usable - 1) / usable);
	return 0;
}

void
melyint_stuck_fini(struct mely_runtime *rt)
{
	if (rt->io->stuckfd >= 0)
		close(rt->io->stuckfd);
	rt->io->stuckfd = -1;
}

bool
melyint_stuck_watched(const struct mely_runtime *rt)
{
	return rt->io->stuck_ticks != 0;
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
	/* relaxed, both: hints; two who note at a time may mix theirs */
	MELY_STORE(&progress->seen, seen, relaxed);
	MELY_STORE(&progress->seen_ticks, now_ticks, relaxed);
}

/* For how long has it not come back? 0: it is not stuck. */
static uint64_t
stuck_for(const struct melyint_core *core, uint64_t now_ticks)
{
	struct melyint_progress *progress = &core->fixed.poller->progress;
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
	if (since == 0 || now_ticks <= since || now_ticks - since < core->rt->io->stuck_ticks)
		return 0;
	return now_ticks - since;
}

/* ---- B of NOTE(stuck) ------------------------------------------------------------------------ */

static void
arm(struct melyint_io *io)
{
	uint64_t ns = io->rt->config.stuck_ms * 1000000ull;
	struct itimerspec once = {.it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};

	/* Can't fail with these; without it the others look when they are next awake. */
	(void)timerfd_settime(io->stuckfd, 0, &once, NULL);
}

void
melyint_stuck_begin(struct melyint_core *core)
{
	struct melyint_io *io = core->rt->io;
	uint64_t now, until;

	if (io->stuck_ticks == 0)
		return;
	now = melyint_ticks();
	note(&core->fixed.poller->progress, progress_of(core), now);
	/* relaxed, all: a watcher that gives up its role looks who is busy before it sleeps */
	if (MELY_LOAD(&core->rt->idle.sentries, relaxed) != 0)
		return;
	until = MELY_LOAD(&io->stuck_until, relaxed);
	if (now >= until && MELY_CAS(&io->stuck_until, &until, now + io->stuck_ticks, relaxed))
		arm(io);
}

/* ---- C of NOTE(stuck) ------------------------------------------------------------------------ */

static void
relieve(struct melyint_core *self, struct melyint_core *core, uint64_t now_ticks, bool pull)
{
	struct melyint_progress *progress = &core->fixed.poller->progress;

	/* relaxed, both: one of several is enough, two do no harm */
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
	uint64_t pull_ticks = rt->io->pull_ticks * (idle ? 1 : BUSY_PULLS_AFTER);
	int others = rt->cores_count - 1, first = 0, n = others, i;

	if (rt->io->stuck_ticks == 0)
		return;
	if (!idle && others > LOOKS_MAX) {
		/* Others again a millisecond later. */
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
