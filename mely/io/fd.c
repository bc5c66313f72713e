/* SPDX-License-Identifier: MIT */
/*
 * fd.c: descriptors and their watchers.
 *
 * NOTE(readiness)
 *   A descriptor is registered once, edge-triggered, for the directions watched so far. epoll
 *   returns its number and the generation of the registration, which identifies late reports for
 *   a registration that has ended or moved.
 *   A. A poller that finds readiness adds it to the watcher's `ready`, and posts the watcher's
 *      event if that is in REST. All under the descriptor's lock.
 *   B. The trampoline takes `ready` and clears it before the program's handler runs. What is
 *      found while the handler runs is therefore newer than what mely_fd_ready reports to it,
 *      though the handler may have consumed it.
 *   C. After the handler the trampoline posts an edge-triggered watcher again if `ready` is not
 *      empty. It polls a level-triggered descriptor, unless the handler has called mely_fd_drained
 *      and nothing was found meanwhile. It clears `ready` before it polls. So no edge is lost: an
 *      edge before the poll is seen by it, an edge after it is kept in `ready`.
 *   D. A suspended watcher collects `ready` and posts nothing. To resume it is to do C.
 *   E. A report can be stale: a poller takes an edge from the kernel, the handler, on another core,
 *      reads the data and ends, and then the poller does A. A wait of a poller is therefore a round
 *      with an odd number. The trampoline of a level-triggered watcher, after its handler, notes
 *      the round that its descriptor's poller is in. If a report comes in that round, the next
 *      trampoline polls before its handler. Rounds that begin later take from the kernel what is
 *      ready after the handler. So with a thread that resumes the watcher: if the handler has run
 *      while that thread polled, what it found is stale. Edge-triggered handlers are not
 *      protected: their read says EAGAIN.
 */
#include "io/kinds.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/assert.h"
#include "core/hooks.h"
#include "io/fd.h"
#include "io/poller.h"

enum { FLAGS = MELY_FD_READ | MELY_FD_WRITE | MELY_FD_EDGE | MELY_FD_SUSPENDED };

/* Of the watcher whose handler runs on this thread. */
static MELY_TLS struct {
	struct melyint_watch *watch;
	uint8_t ready;
	bool drained;
} current;

static bool end_child(struct melyint_watch *w);

static struct melyint_fd *
record_of(struct melyint_io *io, int fd)
{
	MELY_DEBUG_ASSERT(fd >= 0);
	return melyint_stable_at(&io->fds, (uint32_t)fd);
}

/* ---- readiness ------------------------------------------------------------------------------- */

static uint8_t
readiness(uint32_t events, unsigned direction)
{
	uint8_t ready = 0;

	if (direction == MELYINT_READS) {
		if (events & EPOLLIN)
			ready |= MELY_READY_READ;
		if (events & EPOLLRDHUP)
			ready |= MELY_READY_HANGUP;
	} else if (events & EPOLLOUT) {
		ready |= MELY_READY_WRITE;
	}
	if (events & EPOLLHUP)
		ready |= MELY_READY_HANGUP;
	if (events & EPOLLERR)
		ready |= MELY_READY_ERROR;
	return ready;
}

static void
post_ready(struct melyint_watch *w)
{
	MELY_DEBUG_ASSERT(w->u.fd.ready != 0 && !w->u.fd.ended);
	melyint_watch_post(w);
	if (melyint_self != NULL)
		MELY_COUNT(&melyint_self->counters.readiness, 1);
}

/* A of NOTE(readiness). */
void
melyint_fd_found(struct melyint_io *io, uint64_t data, uint32_t events, uint32_t round)
{
	struct melyint_fd *record = record_of(io, (int)(uint32_t)data);
	unsigned direction;

	if (record == NULL)
		return;
	melyint_lock_take(&record->lock);
	if (MELY_UNLIKELY(record->gen != (uint32_t)(data >> 32) || record->interest == 0)) {
		melyint_lock_drop(&record->lock);
		return;
	}
	melyint_fd_assert_registered(record);
	for (direction = MELYINT_READS; direction <= MELYINT_WRITES; direction++) {
		struct melyint_watch *w = record->watch[direction];
		uint8_t ready;

		if (w == NULL)
			continue;
		ready = readiness(events, direction);
		w->u.fd.ready |= ready;
		w->u.fd.stale |= w->u.fd.round == round;
		if (ready != 0 && w->stage == MELYINT_STAGE_REST && !w->off)
			post_ready(w);
	}
	melyint_lock_drop(&record->lock);
}

static uint8_t
poll_once(int fd, unsigned direction)
{
	struct pollfd p = {.fd = fd};

	/* poll and epoll use the same bits on Linux. */
	p.events = direction == MELYINT_READS ? POLLIN | POLLRDHUP : POLLOUT;
	if (poll(&p, 1, 0) <= 0 || (p.revents & POLLNVAL))
		return 0;
	return readiness((uint32_t)p.revents, direction);
}

/* C of NOTE(readiness). Under the guard, which this drops while it polls. */
static void
check_again(struct melyint_watch *w)
{
	struct melyint_watch_fd *f = &w->u.fd;
	int fd = f->record->fd;
	uint8_t ready;

	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && w->refs > 0 && !f->edge && !f->ended);
	f->ready = 0;
	f->again = false;
	melyint_lock_drop(&f->record->lock);
	ready = poll_once(fd, f->direction);
	melyint_lock_take(&f->record->lock);
	MELY_DEBUG_ASSERT(w->refs > 0 && f->record->fd == fd);
	f->ready |= ready;
}

/* E of NOTE(readiness). Under the guard: the handler has ended, or has not run yet. */
static void
note_round(struct melyint_watch *w)
{
	struct melyint_watch_fd *f = &w->u.fd;

	if (f->edge)
		return;
	f->round = melyint_poller_round(melyint_fd_poller(w->io, f->record));
	f->runs++;
}

/* E of NOTE(readiness), before the handler. Under the guard, which this drops while it polls.
 * False: there is nothing to run for, or it was stopped or suspended meanwhile. */
static bool
is_ready(struct melyint_watch *w)
{
	struct melyint_watch_fd *f = &w->u.fd;

	f->stale = false;
	check_again(w);
	return f->ready != 0 && !w->stopped && !w->off;
}

/* In the trampoline of a child's watcher. True: the child has ended, and with its handler the
 * record. */
static bool
run_child(struct melyint_watch *w)
{
	if (!end_child(w))
		return false;
	melyint_run_watcher(w, w->fn, w->arg);
	current.watch = NULL;
	current.ready = 0;
	melyint_watch_guard(w);
	MELY_ASSERT(w->u.fd.ended && !w->stopped); /* a stop that comes late does not mark it */
	w->stopped = true; /* it runs once: melyint_watch_leave posts done */
	(void)melyint_watch_leave(w);
	return true;
}

/* The trampoline. */
static void
run(void *arg)
{
	struct melyint_watch *w = arg;
	struct melyint_watch_fd *f = &w->u.fd;
	bool drained;

	if (!melyint_watch_enter(w))
		return;
	MELY_DEBUG_ASSERT(melyint_lock_held(&f->record->lock) && f->ready != 0);
	if (MELY_UNLIKELY(f->stale) && !is_ready(w)) {
		if (melyint_watch_leave(w))
			melyint_watch_drop(w);
		return;
	}
	current.watch = w;
	current.ready = f->ready;
	current.drained = false;
	f->ready = 0;
	melyint_lock_drop(&f->record->lock);
	if (w->kind != MELYINT_KIND_CHILD)
		melyint_run_watcher(w, w->fn, w->arg);
	else if (run_child(w))
		return;
	drained = current.drained;
	current.watch = NULL;
	current.ready = 0;
	melyint_lock_take(&f->record->lock);
	note_round(w);
	if (!w->stopped && !w->off && !f->edge && (!drained || f->ready != 0 || f->again))
		check_again(w);
	if (!melyint_watch_leave(w))
		return;
	melyint_fd_follow(w, melyint_self);
	if (f->ready != 0 && !w->off)
		post_ready(w);
	melyint_watch_drop(w);
}

/* ---- watchers -------------------------------------------------------------------------------- */

static int
watch(struct mely_color *color, int fd, unsigned direction, enum melyint_kind kind,
    const struct melyint_watch_ask *ask_of, mely_watch *id, struct melyint_watch **made)
{
	struct mely_runtime *rt = mely_color_runtime(color);
	struct melyint_io *io = rt->io;
	struct melyint_watch_ask ask = *ask_of;
	struct melyint_fd *record;
	struct melyint_watch *w;
	int r;

	record = melyint_stable_reach(&io->fds, (uint32_t)fd);
	if (record == NULL)
		return -ENOMEM;
	melyint_lock_take(&record->lock);
	melyint_fd_assert_registered(record);
	if (record->watch[direction] != NULL) {
		melyint_lock_drop(&record->lock);
		return -EEXIST;
	}
	ask.kind = kind;
	ask.color = color;
	ask.trampoline = run;
	ask.guard = &record->lock;
	r = melyint_watch_new(io, &ask, &w);
	if (r < 0) {
		melyint_lock_drop(&record->lock);
		return r;
	}
	record->fd = fd;
	w->u.fd.record = record;
	w->u.fd.direction = (uint8_t)direction;
	*id = melyint_watch_id(w); /* before anything can run that may look for it */
	record->watch[direction] = w;
	r = melyint_fd_widen(io, record, direction, color);
	if (r < 0) {
		record->watch[direction] = NULL;
		*id = 0;
		w->stopped = true;
		melyint_watch_drop(w);
		return r;
	}
	melyint_fd_assert_registered(record);
	*made = w; /* under its guard */
	return 0;
}

int
mely_fd_watch(struct mely_color *color, int fd, unsigned flags, struct mely_handler *handler,
    void *arg, mely_watch *id)
{
	struct melyint_watch_ask ask = {.handler = handler, .arg = arg};
	unsigned direction = flags & (MELY_FD_READ | MELY_FD_WRITE);
	struct melyint_watch *w;
	int r;

	if (color == NULL || handler == NULL || handler->fn == NULL || id == NULL ||
	    (flags & ~(unsigned)FLAGS) != 0 ||
	    (direction != MELY_FD_READ && direction != MELY_FD_WRITE))
		return -EINVAL;
	if (fd < 0)
		return -EBADF;
	r = melyint_io_usable(mely_color_runtime(color));
	if (r == 0)
		r = watch(color, fd, direction == MELY_FD_READ ? MELYINT_READS : MELYINT_WRITES,
		    MELYINT_KIND_FD, &ask, id, &w);
	if (r < 0)
		return r;
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && w->stage == MELYINT_STAGE_REST);
	w->u.fd.edge = (flags & MELY_FD_EDGE) != 0;
	w->off = (flags & MELY_FD_SUSPENDED) != 0;
	note_round(w); /* the descriptor may have been registered before, for its other watcher */
	melyint_watch_drop(w);
	return 0;
}

int
melyint_fd_watch_child(struct mely_color *color, int pidfd, pid_t pid,
    struct mely_handler *handler, void *arg, mely_watch *id)
{
	struct melyint_watch_ask ask = {.handler = handler, .arg = arg};
	struct melyint_watch *w;
	int r = watch(color, pidfd, MELYINT_READS, MELYINT_KIND_CHILD, &ask, id, &w);

	if (r < 0)
		return r;
	w->u.fd.pid = pid;
	melyint_watch_drop(w);
	return 0;
}

/* Under the guard: take it from its descriptor, whose registration ends with its last watcher. */
static void
unlink_watch(struct melyint_watch *w, bool closing)
{
	struct melyint_fd *record = w->u.fd.record;

	melyint_fd_assert_registered(record);
	MELY_ASSERT(record->watch[w->u.fd.direction] == w);
	record->watch[w->u.fd.direction] = NULL;
	if (record->watch[MELYINT_READS] != NULL || record->watch[MELYINT_WRITES] != NULL)
		return;
	melyint_fd_unregister(w->io, record, closing);
}

/* In the trampoline of a child's watcher. True: the child has ended and is reaped. */
static bool
end_child(struct melyint_watch *w)
{
	int fd;
	bool ended;

	melyint_watch_guard(w);
	MELY_ASSERT(w->stage == MELYINT_STAGE_RUNNING && !w->u.fd.ended);
	/* Under the guard, so that no stop closes the pidfd and gives up the child meanwhile. */
	fd = w->u.fd.record->fd;
	ended = !w->stopped && melyint_child_reap(w->u.fd.pid, fd);
	if (ended) {
		unlink_watch(w, true);
		w->u.fd.ended = true;
	}
	melyint_watch_drop(w); /* the event in flight keeps it */
	if (ended)
		close(fd);
	return ended;
}

int
melyint_fd_stop(struct melyint_watch *w, struct mely_color *done_color, struct mely_event *done)
{
	bool child = w->kind == MELYINT_KIND_CHILD;
	int fd = w->u.fd.record->fd, r;

	MELY_DEBUG_ASSERT(child || w->kind == MELYINT_KIND_FD);
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && !w->stopped);
	if (w->u.fd.ended) {
		r = melyint_watch_stop_late(w, done_color, done);
		melyint_watch_drop(w);
		return r;
	}
	unlink_watch(w, child);
	r = melyint_watch_stop(w, done_color, done);
	melyint_watch_drop(w);
	if (child)
		close(fd); /* the library's own */
	return r;
}

int
mely_fd_close(struct mely_runtime *rt, int fd)
{
	struct melyint_fd *record;
	unsigned direction;
	int r = melyint_io_unforked(rt);

	if (r < 0 || fd < 0)
		return r < 0 ? r : -EBADF;
	record = record_of(rt->io, fd);
	for (direction = MELYINT_READS; direction <= MELYINT_WRITES; direction++) {
		struct melyint_watch *w;

		if (record == NULL)
			break;
		melyint_lock_take(&record->lock);
		melyint_fd_assert_registered(record);
		w = record->watch[direction];
		if (w == NULL) {
			melyint_lock_drop(&record->lock);
			continue;
		}
		/* No EPOLL_CTL_DEL: close does that. What epoll still reports for a living
		 * duplicate of the descriptor has an old generation. */
		unlink_watch(w, true);
		(void)melyint_watch_stop(w, NULL, NULL);
		melyint_watch_drop(w);
	}
	/* After EINTR, too, Linux has closed it. */
	return close(fd) < 0 && errno != EINTR ? -errno : 0;
}

int
melyint_fd_enable(struct melyint_watch *w, bool on)
{
	struct melyint_watch_fd *f = &w->u.fd;
	uint32_t runs = f->runs;

	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && w->refs < UINT8_MAX);
	if (f->ended)
		return -ENOENT;
	if (!on) {
		w->off = true;
		(void)melyint_watch_unpost(w);
	} else if (w->off) {
		w->off = false;
		f->again = w->stage != MELYINT_STAGE_REST; /* its own handler calls */
		w->refs++;
		if (w->stage == MELYINT_STAGE_REST && !f->edge)
			check_again(w);
		f->stale |= f->runs != runs; /* E of NOTE(readiness) */
		w->refs--;
		if (w->stage == MELYINT_STAGE_REST && !w->stopped && !w->off && f->ready != 0)
			post_ready(w);
	}
	return 0;
}

/* ---- in the handler -------------------------------------------------------------------------- */

unsigned
mely_fd_ready(void)
{
	return current.ready;
}

void
mely_fd_drained(void)
{
	current.drained = true;
}

/* ---- life ------------------------------------------------------------------------------------ */

void
melyint_fd_init(struct melyint_io *io)
{
	melyint_stable_init(&io->fds, sizeof(struct melyint_fd));
}

void
melyint_fd_fini(struct melyint_io *io)
{
	melyint_stable_fini(&io->fds);
}
