/* SPDX-License-Identifier: MIT */
/*
 * core.h: one core, that is, one worker thread with its queues, and the runtime around the cores.
 *
 * Each struct says which threads write its members: the owner, that is the thread of the core; any
 * thread under core->lock; or any thread, by atomics. Groups with different writers share no cache
 * line.
 */
#ifndef MELYINT_CORE_CORE_H
#define MELYINT_CORE_CORE_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/types.h>
#include <mely/mely.h>

#include "base/atomic.h"
#include "queue/coreq.h" /* for libmely-libasync: fifo/queue/coreq.h */
#include "queue/evq.h"
#include "base/lock.h"
#include "queue/outbox.h"
#include "queue/pool.h"
#include "queue/stealq.h"
#include "core/tally.h"
#include "core/weight.h"

struct melyint_poller;    /* io/poller.h */
struct melyint_io;        /* io/state.h */
struct melyint_live;      /* look/live/serve.h */
struct melyint_colortab;  /* color/table.c */
struct melyint_colorext;  /* color/names_marks.c */
struct melyint_tracer;    /* look/trace/tracer.h */
struct melyint_ring;
struct melyint_ages;      /* look/watchdog/age.c */
struct melyint_aging;     /* look/watchdog/age.h */
struct melyint_backtrace; /* look/watchdog/callers.h */
struct melyint_monitor;   /* look/watchdog/monitor.h */
struct melyint_spare;     /* look/watchdog/spare.c */
struct melyint_stall;     /* look/watchdog/stall.c */

/* core->locked.sleep */
enum {
	MELYINT_AWAKE = 0,
	MELYINT_ASLEEP,  /* in its poller until woken */
	MELYINT_SENTRY,  /* in its poller, but checks now and then because some core is busy */
	MELYINT_OUTSIDE /* core 0: in the program's own loop; NOTE(outside) in sched/park.c */
};

/* domain->searching */
enum melyint_search {
	MELYINT_SEARCH_NONE = 0,
	MELYINT_SEARCH_ONE, /* a core was woken to search for work, and has not ended its search */
	MELYINT_SEARCH_MORE /* ... and another poster has needed a searcher since */
};

/* What a core saw of another when it last looked. */
struct melyint_glance {
	uint32_t dry;
	uint64_t ticks;
};

/* What the core counts itself; mely/counters.def. Written by the owner, stalls by the monitor. */
struct melyint_counters {
#define MELY_COUNTER(name, unit, help) _Atomic uint64_t name;
#define MELY_COUNTER_AT(name, unit, help) _Atomic uint64_t name[MELY_DISTANCES];
#include <mely/counters.def>
};

/* The running batch: NOTE(batch) in sched/turn.c. Owner. */
struct melyint_batch {
	struct mely_color *color;  /* the running color; NULL between batches */
	struct mely_color *direct; /* equals color; NULL in an observed batch: NOTE(observe) */
	uint64_t color_id;         /* the id of direct; MELYINT_NO_ID: an object, or NULL */
	struct mely_event *heads;  /* taken or posted by the color itself at its head */
	struct mely_event *tails;  /* taken */
	struct mely_event *own;    /* posted by the color itself at its tail */
	uint32_t ran;              /* events of this batch that have run */
	bool all_taken;            /* the color-queue was empty after the take: own may run */
	bool own_embedded;         /* some events of own are embedded, and have a state */
	bool mixed;                /* some events of heads or tails are embedded */
	uint64_t gone;             /* C of NOTE(weight) */
};

#define MELYINT_NO_ID UINT64_MAX

/* The owner's clock of its loop, and how long it may go on with what it does. */
struct melyint_pace {
	_Atomic uint64_t turn_ticks; /* when the last turn began; read by any thread */
	uint64_t looked_ticks;       /* when the owner last polled */
	uint64_t ticked_ticks;       /* when it last entered libev and considered balance */
	uint64_t decayed_ticks;      /* when it last gave spare events back */
	int64_t round_left;          /* turns until all that waited at the last poll had theirs */
	uint32_t used_ns;            /* time of the last batch */
	uint32_t spin_ns;            /* how long to spin before the next sleep */
	bool outside;                /* its thread has left a pass for the program's own loop */
};

/*
 * Which batches are sampled (NOTE(measure)), and which the observers see (NOTE(observe)). Owner.
 * A plain batch only counts batches_left down; every other kind of batch begins when that is 0.
 */
struct melyint_sampling {
	uint32_t batches_left; /* until the next batch that is not plain */
	uint32_t plain_left;   /* the countdown to the next sampled batch, while a steal or the
	                        * observers keep batches_left at 1. libmely-libasync: the countdown
	                        * to the next observed event */
	uint32_t observe_every;/* the observers see one batch in this many */
	uint8_t observe;       /* MELYINT_OBSERVE_...: the observers of this core */
	uint32_t unshared;     /* measured calls since one was shared: B of NOTE(measure) */
	bool away;             /* the next batch is the first of its color after a steal */
	bool away_measured;    /* ... and is measured */
	struct melyint_ring *ring;  /* where the observed batch is written, or NULL */
	struct melyint_sample call; /* the call that is measured */
};

/* What a batch leaves for the end of the owner's turn. */
struct melyint_leftover {
	struct mely_color *leaving;  /* goes to the core it is pinned to */
	struct mely_color *released; /* its release function is due */
	struct mely_color *unmarked_color; /* its mark still counts cancelled events: */
	uint32_t unmarked;                 /* ... this many */
};

/* What the owner remembers of other cores, as their thief and relief. */
struct melyint_others {
	uint64_t load_ticks, idle_ticks; /* when it last computed its load; its idle time then */
	uint64_t far_ticks; /* when it last glanced at all victims: steal.c */
	int victims_end;    /* how many victims its last glance covered */
	struct melyint_glance *glances; /* what it last saw of each core */
	struct melyint_core *relieved;  /* the stuck core that it polls for now: stuck.c */
	bool owes_sentry;   /* it was to keep watch or to search, and no core does so now: park.c */
};

/* Written under core->lock. */
struct melyint_locked {
	_Atomic uint8_t sleep;      /* any thread reads it as a hint */
	bool attended;              /* a thread runs this core */
	bool waits;                 /* that thread is in mely_wait_begin, where exit leaves it */
	bool searching;             /* the core was woken to search, and has found no work yet */
	bool has_batch;             /* set under the lock that the batch was taken under, which is
	                             * the victim's after a steal */
	uint64_t turns;             /* for grace periods: color/table.c */
	uint64_t aged_turns;        /* turns when a color last left because it had waited, */
	uint64_t aged_ticks;        /* ... and when that was: victim.c */
	pthread_t attendant;        /* the thread, where stalls are reported */
	struct mely_event *waiters; /* completions of cancels, due when the batch ends */
};

/* What other cores glance at without the lock. Written under the lock, unless noted. */
struct melyint_hint {
	_Atomic uint32_t waiting;   /* color-queues linked in ready */
	_Atomic uint32_t stealable; /* of these, not pinned */
	_Atomic uint64_t worth_min; /* a color that weighs more is worthy; any thread, once a ms */
	_Atomic uint32_t dry;       /* turns that left nothing waiting */
	_Atomic uint32_t moving;    /* colors pulled from a victim and not yet linked here */
	_Atomic uint32_t batch_ns;  /* moving average of a batch's time; written by the owner */
	_Atomic uint8_t busy;       /* not asleep; written by the owner, or under the lock while
	                             * the core is outside */
};

/* What the core runs now, for other threads. Written by the owner. */
struct melyint_shown {
	/* the embedded event whose handler was entered last in this batch */
	_Atomic(struct mely_event *) current;
	/* the running color, or NULL; a thread that holds the lock may follow it */
	_Atomic(struct mely_color *) running;
	_Atomic uint64_t running_id; /* its id, kept after its batch; MELYINT_NO_ID: an object */
	/* the attending thread, and the clock of its CPU time */
	_Atomic pid_t tid;
	_Atomic clockid_t cpu_clock;
};

/* What other cores have seen of this one: NOTE(stuck). Written by any core; hints. */
struct melyint_progress {
	_Atomic uint64_t seen;          /* how far it had got ... */
	_Atomic uint64_t seen_ticks;    /* ... when a core first saw that; 0: none has */
	_Atomic uint64_t relieved_ticks;/* when a core last polled on its behalf */
};

/* NOTE(lend). Hints. */
struct melyint_loan {
	_Atomic uint32_t load;  /* per mille of the time; by the owner, and added to by lenders */
	_Atomic bool borrows;   /* set by lenders, cleared by the owner */
	_Atomic(struct melyint_core *) lends_to; /* NULL: to none; written by the owner */
};

/* Constant once the runtime is made. */
struct melyint_fixed {
	struct melyint_poller *poller;
	struct melyint_aging *aging;         /* NULL: its age is not reported */
	struct melyint_backtrace *backtrace; /* NULL: backtraces are never taken */
	pthread_t thread;
	int pu;                 /* OS index of its processing unit; -1: not pinned */
	cpu_set_t *bound;       /* where its thread may run; NULL: wherever the program may */
	struct melyint_domain *domain;
	uint16_t *domains;      /* all domains, nearest first */
	uint16_t *victims;      /* core set: the other cores, nearest first */
	uint16_t *victims_flat; /* the other cores, without regard to distance */
	uint8_t *distance;      /* to each core: enum mely_distance */
};

struct melyint_core {
	/* owner: the hot path first */
	_Alignas(MELY_CACHE_LINE) struct melyint_batch batch;
	struct mely_runtime *rt; /* constant */
	int index;               /* constant */
	struct melyint_pace pace;
	struct melyint_sampling sampling;
	struct melyint_leftover due;
	struct melyint_pool pool;
	struct melyint_tallies tallies;   /* read by any thread: tally.h */
	struct melyint_counters counters; /* read by any thread */
	struct melyint_others others;

	/* any thread, under the lock */
	_Alignas(MELY_CACHE_LINE) struct melyint_lock lock;
	struct melyint_locked locked;
	struct melyint_coreq ready; /* the core-queue */

	/* read by any thread */
	_Alignas(MELY_CACHE_LINE) struct melyint_hint hint;
	struct melyint_stealq stealq; /* the stealing-queue; its lengths are hints */
	struct melyint_shown shown;

	struct melyint_outbox outbox;

	_Alignas(MELY_CACHE_LINE) struct melyint_progress progress;
	struct melyint_loan loan;

	_Alignas(MELY_CACHE_LINE) struct melyint_fixed fixed;
	struct mely_color self_color; /* pinned here, for the library's own events */
};

_Static_assert(offsetof(struct melyint_core, lock) % MELY_CACHE_LINE == 0 &&
    offsetof(struct melyint_core, hint) % MELY_CACHE_LINE == 0 &&
    offsetof(struct melyint_core, outbox) % MELY_CACHE_LINE == 0 &&
    offsetof(struct melyint_core, fixed) % MELY_CACHE_LINE == 0,
    "groups with different writers share no cache line");

enum melyint_phase {
	MELYINT_IDLE = 0, /* made, or stopped */
	MELYINT_RUNNING,
	MELYINT_DRAINING,
	MELYINT_STOPPED,  /* cores are to park; mely_run is about to return */
	MELYINT_FORKED    /* this is the child of a fork */
};

/* The observers: room look. Constant, unless noted. */
struct melyint_observers {
	struct melyint_live *live;
	struct melyint_monitor *monitor;
	struct melyint_ages *ages;           /* NULL: old queues are not reported */
	uint64_t aging_ticks;                /* the age from which a queue is too old */
	uint64_t aging_from_ticks;           /* when the run began */
	struct melyint_spare *spare;         /* NULL: only mely_trim gives memory back */
	struct melyint_stall *stall;         /* NULL: stalls are not reported */
	struct melyint_backtrace *backtraces;/* of the cores, or NULL */
	_Atomic(struct melyint_tracer *) tracer; /* set once, by the thread that first traces */
	_Atomic uint32_t lines_lost; /* lines that stderr did not take; any thread: report.c */
};

/* Constant copies of hot settings. */
struct melyint_limits {
	uint64_t batch_ticks;    /* 0: a batch has no limit in time */
	uint64_t look_ticks;     /* least time between two polls of a busy core */
	uint64_t look_max_ticks; /* most, when a round takes longer */
	uint64_t tick_ticks;     /* between two entries into libev */
	uint64_t decay_ticks;    /* between two checks for spare events */
	uint64_t far_ticks;      /* between two glances of an idle core at all others */
	uint64_t aged_ticks;     /* a wait this long behind a busy core makes any color worthy */
	uint64_t soon_ticks;     /* a wait this long does when it is worthy, but the only one */
	uint32_t spin_ns_max;
	uint32_t share_every;    /* measurements of a core until it shares one with the others */
	uint32_t outbox_after;   /* posts to other cores in one batch that open the outbox */
	uint32_t outbox_full;    /* posts that wait in the outbox when the owner delivers them */
	bool bound;              /* the threads of cores are bound: fixed.bound */
	bool scan_full;          /* libmely-libasync alone: fifo/steal.c */
};

/* Turned by any thread, rarely; read on the hot path. */
struct melyint_switches {
	_Atomic uint32_t batch_events;
	_Atomic int stealing;
	_Atomic unsigned heuristics; /* MELY_STEAL_TIME_LEFT and so on */
	_Atomic unsigned weighing;   /* what follows from both: weight.h */
};

/* What threads outside the runtime do. Any thread. */
struct melyint_outside {
	_Atomic uint64_t posts, wakeups, refused;
};

/* What concerns the colors of all cores. Any thread. */
enum {
	MELYINT_DIRECT_MARKS = 1, /* some color has had a high-water mark */
	MELYINT_DIRECT_TRIM = 2   /* added by each trim under way: C of NOTE(colortab) */
};

struct melyint_flow {
	_Atomic int arriving;     /* colors on their way to the core they are pinned to; changed
	                           * under a core's lock */
	_Atomic bool outboxes;    /* some core has opened its outbox */
	_Atomic bool embedded;    /* core 0 waits in the program's own loop */
	_Atomic uint32_t direct;  /* why no post may go into an outbox: MELYINT_DIRECT_... */
	_Atomic uint32_t placed;  /* round robin for objects made outside */
};

/* NOTE(park). Any thread. */
struct melyint_idle {
	_Atomic int domains;  /* that have sleepers: E of NOTE(park) */
	_Atomic int sentries; /* 0 or 1 */
};

/* The idle cores among those that share a cache: E of NOTE(park). Any thread. */
struct melyint_domain {
	_Alignas(MELY_CACHE_LINE) _Atomic int sleepers; /* cores asleep, sentries included */
	_Atomic int searching;                          /* enum melyint_search */
};

/* NOTE(stuck). Constant, unless noted. */
struct melyint_stuck {
	int fd;                 /* timerfd in every poller, or -1 */
	uint64_t ticks;         /* a core is stuck after this time; 0: never */
	uint64_t pull_ticks;    /* after this time other cores pull its colors, too */
	_Atomic uint64_t until; /* fd is armed until then; any thread */
};

/* The life cycle. Under life.lock, unless noted. */
struct melyint_life {
	pthread_mutex_t lock;
	int threads;                /* started and not joined */
	bool attended;              /* a thread is in mely_run or mely_run_once_for */
	bool once_started;          /* mely_run_once_for has started the other cores */
	_Atomic bool drained;       /* the stop ended with nothing left */
	_Atomic uint64_t drain_until_ns;
	char why_cores[96];         /* for mely_runtime_describe */
	uint64_t made_ns;           /* constant */
	struct mely_runtime *next;  /* list of all runtimes, under its lock: fork.c */
	sigset_t signals;           /* blocked by the thread in mely_run; under the lock */
	/* events that are being handed back; under the lock of the core that owns their color */
	struct mely_event *left;
};

/* Walks through the queues: look/census.c. */
struct melyint_walks {
	_Atomic uint32_t begun; /* written under the lock, read by cores */
	pthread_mutex_t lock;   /* one walk at a time */
};

struct mely_runtime {
	/* constant, or with locks of their own */
	struct mely_config config;
	int cores_count;
	struct melyint_core *cores; /* array, aligned to cache lines */
	struct melyint_domain *domains; /* array */
	int domains_count;
	struct melyint_colortab *colors;
	struct melyint_colorext *colorext;
	struct melyint_io *io;
	struct melyint_observers look;
	struct melyint_depot depot; /* spare events of all cores */
	struct melyint_limits limits;
	cpu_set_t unbound;          /* if bound: where the thread that made it may run */

	/* any thread, rarely */
	_Alignas(MELY_CACHE_LINE) _Atomic int phase; /* enum melyint_phase */
	struct melyint_switches switches;
	struct melyint_flow flow;

	/* apart from the switches, which every core reads; written often */
	_Alignas(MELY_CACHE_LINE) _Atomic uint32_t steal_ns[MELY_DISTANCES]; /* moving average of
	                                                                     * a steal; thieves */
	struct melyint_samples samples; /* of handlers: measure.h */
	struct melyint_outside outside;
	_Atomic uint64_t misuses;  /* by the program; any thread: color/misuse.h */
	_Alignas(MELY_CACHE_LINE) struct melyint_idle idle;
	struct melyint_stuck stuck;

	_Alignas(MELY_CACHE_LINE) struct melyint_life life;
	struct melyint_walks walks;
};

_Static_assert(offsetof(struct mely_runtime, phase) % MELY_CACHE_LINE == 0 &&
    offsetof(struct mely_runtime, steal_ns) % MELY_CACHE_LINE == 0 &&
    offsetof(struct mely_runtime, idle) % MELY_CACHE_LINE == 0 &&
    offsetof(struct mely_runtime, life) % MELY_CACHE_LINE == 0,
    "groups with different writers share no cache line");

/* color->_state; melyint_color_become changes it, under the lock of the color's owner */
enum {
	MELYINT_COLOR_IDLE = 0,
	MELYINT_COLOR_QUEUED,  /* linked in its owner's core-queue */
	MELYINT_COLOR_RUNNING, /* its owner runs a batch of it, or a stop hands its events back */
	MELYINT_COLOR_MOVING   /* has events and belongs to its new owner, which links it soon */
};

/* color->_flags; written under the lock of the color's owner. The high byte is the core it is
 * pinned to. */
enum {
	MELYINT_COLOR_OBJECT = 1,
	MELYINT_COLOR_PINNED = 2,
	MELYINT_COLOR_MARKED = 4,   /* has a high-water mark */
	MELYINT_COLOR_NOTED = 8,    /* it has, or had, a name or a mark: names_marks.c */
	MELYINT_COLOR_HELD = 16,    /* its address is kept: color.c:melyint_color_hold */
	MELYINT_COLOR_RELEASED = 32,
	MELYINT_COLOR_DEAD = 64,    /* given back; the caller must look it up again */
	MELYINT_COLOR_MIXED = 128,  /* not all of its events are pooled */
	MELYINT_COLOR_PIN_SHIFT = 8
};

/* The core that this thread runs, or NULL. Cleared in the child of a fork. */
extern MELY_TLS struct melyint_core *melyint_self;

/* Lock the core that owns a color, whichever it is by then. */
MELY_INLINE struct melyint_core *
melyint_color_lock(struct mely_color *color)
{
	struct melyint_core *owner;

	for (;;) {
		/* acquire: pairs with the release store of the thread that moved the color, so that
		 * the core's lock protects it */
		owner = MELY_LOAD(&color->_owner, acquire);
		melyint_lock_take(&owner->lock);
		/* acquire, as above: between the load and the lock another core may have stolen the
		 * color and this one stolen it back, under a lock that we never held */
		if (MELY_LIKELY(owner == MELY_LOAD(&color->_owner, acquire)))
			return owner;
		melyint_lock_drop(&owner->lock);
	}
}

/* Is it sure that no trim gives the color back? */
MELY_INLINE bool
melyint_color_stays(const struct mely_color *color)
{
	/* relaxed: neither bit is ever taken back */
	return (MELY_LOAD(&color->_flags, relaxed) & (MELYINT_COLOR_OBJECT | MELYINT_COLOR_HELD)) !=
	    0;
}

/* The caller keeps the address of the color: from now on it stays. The caller holds no core's lock,
 * and is in a handler of the color or knows that it does not go before this returns. */
void melyint_color_hold(struct mely_color *color);

/* Every change of a color's state but its end. Under the lock of its owner. A color begins to run
 * only from its core-queue, so it never runs twice. */
MELY_INLINE void
melyint_color_become(struct mely_color *color, uint8_t state)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&MELY_PEEK(&color->_owner)->lock));
	MELY_DEBUG_ASSERT(state != MELYINT_COLOR_RUNNING ||
	    MELY_PEEK(&color->_state) == MELYINT_COLOR_QUEUED);
	MELY_DEBUG_ASSERT(state == MELYINT_COLOR_QUEUED || state != MELY_PEEK(&color->_state));
	/* Only a color with events moves, and only one without events rests. */
	MELY_DEBUG_ASSERT(state != MELYINT_COLOR_MOVING ||
	    MELY_PEEK(&color->_state) != MELYINT_COLOR_IDLE);
	MELY_DEBUG_ASSERT(state != MELYINT_COLOR_IDLE ||
	    (MELY_PEEK(&color->_heads) == NULL && color->_tails == NULL));
	MELY_STORE(&color->_state, state, relaxed); /* under the lock */
}

/* Seam: color/color.c defines these. */
/* Link a MOVING color on the core that owns it by now. No lock held. */
void melyint_color_arrive(struct mely_color *color);
/* Initialize a color. No lock held. */
void melyint_color_setup(struct mely_color *color, struct melyint_core *owner, uint32_t id,
    unsigned flags);

#endif
