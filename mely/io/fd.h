/* SPDX-License-Identifier: MIT */
/*
 * fd.h: the record of a descriptor, shared by fd.c, which has its watchers, and register.c, which
 * has its registration with a poller. All calls are under the record's lock.
 */
#ifndef MELYINT_IO_FD_H
#define MELYINT_IO_FD_H

#include "base/assert.h"
#include "io/watch.h"

struct melyint_core;
struct melyint_poller;

enum { MELYINT_READS, MELYINT_WRITES };

/* One descriptor number of one runtime. The record outlives the descriptor. All under the lock. */
struct melyint_fd {
	_Alignas(MELY_CACHE_LINE) struct melyint_lock lock; /* the guard of its watchers */
	uint32_t gen;               /* of its registration; epoll hands it back */
	int fd;
	uint32_t interest;          /* epoll events registered; 0: not registered */
	struct melyint_watch *watch[2]; /* read, write */
	uint16_t core;              /* whose poller has it */
	/* NOTE(follow) */
	uint16_t away_core;         /* where its events run instead ... */
	uint32_t away_events;       /* ... how many so far; 0: they run at home */
	uint64_t away_ticks;        /* ... since when */
};

/* The record is registered if and only if it has watchers, which are its own and not stopped. */
MELY_INLINE void
melyint_fd_assert_registered(const struct melyint_fd *record)
{
	const struct melyint_watch *r = record->watch[MELYINT_READS];
	const struct melyint_watch *w = record->watch[MELYINT_WRITES];

	MELY_DEBUG_ASSERT(melyint_lock_held(&record->lock));
	MELY_DEBUG_ASSERT((record->interest != 0) == (r != NULL || w != NULL));
	MELY_DEBUG_ASSERT(r == NULL || (melyint_watch_guarded(r) && !r->stopped &&
	    r->u.fd.record == record && r->u.fd.direction == MELYINT_READS));
	MELY_DEBUG_ASSERT(w == NULL || (melyint_watch_guarded(w) && !w->stopped &&
	    w->u.fd.record == record && w->u.fd.direction == MELYINT_WRITES));
}

/* The poller of the core that has it. */
struct melyint_poller *melyint_fd_poller(struct melyint_io *io, const struct melyint_fd *record);

/* Watch one more direction, for a watcher of this color; a new registration goes to the color's
 * core. 0 or a negative error. */
int melyint_fd_widen(struct melyint_io *io, struct melyint_fd *record, unsigned direction,
    struct mely_color *color);

/* End the registration. closing: close(2) removes it from the poller's set. */
void melyint_fd_unregister(struct melyint_io *io, struct melyint_fd *record, bool closing);

/* NOTE(follow) in register.c. The handler of w has run on the core `here`. */
void melyint_fd_follow(struct melyint_watch *w, struct melyint_core *here);

#endif
