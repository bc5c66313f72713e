/* SPDX-License-Identifier: MIT */
/*
 * signal.c: signals.
 *
 * NOTE(signals)
 *   A. A signal belongs to one runtime of the process at a time. The first watcher installs
 *      `caught` with sigaction(2), the last one restores what was there before.
 *   B. `caught` counts the signal and writes to an eventfd, which wakes core 0 of the runtimes that
 *      watch signals. It does nothing else. Core 0 posts the events.
 *   C. No signal mask changes. Any thread that does not block a watched signal takes it, as a rule
 *      the thread in mely_run: the other cores and the helpers block all but synchronous signals.
 *   D. The counts keep signals that come before mely_run until then. Several that come before the
 *      program's handler runs are one event, as signals are.
 *   E. Signals belong to the process, so this is the one part of the I/O with state outside a
 *      runtime. The eventfd is made once and never closed: on some thread `caught` may be about to
 *      write to it at any time.
 *
 * Locks: `lock` before a watcher's guard.
 */
#include "io/kinds.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/descriptor.h"
#include "core/hooks.h"
#include "io/poller.h"

enum { SIGNALS = 65 };

static pthread_mutex_t lock MELY_LASTING = PTHREAD_MUTEX_INITIALIZER;

static struct {
	/* under the lock */
	struct melyint_io *owner;
	struct melyint_watch *watches;
	struct sigaction before;
	/* any thread */
	_Atomic uint32_t hits;
} signals[SIGNALS];

static _Atomic uint32_t caught_count; /* any thread */
static _Atomic int wakefd = -1;       /* written under the lock, read by any thread */
static _Atomic pid_t wakefd_pid;      /* of the process that made it: its child must not write */

static void
caught(int signum)
{
	int error = errno;
	void *aside = melyint_check_signal_begin();
	uint64_t one = 1;
	int fd;

	MELY_DEBUG_ASSERT(signum > 0 && signum < SIGNALS);
	/* release: pairs with the acquire in melyint_signal_deliver, which then sees the hit */
	MELY_ADD(&signals[signum].hits, 1, relaxed);
	MELY_ADD(&caught_count, 1, release);
	/* relaxed, both: set before the handler was installed; in the child of a fork, the process
	 * id says that they are not */
	fd = MELY_LOAD(&wakefd, relaxed);
	/* Fails only when the counter is full: the eventfd is readable then, too. */
	if (MELY_LOAD(&wakefd_pid, relaxed) == getpid() && write(fd, &one, sizeof(one)) < 0)
		fd = -1;
	melyint_check_signal_end(aside);
	errno = error;
}

bool
melyint_signal_news(struct melyint_io *io)
{
	/* relaxed, both: a hint; melyint_signal_deliver synchronizes */
	return MELY_LOAD(&caught_count, relaxed) != MELY_LOAD(&io->signals_seen, relaxed);
}

static void
deliver_to(struct melyint_watch *w)
{
	melyint_watch_guard(w);
	MELY_ASSERT(w->kind == MELYINT_KIND_SIGNAL && !w->stopped);
	MELY_DEBUG_ASSERT(*w->u.signal.link == w && signals[w->u.signal.signum].owner == w->io);
	if (w->stage == MELYINT_STAGE_REST && !w->off)
		melyint_watch_post(w);
	else
		w->u.signal.again = true;
	melyint_watch_drop(w);
}

void
melyint_signal_deliver(struct melyint_io *io)
{
	int signum;

	MELY_DEBUG_ASSERT(melyint_self != NULL && melyint_self->rt == io->rt);
	/* acquire: pairs with the release in caught. relaxed: a core that overwrites a newer value
	 * delivers once more */
	MELY_STORE(&io->signals_seen, MELY_LOAD(&caught_count, acquire), relaxed);
	pthread_mutex_lock(&lock);
	for (signum = 1; signum < SIGNALS; signum++) {
		struct melyint_watch *w;

		/* relaxed: caught_count orders it; a later signal counts there, too */
		if (signals[signum].owner != io ||
		    MELY_EXCHANGE(&signals[signum].hits, 0, relaxed) == 0)
			continue;
		MELY_DEBUG_ASSERT(signals[signum].watches != NULL);
		for (w = signals[signum].watches; w != NULL; w = w->u.signal.next)
			deliver_to(w);
	}
	pthread_mutex_unlock(&lock);
}

static void
run(void *arg)
{
	struct melyint_watch *w = arg;

	if (!melyint_watch_enter(w))
		return;
	MELY_DEBUG_ASSERT(w->kind == MELYINT_KIND_SIGNAL && melyint_lock_held(&w->own));
	w->u.signal.again = false; /* this run is for all that came until now */
	melyint_lock_drop(&w->own);
	melyint_run_watcher(w, w->fn, w->arg);
	melyint_watch_guard(w);
	if (!melyint_watch_leave(w))
		return;
	if (w->u.signal.again && !w->off)
		melyint_watch_post(w);
	melyint_watch_drop(w);
}

void
melyint_signal_enable(struct melyint_watch *w, bool on)
{
	bool queued = w->stage == MELYINT_STAGE_QUEUED;

	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && w->kind == MELYINT_KIND_SIGNAL);
	w->off = !on;
	if (!on && queued && melyint_watch_unpost(w))
		w->u.signal.again = true;
	if (on && w->u.signal.again && w->stage == MELYINT_STAGE_REST)
		melyint_watch_post(w);
	/* No signal waits for a handler that nothing will post. */
	MELY_DEBUG_ASSERT(w->off || !w->u.signal.again || w->stage != MELYINT_STAGE_REST);
}

/* ---- after a fork ---------------------------------------------------------------------------- */

static bool
of_parent(void)
{
	/* relaxed: set by the first thread of this process that watches a signal */
	return MELY_LOAD(&wakefd_pid, relaxed) != getpid();
}

/* In the child of a fork: the runtimes that own signals belong to the parent. */
static void
forget_parent(void)
{
	int signum;
	/* relaxed, here: under the lock, or before the child has a second thread */
	int fd = MELY_LOAD(&wakefd, relaxed);

	for (signum = 1; signum < SIGNALS; signum++) {
		if (signals[signum].owner != NULL)
			(void)sigaction(signum, &signals[signum].before, NULL);
		signals[signum].owner = NULL;
		signals[signum].watches = NULL;
	}
	MELY_STORE(&wakefd, -1, relaxed);
	MELY_STORE(&wakefd_pid, getpid(), relaxed);
	if (fd >= 0)
		close(fd);
}

void
melyint_signal_renew(struct melyint_io *io)
{
	/* relaxed: the child has one thread */
	MELY_STORE(&io->signals, 0, relaxed);
	if (of_parent()) {
		/* Another thread of the parent may have held the lock. */
		pthread_mutex_init(&lock, NULL);
		forget_parent();
	}
}

/* ---- watching; under the lock ---------------------------------------------------------------- */

static int
open_wakefd(struct melyint_io *io)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET};
	/* relaxed, here: written under the lock */
	int fd = MELY_LOAD(&wakefd, relaxed);

	MELY_ASSERT(!of_parent()); /* or `caught` would not write to it */
	if (fd < 0) {
		fd = melyint_fd_high(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
		if (fd < 0)
			return -errno;
		MELY_STORE(&wakefd, fd, relaxed);
	}
	ev.data.u64 = MELYINT_POLL_SIGNAL;
	if (epoll_ctl(io->rt->cores[0].fixed.poller->epfd, EPOLL_CTL_ADD, fd, &ev) < 0 &&
	    errno != EEXIST)
		return -errno;
	return 0;
}

static int
claim(struct melyint_io *io, int signum)
{
	struct sigaction action = {.sa_handler = caught, .sa_flags = SA_RESTART};
	int r;

	if (signals[signum].owner == io)
		return 0;
	if (signals[signum].owner != NULL)
		return -EBUSY;
	MELY_ASSERT(signals[signum].watches == NULL);
	r = open_wakefd(io);
	if (r < 0)
		return r;
	/* relaxed: no runtime owns the signal */
	MELY_STORE(&signals[signum].hits, 0, relaxed);
	MELY_ASSERT(MELY_PEEK(&wakefd) >= 0);
	sigfillset(&action.sa_mask);
	if (sigaction(signum, &action, &signals[signum].before) < 0)
		return -errno;
	signals[signum].owner = io;
	return 0;
}

/* Restore the disposition when the last watcher has ended. */
static void
yield_if_unused(int signum)
{
	MELY_DEBUG_ASSERT(signum > 0 && signum < SIGNALS);
	if (signals[signum].owner == NULL || signals[signum].watches != NULL)
		return;
	(void)sigaction(signum, &signals[signum].before, NULL);
	signals[signum].owner = NULL;
}

static bool
watchable(int signum)
{
	switch (signum) {
	case SIGKILL: case SIGSTOP:
	/* A handler of these must not return to the instruction that raised them. */
	case SIGSEGV: case SIGBUS: case SIGFPE: case SIGILL: case SIGTRAP: case SIGSYS:
		return false;
	default:
		return signum > 0 && signum < SIGNALS;
	}
}

static int
watch(struct melyint_io *io, int signum, const struct melyint_watch_ask *ask, mely_watch *id)
{
	struct melyint_watch *w;
	int r;

	r = claim(io, signum);
	if (r < 0)
		return r;
	r = melyint_watch_new(io, ask, &w);
	if (r < 0) {
		yield_if_unused(signum);
		return r;
	}
	MELY_ASSERT(signals[signum].owner == io);
	w->u.signal.signum = signum;
	w->u.signal.next = signals[signum].watches;
	w->u.signal.link = &signals[signum].watches;
	if (w->u.signal.next != NULL)
		w->u.signal.next->u.signal.link = &w->u.signal.next;
	signals[signum].watches = w;
	/* relaxed: a hint for the tick; the eventfd wakes a sleeping core */
	MELY_ADD(&io->signals, 1, relaxed);
	*id = melyint_watch_id(w);
	melyint_watch_drop(w);
	return 0;
}

int
mely_signal_watch(struct mely_color *color, int signum, struct mely_handler *handler, void *arg,
    mely_watch *id)
{
	struct melyint_watch_ask ask = {.kind = MELYINT_KIND_SIGNAL, .color = color,
	    .handler = handler, .arg = arg, .trampoline = run};
	int r;

	if (color == NULL || handler == NULL || handler->fn == NULL || id == NULL ||
	    !watchable(signum))
		return -EINVAL;
	r = melyint_io_usable(mely_color_runtime(color));
	if (r < 0)
		return r;
	pthread_mutex_lock(&lock);
	if (of_parent())
		forget_parent();
	r = watch(mely_color_runtime(color)->io, signum, &ask, id);
	pthread_mutex_unlock(&lock);
	return r;
}

static int
stop(struct melyint_watch *w, struct mely_color *done_color, struct mely_event *done)
{
	MELY_ASSERT(signals[w->u.signal.signum].owner == w->io && *w->u.signal.link == w);
	*w->u.signal.link = w->u.signal.next;
	MELY_DEBUG_ASSERT(MELY_PEEK(&w->io->signals) > 0);
	if (w->u.signal.next != NULL)
		w->u.signal.next->u.signal.link = w->u.signal.link;
	yield_if_unused(w->u.signal.signum);
	/* relaxed: as in watch */
	MELY_SUB(&w->io->signals, 1, relaxed);
	return melyint_watch_stop(w, done_color, done);
}

int
melyint_signal_stop(struct melyint_io *io, mely_watch id, struct mely_color *done_color,
    struct mely_event *done)
{
	struct melyint_watch *w;
	int r = -ENOENT;

	pthread_mutex_lock(&lock);
	w = melyint_watch_hold(io, id);
	if (w != NULL) {
		MELY_ASSERT(w->kind == MELYINT_KIND_SIGNAL);
		r = w->stopped ? melyint_watch_stop_late(w, done_color, done) :
		    stop(w, done_color, done);
		melyint_watch_drop(w);
	}
	pthread_mutex_unlock(&lock);
	return r;
}
