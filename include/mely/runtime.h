/* SPDX-License-Identifier: MIT */
/*
 * mely/runtime.h: making, running and stopping a runtime.
 *
 * Signals: core threads other than the one that called mely_run block every signal except the
 * synchronous ones (SEGV, BUS, FPE, ILL, TRAP, SYS, ABRT); the caller's mask is left alone.
 * Fork: in the child every call on a runtime of the parent returns -ECHILD until
 * mely_runtime_renew; a handler that forked must exec or _exit in the child, not return.
 * A runtime that reports stalls (mely_config.stall_ms) has a thread more while it runs, "mely/mon",
 * and its core threads leave the signal mely_config.stall_signal unblocked.
 * Threads are named "mely/1", "mely/2", ...; the caller of mely_run, which is core 0, keeps its
 * name.
 */
#ifndef MELY_RUNTIME_H
#define MELY_RUNTIME_H

#include <mely/base.h>
#include <mely/event.h>
#include <mely/color.h>

MELY_BEGIN_DECLS

/** Most cores of one runtime. */
#define MELY_CORES_MAX 256

enum mely_pinning {
	MELY_PIN_AUTO = 0, /**< pinned when the runtime uses all usable processors, else not */
	MELY_PIN_YES,      /**< one core thread to one processing unit, in turn */
	MELY_PIN_NO
};

/** How the priority of a color with several pending events is found. */
enum mely_priority_rule {
	MELY_PRIORITY_HIGHEST = 0, /**< of its pending events, as in the paper */
	MELY_PRIORITY_LAST_POST    /**< of the event posted last, as libasync-smp did */
};

enum mely_stop_mode {
	/** Watchers and timers close, handlers go on posting, helper work is waited for, until
	 *  nothing is left or the deadline has come. */
	MELY_STOP_DRAIN = 0,
	/** The running batches end (batch_events at most), and that is all. */
	MELY_STOP_DISCARD
};

/** What a stop leaves over. */
enum mely_left {
	MELY_LEFT_EVENT = 0, /**< an event that did not run */
	MELY_LEFT_WORK,      /**< blocking work; neither its fn nor its handler ran */
	MELY_LEFT_WORK_DONE  /**< blocking work; its fn ran, its handler did not */
};

struct mely_handback {
	enum mely_left left;
	struct mely_color *color;
	struct mely_handler *handler;
	void *arg;
	struct mely_event *event; /**< the embedded event, the program's again; NULL: it had none */
};

/**
 * Called once for each thing that a stop leaves over, on the thread in mely_run, mely_run_once_for
 * or mely_runtime_free, while no handler runs. *left lasts for the call. The function owns what
 * left->arg owns, as the handler would; it may post, and that is held for the next run.
 */
typedef void mely_handback_fn(void *ctx, const struct mely_handback *left);

/**
 * A line of a report, without a newline, valid during the call. On a thread of the library that
 * is no core and holds no lock; it may post, ask for a stop, and should not take long.
 */
typedef void mely_report_fn(void *ctx, const char *line);

/**
 * Settings. Fill with mely_config_init, which reads the environment too, then change what you
 * like. Environment, over the defaults and under what the program sets afterwards:
 *   MELY_CORES       number of cores, 1 .. MELY_CORES_MAX, more than processors included
 *   MELY_PIN         auto, yes, no
 *   MELY_STEAL       1 or 0
 *   MELY_TIME_LEFT, MELY_PENALTY, MELY_LOCALITY
 *                    1 or 0: the heuristics of stealing
 *   MELY_MEASURE, MELY_LEARN_PENALTY
 *                    1 or 0: find out times, penalties that handlers do not give
 *   MELY_STEAL_NS    what a steal costs, nanoseconds; 0: it is measured
 *   MELY_BALANCE     1 or 0
 *   MELY_POLLERS     all, 1
 *   MELY_BATCH       batch threshold, events
 *   MELY_BATCH_US    batch threshold, microseconds
 *   MELY_SPIN_US     longest spin before sleep, microseconds
 *   MELY_SOCKET      1: a socket for mely-top where it looks for one; PATH: there; 0: none
 *   MELY_DUMP_SIGNAL a signal on which a dump goes to stderr, by name (USR1) or number; 0: none
 *   MELY_STUCK_MS    a handler so long is relieved of the rest of its core, milliseconds; 0: never
 *   MELY_TRACE       file for a trace of all the runtime does (mely/trace.h); a second runtime of
 *                    the process gets the same with .2 behind it, and so on
 *   MELY_TRACE_EVENTS   records that each core remembers; default 65536
 *   MELY_TRACE_SAMPLE   trace one batch in so many; default 1
 *   MELY_STALL_MS    a handler so long is reported as a stall, milliseconds; 0: none ever
 *   MELY_AGE_MS      a queue in which an event waits so long is reported, milliseconds; 0: never
 *   MELY_STALL_SIGNAL
 *                    number of the signal that asks a thread for its backtrace; 0: no backtraces
 */
struct mely_config {
	size_t size;              /**< set by mely_config_init: this struct's size */
	int cores;                /**< 0: min(affinity mask, cpuset, cgroup quota rounded up) */
	enum mely_pinning pinning;
	int pollers;              /**< 0: one per core; 1: a single one on core 0, color 0 */
	int steal;                /**< 1: idle cores steal */
	int time_left;            /**< 1: only colors that are worth what a steal costs */
	int penalty;              /**< 1: stealing penalties count */
	int locality;             /**< 1: near victims first */
	int measure;              /**< 1: handlers without a time are measured */
	int learn_penalty;        /**< 1: handlers without a penalty learn one */
	uint32_t steal_ns;        /**< what a steal is taken to cost, at most 100 ms; default 0:
	                           *   measured, for each distance */
	int balance;              /**< 1: a core with fewer ready colors pulls one now and then */
	uint32_t batch_events;    /**< batch threshold, >= 1; default 10 */
	uint32_t batch_us;        /**< also end a batch after so many us; 0: no */
	uint32_t spin_us_max;     /**< longest spin before sleep; default 10, tuned down to 0 */
	uint32_t stuck_ms;        /**< a core that has not come back from a handler for so long is
	                           *   stuck: others look at its poller; default 4; 0: never */
	/** A call of a handler that runs for longer is reported in one line and counted; default
	 *  100; 0: nobody looks. mely_handler_set_stall gives a handler a limit of its own. Where
	 *  stuck_ms is about what a long handler holds up, and mends it, this tells people. */
	uint32_t stall_ms;
	/** When an event has waited so long in a core's queue, a line says so, and which handlers
	 *  have most events there; default 1,000; 0: nobody looks. */
	uint32_t age_ms;
	/** The signal by which a thread is asked for the backtrace of a stall; default SIGURG; 0:
	 *  no backtraces. Left alone where the program has a handler for it. */
	int stall_signal;
	mely_report_fn *report;   /**< gets such lines; NULL: they go to stderr after "mely: " */
	void *report_ctx;
	enum mely_priority_rule priority_rule;
	uint64_t drain_deadline_ns;  /**< longest drain; default 30 s; 0: no limit */
	uint32_t fd_residency_ms;    /**< a descriptor stays this long on a poller; default 10 */
	uint32_t fd_residency_events;/**< ... or for so many events; default 1,000 */
	int helpers_files;        /**< most helper threads for files; default 4 */
	int helpers_names;        /**< ... for name look-ups; default 4 */
	int helpers_user;         /**< ... for the program's own; default 4 */
	mely_handback_fn *handback; /**< gets what a stop leaves over; NULL: it is dropped */
	void *handback_ctx;
	const char *trace;        /**< trace from the beginning, to this file; NULL: do not */
	uint32_t trace_events;    /**< records that each core remembers, to the next power of two */
	uint32_t trace_sample;    /**< one batch in so many is traced */
	const char *socket;       /**< mely_socket_open: a path; "": the default place; NULL: none.
	                           *   mely_runtime_new copies it */
	int dump_signal;          /**< mely_dump_on_signal; 0: none */
	const char *topology;     /**< hwloc synthetic description or XML file; NULL: the machine */
};

/**
 * Defaults and environment into config. Any thread. 0, or -EINVAL when an environment variable
 * can not be read (its default stands; one line on stderr names it).
 */
MELY_API int mely_config_init(struct mely_config *config);

/**
 * Make a runtime; no thread is started yet, posts are held. config may be NULL (as
 * mely_config_init leaves it). Any thread. 0, -EINVAL for a setting out of range (a line on
 * stderr names it), -ENOMEM, or what the system said.
 */
MELY_API int mely_runtime_new(struct mely_runtime **rt, const struct mely_config *config)
    MELY_MUST_CHECK;

/**
 * Free a runtime that does not run. Events still queued are handed back, watchers stopped.
 * Not in a handler of it. -EBUSY while it runs, 0. NULL is allowed.
 */
MELY_API int mely_runtime_free(struct mely_runtime *rt);

/**
 * Run until mely_stop: the calling thread becomes core 0, the others are started. Returns 0 when
 * stopped and all cores have parked, -EBUSY when it runs already (or in a handler of it), -ECHILD
 * after fork, or the error that kept a thread from starting. May be called again afterwards.
 */
MELY_API int mely_run(struct mely_runtime *rt);

/** A time that does not come: mely_next_timeout, mely_run_once_for. */
#define MELY_FOREVER UINT64_MAX

/**
 * One pass of core 0 on the calling thread: collect what its poller has, run what is ready. If that
 * is nothing, wait for up to timeout_ns (0: do not wait; MELY_FOREVER: no limit) and make one more
 * pass; it may return earlier. The first call starts the other cores, which go on until mely_stop.
 * After a stop, passes go on until the run has ended.
 *
 * One thread at a time; not in a handler of rt. Returns the number of events that core 0 ran, or
 * -ESHUTDOWN when a stop has ended the run (the next call begins a new one), -EBUSY while another
 * thread runs rt or in a handler of it, -ECHILD after fork, the error that kept a thread from
 * starting (the run has ended), or an error of mely_backend_fd when it is to wait.
 */
MELY_API int mely_run_once_for(struct mely_runtime *rt, uint64_t timeout_ns) MELY_MUST_CHECK;

/**
 * A descriptor that polls readable (POLLIN) whenever core 0 has something to do: an event posted
 * to it, a descriptor, a timer, a signal, a color to steal, a stop. For a program with a loop of
 * its own, which polls it and then calls mely_run_once_for(rt, 0), on one thread; it is readable
 * now, for the first pass. Do nothing else with it. It is the runtime's: it lasts until
 * mely_runtime_free or mely_runtime_renew.
 *
 * Between passes, on their thread; not in a handler of rt. -ENOMEM, -EMFILE, -ENFILE, -ECHILD.
 */
MELY_API int mely_backend_fd(struct mely_runtime *rt) MELY_MUST_CHECK;

/**
 * How long the program's loop may wait before the next pass, in ns: 0: not at all; MELY_FOREVER:
 * until the descriptor is readable. The descriptor becomes readable at that time, too, so only a
 * loop that wants to know needs this. Between passes, on their thread; 0 before mely_backend_fd.
 */
MELY_API uint64_t mely_next_timeout(struct mely_runtime *rt);

/** Ask a runtime to stop; returns at once. Any thread, handlers included. A second call may
 *  turn a drain into a discard. 0, or -EALREADY when nothing runs. */
MELY_API int mely_stop(struct mely_runtime *rt, enum mely_stop_mode mode);

/**
 * Around a wait of unknown length in a handler: an exit that comes meanwhile, in another handler
 * or thread, goes on without this core, and mely_wait_end does not return then. In between the
 * handler does nothing but wait: what it would use may be gone. They do not nest. In a handler;
 * elsewhere they do nothing.
 */
MELY_API void mely_wait_begin(void);
MELY_API void mely_wait_end(void);

/**
 * In the child of a fork: make a runtime of the parent usable again. Queued events are dropped
 * (no hand-back), watchers, timers and helper work are gone, colors stay. Only the forking
 * thread exists. 0, -EINVAL when this is not a forked child.
 */
MELY_API int mely_runtime_renew(struct mely_runtime *rt);

/** Number of cores. Any thread. */
MELY_API int mely_cores(const struct mely_runtime *rt);

/**
 * How many cores a runtime gets here when nobody says otherwise: processors of the affinity mask
 * (cpusets included), at most the cgroup CPU quota rounded up, at least 1. Any thread.
 */
MELY_API int mely_cores_usable(void);

/** One line for people about cores, processors, pinning and why. Returns its length. */
MELY_API int mely_runtime_describe(const struct mely_runtime *rt, char *buf, size_t size);

/** Turn stealing on (1) or off (0) while it runs. Any thread. */
MELY_API void mely_set_stealing(struct mely_runtime *rt, int on);

/**
 * Set the batch threshold while it runs: how many events of one color run in a row, at most, before
 * the next color's turn (batch_events of the settings). Each core goes by it from its next turn on.
 * Any thread. 0, or -EINVAL outside 1 .. 1,000,000.
 */
MELY_API int mely_set_batch(struct mely_runtime *rt, uint32_t events);

/** Monotonic time in ns, the clock of the timers. Any thread. */
MELY_API uint64_t mely_now_ns(void);

/** Give memory of idle color ids and spare events back to the system now. Any thread that is no
 *  handler of rt. Returns the bytes given back. Colors from mely_color_of_id stay. */
MELY_API size_t mely_trim(struct mely_runtime *rt);

/** The heuristics of stealing (paper, section 3), for mely_set_heuristics. */
enum {
	MELY_STEAL_TIME_LEFT = 1, /**< only colors that are worth what a steal costs */
	MELY_STEAL_PENALTY = 2,   /**< events of handlers with a penalty are worth less */
	MELY_STEAL_LOCALITY = 4,  /**< near victims first */
	MELY_STEAL_MEASURE = 8,   /**< handlers without a time are measured */
	MELY_STEAL_LEARN = 16     /**< handlers without a penalty learn one */
};

/**
 * Switch the heuristics while it runs: those whose bits are set are on, the others off. Events
 * posted before count as they did. Any thread.
 * 0, or -EINVAL for a bit that is none of the above.
 */
MELY_API int mely_set_heuristics(struct mely_runtime *rt, unsigned heuristics);

/** How far a victim is: what it shares with the thief. */
enum mely_distance {
	MELY_DISTANCE_CORE,    /**< a physical core (SMT) */
	MELY_DISTANCE_L2,
	MELY_DISTANCE_L3,      /**< an L3 cache */
	MELY_DISTANCE_PACKAGE,
	MELY_DISTANCE_FAR,     /**< the machine, or not known */
	MELY_DISTANCES
};

/* ---- counters ------------------------------------------------------------------------------ */

/** Sums over the cores since the runtime was made. Read at any time; not a consistent cut. */
struct mely_counters {
	uint64_t events;          /**< run */
	uint64_t batches;
	uint64_t posts_remote;    /**< to a color that lived on another core, or from outside */
	uint64_t adoptions;       /**< idle colors moved to the core of their poster */
	uint64_t steals_tried;
	uint64_t steals;
	uint64_t balance_steals;  /**< of these, pulled by a core that had work */
	uint64_t steals_empty;    /**< tried, but there was nothing to be had, or no lock */
	uint64_t steals_unworthy; /**< refused: looks at waiting colors, none worth a steal */
	uint64_t stolen_events;   /**< run in the batches right after steals by idle cores */
	uint64_t stolen_ns;       /**< what was stolen is expected to run, divided by penalties */
	uint64_t stealing_ns;     /**< time spent on steals that idle cores tried */
	uint64_t steals_at[MELY_DISTANCES]; /**< won, by distance (enum mely_distance) */
	uint64_t lock_waits;      /**< a core found a spin lock of the library held */
	uint64_t lock_wait_ns;    /**< time spent waiting for it */
	uint64_t sleeps;
	uint64_t wakeups_sent;    /**< wake-up system calls */
	uint64_t polls;           /**< looks at epoll */
	uint64_t readiness;       /**< readiness events posted */
	uint64_t fd_moves;        /**< registrations that followed their color */
	uint64_t cancels;
	uint64_t refused;         /**< posts refused at a high-water mark */
	uint64_t fd_moves_put_off;/**< handlers run away from their descriptor: too early to move */
	uint64_t polls_taken;     /**< looks at a poller in the place of a core that was stuck */
	uint64_t stalls;          /**< calls of handlers that ran for longer than their limit */
};

/** Fill *out with the sums (size: sizeof *out). core >= 0: of that core alone; -1: all cores and
 *  the threads that are none. 0 or -EINVAL. Any thread. */
MELY_API int mely_counters_read(const struct mely_runtime *rt, int core,
    struct mely_counters *out, size_t size);

MELY_END_DECLS

#endif
