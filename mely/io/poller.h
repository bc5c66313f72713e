/* SPDX-License-Identifier: MIT */
/*
 * poller.h: the poller of a core: it finds what descriptors, timers and wake-ups report, and the
 * core sleeps in it.
 */
#ifndef MELYINT_IO_POLLER_H
#define MELYINT_IO_POLLER_H

#include <ev.h>
#include <sys/epoll.h>

#include "base/assert.h"
#include "core/core.h"
#include "sched/wait.h"

struct melyint_watch;
struct melyint_due; /* due.c */

/* What an epoll entry with generation 0 is. Entries of descriptors: generation<<32 | descriptor. */
enum {
	MELYINT_POLL_WAKE = 1,  /* the core's eventfd */
	MELYINT_POLL_SIGNAL,    /* the eventfd of the signals */
	MELYINT_POLL_CLOCK,     /* the wall clock was set */
	MELYINT_POLL_STUCK,     /* a sleeper is to keep watch: NOTE(stuck) in sched/stuck.c */
	MELYINT_POLL_DUE,       /* the timerfd of due.c */
	MELYINT_POLL_INNER      /* the single poller's descriptors; NOTE(single) in single.c */
};

enum { MELYINT_POLL_BATCH = 256 };

struct melyint_poller {
	/* constant while the runtime runs */
	int epfd;                   /* what the core sleeps in */
	int fds_epfd;               /* where descriptors are registered; epfd, as a rule */
	int wakefd;
	struct ev_loop *loop;       /* where it sleeps when timers are armed */
	struct melyint_core *core;

	/* under hold */
	struct ev_io nested;        /* epfd, in loop */
	struct ev_timer limit;      /* of a sleep in loop */
	struct melyint_watch *first;/* the armed timers: armed.c */
	struct melyint_watch *newest; /* the one armed last; NULL: it is armed no more */
	uint32_t armed;             /* their number */
	bool woken;                 /* found a wake-up while awake: the next sleep returns */
	bool brisk;                 /* the last sleep was short */
	uint64_t ran_ticks;         /* when timers were last checked */
	bool nested_ready;          /* the loop has found epfd ready */
	int clockfd;                /* timerfd, readable when the wall clock is set; -1: none */
	struct melyint_watch *walls;/* wall-clock timers that are armed */
	struct melyint_due *due;    /* NOTE(outside) in sched/park.c; NULL: never waits there */
	struct epoll_event found[MELYINT_POLL_BATCH];

	/* NOTE(single): the event that polls the descriptors */
	struct mely_event inner;
	struct mely_color *inner_color;

	/* any thread */
	_Alignas(MELY_CACHE_LINE) _Atomic uint32_t fds; /* registered; 0: no need to poll */
	_Atomic uint32_t round;     /* odd while a thread is in fds_epfd; that thread writes it */
	struct melyint_lock hold;   /* NOTE(hold) in poller.c */
	_Atomic bool in_loop;       /* inside libev, and not only waiting there */
};

/* Before and after a thread takes readiness from fds_epfd, and all of it is noted: E of
 * NOTE(readiness) in fd.c. Under hold, or in the color of the single poller's event. */
MELY_INLINE uint32_t
melyint_poller_begin_round(struct melyint_poller *poller)
{
	uint32_t round = MELY_LOAD(&poller->round, relaxed) + 1; /* own word */

	MELY_DEBUG_ASSERT(round % 2 == 1);
	/* seq_cst: pairs with the fence in melyint_poller_round. A thread that does not see the
	 * round has ended its handler before the kernel looks for readiness. */
	(void)MELY_EXCHANGE(&poller->round, round, seq_cst);
	return round;
}

MELY_INLINE void
melyint_poller_end_round(struct melyint_poller *poller, uint32_t round)
{
	/* release: pairs with the load in melyint_poller_round, whose thread then finds in its
	 * watcher what the round has found */
	MELY_STORE(&poller->round, round + 1, release);
}

/* The round that the poller is in, or an even number. Any thread. */
MELY_INLINE uint32_t
melyint_poller_round(struct melyint_poller *poller)
{
	MELY_FENCE(seq_cst); /* pairs with the exchange in melyint_poller_begin_round */
	return MELY_LOAD(&poller->round, acquire); /* pairs with melyint_poller_end_round */
}

int melyint_poller_init(struct melyint_core *core);
void melyint_poller_fini(struct melyint_core *core);
/* With no core running. */
void melyint_poller_begin_run(struct melyint_core *core);
/* single.c: open the separate set of the single poller. 0 or a negative error. */
int melyint_poller_open_single(struct melyint_poller *poller);
/* Is this the handler of the Epoll event? NOTE(single) in single.c. */
bool melyint_poller_is_inner(const struct mely_handler *handler);
/* In the child of a fork: close what the parent shares and open it again. */
int melyint_poller_renew(struct melyint_core *core);

/* Owner, under hold, awake: collect what is ready, wake-ups included, and with timers what is due.
 */
void melyint_poller_collect(struct melyint_poller *poller, bool timers);
/* Under hold: from now on clockfd reports when the wall clock is set. 0 or a negative error. */
int melyint_poller_watch_clock(struct melyint_poller *poller);

#endif
