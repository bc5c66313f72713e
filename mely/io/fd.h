/* SPDX-License-Identifier: MIT */
/*
 * fd.h: descriptors, their registrations and their watchers, for the I/O's other files.
 */
#ifndef MELYINT_IO_FD_H
#define MELYINT_IO_FD_H

#include "io/state.h"
#include "io/watch.h"

/* One descriptor number of one runtime. The record is kept when the descriptor goes. */
struct melyint_fd {
	_Alignas(MELY_CACHE_LINE) struct melyint_lock lock; /* the guard of its watchers */
	/* all under the lock */
	uint32_t gen;               /* of its registration; what epoll hands back */
	int fd;
	uint32_t interest;          /* epoll events registered; 0: not registered */
	struct melyint_watch *watch[2]; /* read, write */
	uint16_t core;              /* whose poller has it */
	uint16_t away_core;         /* where its events run instead ... */
	uint32_t away_events;       /* ... so many by now; 0: they run at home */
	uint64_t away_ticks;        /* ... since */
};

/* A poller has found this. Any core's thread, in no handler. */
void melyint_fd_found(struct melyint_io *io, uint64_t data, uint32_t events);

/* mely_fd_watch of a pidfd, for child.c. */
int melyint_fd_watch_child(struct mely_color *color, int pidfd, pid_t pid,
    struct mely_handler *handler, void *arg, mely_watch *watch);

/* Stop a watcher of kind MELYINT_KIND_FD or _CHILD. Under its guard, which it drops; not stopped.
 * As mely_watch_stop. */
int melyint_fd_stop(struct melyint_watch *w, struct mely_color *done_color,
    struct mely_event *done);

/* Under its guard, which may be dropped meanwhile; not stopped: resume or suspend it. 0; -ENOENT
 * when the child has ended. */
int melyint_fd_enable(struct melyint_watch *w, bool on);

/* child.c: reap a child watched by fd, for mely_child_status in the handler that follows. False:
 * it lives. */
bool melyint_child_reap(pid_t pid, int fd);

#endif
