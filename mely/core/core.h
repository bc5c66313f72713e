/* SPDX-License-Identifier: MIT */
/*
 * core.h: one core, that is one worker thread with its queues, and the runtime around the cores.
 *
 * Who may touch what
 *   owner     only the core's own thread
 *   lock      under core->lock, by any thread
 *   anyone    atomics
 * The groups are on cache lines of their own.
 */
#ifndef MELYINT_CORE_CORE_H
#define MELYINT_CORE_CORE_H

#include <pthread.h>
#include <sys/types.h>
#include <mely/mely.h>

#include "base/atomic.h"
#ifdef MELYINT_LIBASYNC /* compiled for the other scheduler: fifo/fifo.h */
#include "fifo/fifo.h"
#else
#include "queue/coreq.h"
#endif
#include "queue/evq.h"
#include "base/lock.h"
#include "queue/outbox.h"
#include "queue/pool.h"
#ifndef MELYINT_LIBASYNC
#include "queue/stealq.h"
#endif
#include "core/tally.h"
#include "core/weight.h"

struct melyint_poller; /* poller.h */
struct melyint_io;     /* io.h */
struct melyint_live;   /* serve.h */
struct melyint_colortab;
struct melyint_colorext;
struct melyint_tracer; /* tracer.h */
struct melyint_ring;
struct melyint_ages;    /* age.c */
struct melyint_aging;   /* age.h */
struct melyint_backtrace; /* callers.h */
struct melyint_monitor; /* monitor.h */
struct melyint_stall;   /* stall.c */

/* core->sleep */
enum {
	MELYINT_AWAKE = 0,
	MELYINT_ASLEEP,  /* in its poller until woken */
	MELYINT_SENTRY, /* in its poller, looking up every tick because some core is busy */
	MELYINT_OUTSIDE /* core 0: in the program's own loop; NOTE(outside) in sched/park.c */
};

/* rt->searching */
enum melyint_search {
	MELYINT_SEARCH_NONE = 0,
	MELYINT_SEARCH_ONE, /* a core was woken to look for work and still looks, or wakes now */
	MELYINT_SEARCH_MORE /* ... and somebody else has wanted to wake one since */
};

/* What a core saw of another when it last looked. */
struct melyint_glance {
	uint32_t dry;
	uint64_t ticks;
};

struct melyint_counters {
#define MELYINT_COUNTER(name) _Atomic uint64_t name
	MELYINT_COUNTER(batches);
	MELYINT_COUNTER(posts_remote);
	MELYINT_COUNTER(adoptions);
	MELYINT_COUNTER(steals_tried);
	MELYINT_COUNTER(steals);
	MELYINT_COUNTER(balance_steals);
	MELYINT_COUNTER(steals_empty);
	MELYINT_COUNTER(steals_unworthy);
	MELYINT_COUNTER(stolen_events);
	MELYINT_COUNTER(stolen_ns);
	MELYINT_COUNTER(stealing_ns);
	MELYINT_COUNTER(steals_tried_at[MELY_DISTANCES]);
	MELYINT_COUNTER(steals_at[MELY_DISTANCES]);
	MELYINT_COUNTER(lock_waits);
	MELYINT_COUNTER(lock_wait_ns);
	MELYINT_COUNTER(sleeps);
	MELYINT_COUNTER(wakeups_sent);
	MELYINT_COUNTER(polls);
	MELYINT_COUNTER(readiness);
	MELYINT_COUNTER(fd_moves);
	MELYINT_COUNTER(cancels);
	MELYINT_COUNTER(refused);
	MELYINT_COUNTER(fd_moves_put_off);
	MELYINT_COUNTER(polls_taken);
	MELYINT_COUNTER(stalls); /* written by whoever watches for them */
#undef MELYINT_COUNTER
};

/* What the running batch is made of; see sched/turn.c. */
struct melyint_batch {
	struct mely_color *color;  /* the running color; NULL between batches */
	struct mely_color *direct; /* the same; NULL in a batch that is observed: observe.h */
	uint64_t color_id;         /* its id, or MELYINT_NO_ID for an object; like direct */
	struct mely_event *heads;  /* taken or posted by the color itself at its head */
	struct mely_event *tails;  /* taken */
	struct mely_event *own;    /* posted by the color itself at its tail */
	uint32_t ran;              /* events of this batch */
	bool all_taken;            /* nothing was left in the color-queue: own posts may follow */
	bool own_embedded;         /* some of own are not pooled, and know their state */
	bool mixed;                /* the same of heads and tails */
	uint64_t gone;             /* C of NOTE(weight) */
};

#define MELYINT_NO_ID UINT64_MAX

struct melyint_core {
	/* owner, and read by nobody else */
	_Alignas(MELY_CACHE_LINE) struct melyint_batch batch;
	struct melyint_pool pool;
	struct mely_runtime *rt;    /* set once */
	int index;                  /* set once */
	uint32_t spin_ns;           /* how long to spin before the next sleep */
	_Atomic uint64_t turn_ticks; /* when the last turn began; read by anyone */
	uint64_t looked_ticks;      /* when the poller was looked at */
	int64_t round_left;         /* turns until all that waited then have had theirs */
	uint64_t ticked_ticks;      /* when libev was entered and balance considered */
	uint64_t decayed_ticks;     /* when spare events were last given back */
	uint32_t used_ns;           /* time of the last batch */
	uint32_t sample_in;         /* batches until one is measured: NOTE(measure) */
	bool outside;               /* its thread has left a pass for the program's own loop */
	bool away;                  /* the next batch is the first of its color after a steal */
	bool away_measured;         /* ... and is measured */
	uint32_t sample_rest;       /* what was left of sample_in when it was stolen */
	struct melyint_sample sample; /* the call that is measured */
	uint8_t observe;            /* who looks at its batches, in bits: observe.h */
	struct melyint_ring *ring;  /* where the batch that is observed is written, or NULL */
	uint32_t observe_every;     /* one batch in so many is looked at, */
	uint32_t plain_in;          /* ... and what sample_in would be without; observe.c */
	struct mely_color *leaving; /* to be linked on the core it is pinned to, after the turn */
	struct mely_color *released;/* its release function is due after the turn */
	struct mely_color *unmarked_color; /* so many cancelled events of it still count */
	uint32_t unmarked;
	uint64_t far_ticks;         /* when it last glanced at all victims; steal.c */
	int victims_end;            /* so many did its last glance look at */
	struct melyint_glance *glances; /* what it saw of each other core at its last look */
	struct melyint_core *relieved; /* it is looking in the place of this one: stuck.c */
	bool searching;             /* it was woken to look for work and has not found any */
	bool owes_watch;            /* it was to watch or to search, and nobody does now; park.c */
	struct melyint_tallies tallies;   /* the same: tally.h */
	struct melyint_counters counters; /* written by the owner, read by anyone */

	/* lock */
	_Alignas(MELY_CACHE_LINE) struct melyint_lock lock;
	_Atomic uint8_t sleep;      /* written under the lock; read as a hint by anyone */
	bool attended;              /* a thread runs it */
	bool waits;                 /* it is in mely_wait_begin's wait, which exit lets be */
	bool has_batch;             /* set where a batch is taken, under whichever core's lock */
	uint64_t turns;             /* for grace periods: color/table.c */
	uint64_t aged_turns;        /* as many when a color last left because it had waited, */
	uint64_t aged_ticks;        /* ... and when that was; victim.c */
	pthread_t attendant;        /* the thread, where stalls are reported */
	struct mely_event *waiters; /* completions of cancels, due when the batch ends */
#ifdef MELYINT_LIBASYNC
	struct melyint_fifo ready;  /* the core-queue */
#else
	struct melyint_coreq ready; /* the core-queue */
#endif
	/* What others may glance at without the lock; written under it. */
	_Alignas(MELY_CACHE_LINE) _Atomic uint32_t waiting; /* color-queues linked in ready */
	_Atomic uint32_t stealable; /* of these, not pinned */
#ifndef MELYINT_LIBASYNC
	struct melyint_stealq stealq; /* the stealing-queue; its lengths are hints */
#endif
	_Atomic uint64_t worth_min; /* a color that weighs more is worthy; anyone, once a ms */
	_Atomic uint32_t dry;       /* turns that left nothing waiting */
	_Atomic uint32_t moving;    /* colors pulled from a victim and not yet linked here */
	_Atomic uint32_t batch_ns;  /* moving average of a batch's time; written by the owner */
	_Atomic uint8_t busy;       /* not asleep; written by the owner, and under the lock while outside */
	/* the embedded event whose handler was entered last in this batch; written by the owner */
	_Atomic(struct mely_event *) current;
	/* the running color, or NULL; may be followed under the lock; written by the owner, as its
	 * id, which is left when it ends */
	_Atomic(struct mely_color *) running;
	_Atomic uint64_t running_id; /* MELYINT_NO_ID: an object */

	_Atomic pid_t tid;          /* of the thread, and the clock of its CPU time; who attends */
	_Atomic clockid_t cpu_clock;

	struct melyint_outbox outbox;

	/* set when the runtime is made, then constant */
	_Alignas(MELY_CACHE_LINE) struct melyint_poller *poller;
	struct melyint_aging *aging; /* NULL: its age is of no interest */
	struct melyint_backtrace *backtrace; /* NULL: none is ever asked for */
	pthread_t thread;
	int pu;                     /* OS index of its processing unit; -1 unpinned */
	uint16_t *victims;          /* core set: the other cores, nearest first */
	uint16_t *victims_flat;     /* the same without regard to distance */
	uint8_t *distance;          /* to each core: enum mely_distance */
	struct mely_color self_color; /* pinned here, for the library's own events */
};

enum melyint_phase {
	MELYINT_IDLE = 0, /* made, or stopped */
	MELYINT_RUNNING,
	MELYINT_DRAINING,
	MELYINT_STOPPED,  /* cores are to park; mely_run is about to return */
	MELYINT_FORKED    /* this is the child of a fork */
};

struct mely_runtime {
	struct mely_config config;  /* constant */
	int cores_count;            /* constant */
	struct melyint_core *cores; /* constant array, cache-line aligned */
	struct melyint_colortab *colors;
	struct melyint_colorext *colorext;
	struct melyint_io *io;
	struct melyint_live *live;  /* constant: serve.h */
	struct melyint_monitor *monitor; /* constant */
	struct melyint_ages *ages;  /* constant; NULL: old queues are not reported */
	uint64_t aging_ticks;       /* constant: too old */
	uint64_t aging_from_ticks;  /* when the run began */
	struct melyint_stall *stall; /* constant; NULL: stalls are not reported */
	_Atomic uint32_t lines_lost; /* that stderr did not take: report.c; who reports */
	struct melyint_backtrace *backtraces; /* constant; of the cores, or NULL */
	struct melyint_depot depot; /* spare events of all cores */
	struct mely_runtime *next;  /* list of all runtimes, fork.c */
	_Atomic(struct melyint_tracer *) tracer; /* set once, by who traces first: trace.c */
	uint64_t batch_ticks;       /* constant copies of hot settings; 0: no limit in time */
	uint64_t look_ticks;        /* least time between two looks at the poller of a busy core */
	uint64_t look_max_ticks;    /* most, when a round takes longer */
	uint64_t tick_ticks;        /* between two entries into libev */
	uint64_t decay_ticks;       /* between two looks at spare events */
	uint64_t far_ticks;         /* between two glances of an idle core at all others */
	uint64_t aged_ticks;        /* waiting so long behind a busy core makes any color worthy */
	uint64_t soon_ticks;        /* the same for the only color that waits, when it is worthy */
	uint32_t spin_ns_max;
	bool pinned;                /* constant: threads are bound to PUs */
#ifdef MELYINT_LIBASYNC
	bool scan_full;             /* constant: fifo/steal.c */
#endif

	_Alignas(MELY_CACHE_LINE) _Atomic int phase; /* enum melyint_phase; anyone, rarely */
	_Atomic uint32_t batch_events; /* anyone, rarely */
	_Atomic int stealing;       /* anyone, rarely */
	_Atomic unsigned heuristics;/* MELY_STEAL_TIME_LEFT and so on; anyone, rarely */
	_Atomic unsigned weighing;  /* what follows from both: weight.h; anyone, rarely */
	/* away from the switches, which everybody reads: moving average of a steal; thieves */
	_Alignas(MELY_CACHE_LINE) _Atomic uint32_t steal_ns[MELY_DISTANCES];
	struct melyint_samples samples; /* of handlers: measure.h */
	/* what threads that are no cores do; anyone */
	_Atomic uint64_t outside_posts, outside_wakeups, outside_refused;
	/* colors on their way to the core they are pinned to; changed under a core's lock */
	_Atomic int arriving;
	_Atomic bool outboxes;      /* some core has opened its outbox; anyone */
	_Atomic bool embedded;      /* core 0 waits in the program's own loop; anyone */
	_Atomic bool marks;         /* some color has had a high-water mark; anyone */
	_Atomic uint32_t placed;    /* round robin for objects made outside; anyone */
	_Alignas(MELY_CACHE_LINE) _Atomic int sleepers; /* cores asleep or watching; anyone */
	_Atomic int watchers;       /* of these, watching: 0 or 1 */
	_Atomic int searching;      /* enum melyint_search; anyone */

	/* life cycle, under life_lock */
	_Alignas(MELY_CACHE_LINE) pthread_mutex_t life_lock;
	int threads;                /* started and not joined */
	bool attended;              /* a thread is in mely_run or mely_run_once_for */
	bool once_started;          /* mely_run_once_for has started the other cores */
	_Atomic bool drained;       /* the stop ended with nothing left */
	_Atomic uint64_t drain_until_ns;
	char why_cores[96];         /* for mely_runtime_describe */
	_Atomic uint32_t looks;     /* walks that have begun; under look_lock, read by cores */
	pthread_mutex_t look_lock;  /* one walk through the queues at a time: look.h */
	uint64_t made_ns;           /* constant */
};

/* color->_state; written under the lock of the color's owner */
enum {
	MELYINT_COLOR_IDLE = 0,
	MELYINT_COLOR_QUEUED,  /* linked in its owner's core-queue */
	MELYINT_COLOR_RUNNING, /* its owner runs a batch of it */
	MELYINT_COLOR_MOVING   /* has events, belongs to its owner already, is not linked yet */
};

/* color->_flags; written under the lock of the color's owner. The high byte is the core it is
 * pinned to. */
enum {
	MELYINT_COLOR_OBJECT = 1,
	MELYINT_COLOR_PINNED = 2,
	MELYINT_COLOR_MARKED = 4,   /* has a high-water mark */
	MELYINT_COLOR_NAMED = 8,
	MELYINT_COLOR_HELD = 16,    /* somebody has its address: mely_color_of_id, an event */
	MELYINT_COLOR_RELEASED = 32,
	MELYINT_COLOR_DEAD = 64,    /* given back; the look-up must be done again */
	MELYINT_COLOR_MIXED = 128,  /* not all of its events are pooled */
	MELYINT_COLOR_PIN_SHIFT = 8
};

/* The core this thread is, or NULL. Cleared in the child of a fork. */
extern MELY_TLS struct melyint_core *melyint_self;

/* Lock the core that owns a color, whichever it is by then. */
MELY_INLINE struct melyint_core *
melyint_color_lock(struct mely_color *color)
{
	struct melyint_core *owner;

	for (;;) {
		/* acquire: pairs with the release store of whoever moved the color, so that the
		 * core's lock can be trusted */
		owner = MELY_LOAD(&color->_owner, acquire);
		melyint_lock_take(&owner->lock);
		/* acquire, as above: between the look and the lock it may have gone away and
		 * come back, stolen under the lock of another core that we never held */
		if (MELY_LIKELY(owner == MELY_LOAD(&color->_owner, acquire)))
			return owner;
		melyint_lock_drop(&owner->lock);
	}
}

#ifdef MELYINT_LIBASYNC
#include "fifo/ready.h"
#else
#include "sched/worth.h"
#endif

/* Link a MOVING color on the core that owns it by now. No lock held. */
void melyint_color_arrive(struct mely_color *color);

/* Make a color object; under no lock. */
void melyint_color_setup(struct mely_color *color, struct melyint_core *owner, uint32_t id,
    unsigned flags);

#endif
