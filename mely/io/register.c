/* SPDX-License-Identifier: MIT */
/*
 * register.c: where a descriptor is registered: in the epoll set of one core's poller.
 *
 * NOTE(follow)
 *   A descriptor follows its read watcher's color (the write watcher's if it has no other). If the
 *   event has run on one other core for fd_residency_ms or fd_residency_events events, that core
 *   moves the registration to its own poller, under a new generation. A fresh registration
 *   reports what is ready, so nothing is lost between the two.
 */
#include <errno.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "io/fd.h"
#include "io/poller.h"
#include "io/state.h"

#define INTEREST_READ (EPOLLIN | EPOLLRDHUP)
#define INTEREST_WRITE EPOLLOUT

static struct melyint_poller *
poller_of(struct melyint_io *io, unsigned core)
{
	MELY_DEBUG_ASSERT(core < (unsigned)io->rt->cores_count);
	return io->rt->cores[core].fixed.poller;
}

static int
control(struct melyint_io *io, struct melyint_fd *record, int op)
{
	struct epoll_event ev = {.events = record->interest | EPOLLET};

	MELY_DEBUG_ASSERT(melyint_lock_held(&record->lock) && record->gen != 0);
	ev.data.u64 = (uint64_t)record->gen << 32 | (uint32_t)record->fd;
	return epoll_ctl(poller_of(io, record->core)->fds_epfd, op, record->fd, &ev) < 0 ?
	    -errno : 0;
}

static void
new_generation(struct melyint_fd *record)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&record->lock));
	if (++record->gen == 0)
		record->gen = 1;
}

/* Register it in the poller of a core, under a new generation. A failure changes nothing. */
static int
register_on(struct melyint_io *io, struct melyint_fd *record, unsigned core)
{
	uint16_t core_before = record->core;
	uint32_t gen_before = record->gen;
	int r;

	MELY_DEBUG_ASSERT(record->interest != 0 && core < (unsigned)io->rt->cores_count);
	new_generation(record);
	record->core = (uint16_t)core;
	r = control(io, record, EPOLL_CTL_ADD);
	/* Left from a descriptor that was closed while a duplicate of it lived on. */
	if (r == -EEXIST)
		r = control(io, record, EPOLL_CTL_MOD);
	if (r < 0) {
		record->core = core_before;
		record->gen = gen_before;
		return r;
	}
	record->away_events = 0;
	/* relaxed: a hint for melyint_poller_look */
	MELY_ADD(&poller_of(io, core)->fds, 1, relaxed);
	return 0;
}

/* Remove it from the poller of a core. closing: close(2) does that. */
static void
unregister_from(struct melyint_io *io, struct melyint_fd *record, unsigned core, bool closing)
{
	struct melyint_poller *poller = poller_of(io, core);

	MELY_ASSERT(record->interest != 0);
	MELY_DEBUG_ASSERT(melyint_lock_held(&record->lock) && MELY_PEEK(&poller->fds) > 0);
	if (!closing)
		(void)epoll_ctl(poller->fds_epfd, EPOLL_CTL_DEL, record->fd, NULL);
	/* relaxed: as in register_on */
	MELY_SUB(&poller->fds, 1, relaxed);
}

static unsigned
home_core(struct mely_color *color, struct mely_runtime *rt)
{
	int core;

	if (rt->config.pollers == 1)
		return 0;
	if (mely_current_color() == color)
		return (unsigned)melyint_self->index;
	core = mely_color_core(color);
	return core < 0 || core >= rt->cores_count ? 0 : (unsigned)core;
}

struct melyint_poller *
melyint_fd_poller(struct melyint_io *io, const struct melyint_fd *record)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&record->lock));
	return poller_of(io, record->core);
}

int
melyint_fd_widen(struct melyint_io *io, struct melyint_fd *record, unsigned direction,
    struct mely_color *color)
{
	uint32_t before = record->interest;
	int r;

	record->interest |= direction == MELYINT_READS ? INTEREST_READ : INTEREST_WRITE;
	if (before == 0)
		r = register_on(io, record, home_core(color, io->rt));
	else
		r = control(io, record, EPOLL_CTL_MOD); /* reports what is ready now */
	if (r < 0)
		record->interest = before;
	return r;
}

void
melyint_fd_unregister(struct melyint_io *io, struct melyint_fd *record, bool closing)
{
	unregister_from(io, record, record->core, closing);
	new_generation(record);
	record->interest = 0;
}

void
melyint_fd_follow(struct melyint_watch *w, struct melyint_core *here)
{
	struct melyint_io *io = w->io;
	struct melyint_fd *record = w->u.fd.record;
	const struct mely_config *config = &io->rt->config;
	unsigned there = (unsigned)here->index, before;

	MELY_DEBUG_ASSERT(here == melyint_self && !w->stopped);
	melyint_fd_assert_registered(record);
	if (MELY_LIKELY(record->core == there)) {
		record->away_events = 0;
		return;
	}
	if (config->pollers == 1 || record->interest == 0 ||
	    (w->u.fd.direction == MELYINT_WRITES && record->watch[MELYINT_READS] != NULL))
		return;
	if (record->away_events == 0 || record->away_core != there) {
		record->away_core = (uint16_t)there;
		record->away_events = 0;
		record->away_ticks = melyint_ticks();
	}
	if (++record->away_events < config->fd_residency_events && melyint_ticks() -
	    record->away_ticks < melyint_ns_to_ticks(config->fd_residency_ms * 1000000ull)) {
		MELY_COUNT(&here->counters.fd_moves_put_off, 1);
		return;
	}
	before = record->core;
	if (register_on(io, record, there) < 0) {
		/* Out of watches, for instance: it stays, and the count begins again. */
		record->away_events = 0;
		return;
	}
	unregister_from(io, record, before, false);
	MELY_COUNT(&here->counters.fd_moves, 1);
}

