/* SPDX-License-Identifier: MIT */
/*
 * mely/runtime.h: making, running and stopping a runtime.
 *
 *   threads   core 0 is the thread in mely_run or mely_run_once_for, and keeps its name; the
 *             threads of the other cores are named "mely/1", "mely/2" and so on. A runtime that
 *             reports stalls or ages (mely_config.stall_ms, age_ms), or has a socket or a signal
 *             for dumps, has one more while it runs, "mely/mon".
 *   signals   the threads of the library block every signal except the synchronous ones (SEGV, BUS,
 *             FPE, ILL, TRAP, SYS, ABRT) and, on cores, mely_config.stall_signal. The mask of the
 *             thread in mely_run is left alone.
 *   fork      in the child, the calls whose comments list -ECHILD return it for a runtime of the
 *             parent until mely_runtime_renew. A handler that has forked must exec or _exit in the
 *             child; it must not return.
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
	MELY_PIN_AUTO = 0, /**< to the processors that share the last cache, if the runtime uses all
	                    *   usable processors and they have several such caches; else not */
	MELY_PIN_YES,      /**< one core thread to one processing unit, in turn */
	MELY_PIN_NO        /**< threads run wherever the program may run */
};

/** How the priority of a color with several pending events is found. */
enum mely_priority_rule {
	MELY_PRIORITY_HIGHEST = 0, /**< of its pending events, as in the paper */
	MELY_PRIORITY_LAST_POST    /**< of the event posted last, as libasync-smp did */
};

enum mely_stop_mode {
	/** Stop watchers and timers, run the handlers of mely_drain_watch, then go on until nothing
	 *  is left: events, what handlers post, and blocking work. The drain ends without that when
	 *  mely_config.drain_deadline_ns has passed. */
	MELY_STOP_DRAIN = 0,
	/** Stop watchers and timers, and let each core end the batch that it runs (batch_events at
	 *  most); nothing else runs. */
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
 * left->arg owns, as the handler would. It may cancel and release; what it posts or starts in this
 * runtime fails with -ESHUTDOWN.
 */
typedef void mely_handback_fn(void *ctx, const struct mely_handback *left);

/**
 * A line of a report, without a newline, valid during the call. On a thread of the library that
 * is not a core and holds no lock. The function may post and request a stop; it should return soon.
 */
typedef void mely_report_fn(void *ctx, const char *line);

/** How idle cores steal: mely_config.stealing and mely_set_stealing. */
enum {
	MELY_STEAL_ON = 1,        /**< they do; without this bit the others have no effect */
	MELY_STEAL_TIME_LEFT = 2, /**< only colors whose pending time exceeds the cost of a steal;
	                           *   cores with little to do leave their colors to others */
	MELY_STEAL_PENALTY = 4,   /**< divide the time of an event by its handler's penalty */
	MELY_STEAL_LOCALITY = 8,  /**< try near victims first */
	MELY_STEAL_MEASURE = 16,  /**< measure handlers without a time */
	MELY_STEAL_LEARN = 32,    /**< learn the penalty of handlers without one */
	MELY_STEAL_ALL = 63
};

/**
 * Settings. mely_config_init fills them with the defaults, then with the environment; the program
 * changes what it likes and calls mely_runtime_new, which checks every range. mely_config(3) lists
 * defaults and ranges. These variables are read (man/tables writes this list):
 *
 * variables begin
 *   MELY_CORES         number of cores, even more than processors (1 to 256)
 *   MELY_PIN           whether threads are pinned to processors (auto, yes, no)
 *   MELY_POLLERS       pollers: one per core, or a single one (all, 1)
 *   MELY_STEAL         idle cores steal (0 or 1)
 *   MELY_TIME_LEFT     steal only what is worth a steal (0 or 1)
 *   MELY_PENALTY       penalties of handlers count (0 or 1)
 *   MELY_LOCALITY      try near victims first (0 or 1)
 *   MELY_MEASURE       measure handlers without a time (0 or 1)
 *   MELY_LEARN_PENALTY learn penalties that are not given (0 or 1)
 *   MELY_STEAL_NS      cost of a steal; 0: measured (0 to 100,000,000)
 *   MELY_BALANCE       busy cores pull colors from busier ones (0 or 1)
 *   MELY_BATCH         batch threshold in events (1 to 1,000,000)
 *   MELY_BATCH_US      batch threshold in time; 0: none (0 to 1,000,000)
 *   MELY_SPIN_US       longest spin before a sleep (0 to 1,000)
 *   MELY_STUCK_MS      a core is stuck after this long in a handler; 0: never (0 to 3,600,000)
 *   MELY_STALL_MS      a handler that runs longer is reported; 0: never (0 to 3,600,000)
 *   MELY_AGE_MS        an event that waits longer is reported; 0: never (0 to 3,600,000)
 *   MELY_STALL_SIGNAL  signal that asks a thread for its backtrace; 0: no backtraces
 *                      (name or number)
 *   MELY_TRACE         file of a trace of the whole run (path)
 *   MELY_TRACE_EVENTS  records that each core keeps for a trace (1 to 16,777,216)
 *   MELY_TRACE_SAMPLE  trace one batch in N (1 to 1,000,000)
 *   MELY_SOCKET        socket for mely-top: 1: at the default path; 0: none (path, 1 or 0)
 *   MELY_DUMP_SIGNAL   signal that writes a dump to standard error; 0: none (name or number)
 * variables end
 */
struct mely_config {
	size_t size;              /**< set by mely_config_init: size of this struct */
	int cores;                /**< number of cores; 0: as mely_cores_usable returns */
	enum mely_pinning pinning;
	int pollers;              /**< 0: one per core; 1: a single one on core 0, with color 0 */
	unsigned stealing;        /**< MELY_STEAL_ON and other bits */
	uint32_t steal_ns;        /**< cost of a steal; 0: measured, for each distance */
	int balance;              /**< 1: a core that has work still pulls a color from a core that
	                           *   has more colors, now and then */
	uint32_t batch_events;    /**< batch threshold: most events of one color in a row */
	uint32_t batch_us;        /**< a batch also ends after this time; 0: it does not */
	uint32_t spin_us_max;     /**< longest spin before a sleep; tuned down to 0 */
	uint32_t stuck_ms;        /**< a core that stays in a handler for longer is stuck: others
	                           *   poll for it and take its colors; 0: never */
	/** A call of a handler that runs for longer is a stall: the library counts it and reports
	 *  it in a line; 0: never. mely_handler_set_stall sets the limit of one handler. */
	uint32_t stall_ms;
	/** When an event has waited for longer in a core's queue, a line reports it, with the
	 *  handlers that have most events there; 0: never. */
	uint32_t age_ms;
	/** Signal that asks a thread for the backtrace of a stall; 0: no backtraces. The library
	 *  does not replace a handler of the program for it. */
	int stall_signal;
	mely_report_fn *report;   /**< receives these lines; NULL: they go to standard error */
	void *report_ctx;
	enum mely_priority_rule priority_rule;
	uint64_t drain_deadline_ns;  /**< longest drain of a stop, and longest wait of a stop for
	                              *   blocking work that has begun; 0: no limit */
	uint32_t fd_residency_ms;    /**< a descriptor follows its color to the core that runs its
	                              *   events after this time ... */
	uint32_t fd_residency_events;/**< ... or after this many events there */
	int helpers_files;        /**< most helper threads for files */
	int helpers_names;        /**< ... for name look-ups */
	int helpers_user;         /**< ... for the program's own work */
	mely_handback_fn *handback; /**< receives the events that a stop leaves over; NULL: the
	                             *   library drops them (mely_handler.drop) */
	void *handback_ctx;
	const char *trace;        /**< file of a trace of the whole run; NULL: none */
	uint32_t trace_events;    /**< records that each core keeps, rounded up to a power of two */
	uint32_t trace_sample;    /**< trace one batch in N */
	const char *socket;       /**< mely_socket_open: a path; "": the default path; NULL: none */
	int dump_signal;          /**< mely_dump_on_signal; 0: none */
	const char *topology;     /**< hwloc synthetic description, or name of an XML file; NULL:
	                           *   this machine */
};

/**
 * Fill *config, which the caller owns, with the defaults and the environment. The strings of trace
 * and socket belong to the environment. 0, or -EINVAL when a variable has a bad value: the default
 * stands, and a line on standard error names each such variable.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL.
 */
MELY_API int mely_config_init(struct mely_config *config);

/**
 * What a call of mely_config_init is: with the size of the struct in the caller's header, bytes. A
 * program that was built with another version of the header goes on working: the library writes
 * only what the caller has, and what the caller does not have keeps its default. -EINVAL also when
 * config is NULL or size is too small for any version.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL.
 */
MELY_API int mely_config_init_size(struct mely_config *config, size_t size);
#ifndef mely_config_init
#define mely_config_init(config) mely_config_init_size((config), sizeof(struct mely_config))
#endif

/**
 * Make a runtime. No thread is started yet, and posts are held until a run. config may be NULL, for
 * what mely_config_init gives; it is copied with its strings, but functions in it, and what they
 * get as ctx, must last as long as the runtime. *rt is the caller's, for mely_runtime_free.
 *
 * Reads files of /proc and /sys, and what config names. 0, or
 *   -EINVAL   a setting is out of range; a line on stderr names it. Or config has a setting that
 *             this version of the library does not know, or rt is NULL
 *   -ENOMEM, -EMFILE, -ENFILE
 *             no memory or no descriptors
 * or another error of the system call that failed.
 *
 * Threads: any. Colors: any. Blocks: may. Errors: -EINVAL, -ENOMEM, -EMFILE, -ENFILE, others.
 */
MELY_API int mely_runtime_new(struct mely_runtime **rt, const struct mely_config *config)
    MELY_MUST_CHECK;

/**
 * Free a runtime that no thread runs. Stops its watchers, waits for blocking work that has begun,
 * and hands back what is left. NULL is allowed. The program frees its color objects afterwards.
 *
 * No other call on rt may be in progress or follow. 0, or -EBUSY while a thread is in mely_run or
 * mely_run_once_for, or after a core of rt has called exit(3).
 *
 * Threads: any. Colors: not rt. Blocks: yes. Errors: -EBUSY.
 */
MELY_API int mely_runtime_free(struct mely_runtime *rt);

/**
 * Run until mely_stop: the calling thread becomes core 0, and the other cores get threads. Returns
 * when all cores have parked and what was left over has been handed back. May be called again.
 *
 * A handler of another runtime may call it. 0, or
 *   -EBUSY   rt runs already, or the caller is in a handler of it
 *   -EINVAL  rt is NULL
 *   -ECHILD  the process was forked and the runtime not renewed
 *   -EAGAIN  not all threads could be started, for lack of resources; no handler has run on this
 *            thread, and watchers and events wait for the next run
 *
 * Threads: any. Colors: not rt. Blocks: yes. Errors: -EBUSY, -EINVAL, -ECHILD, -EAGAIN.
 */
MELY_API int mely_run(struct mely_runtime *rt) MELY_MUST_CHECK;

/** A time that never comes: mely_next_timeout, mely_run_once_for. */
#define MELY_FOREVER UINT64_MAX

/**
 * Make one pass of core 0 on the calling thread: collect what its poller has, and run what is
 * ready. If that is nothing, wait for up to timeout_ns (0: do not wait; MELY_FOREVER: no limit),
 * then make one more pass; the wait may end earlier. The first pass begins a run and starts the
 * other cores, which go on between the passes. After mely_stop, passes go on until the run has
 * ended.
 *
 * Blocks for timeout_ns at most, plus the time of handlers. Returns the number of events that core
 * 0 has run, or
 *   -ESHUTDOWN  a stop has ended the run, and what was left over has been handed back; returned
 *               once: the next call begins a new run
 *   -EBUSY      another thread runs rt, or the caller is in a handler of it
 *   -EINVAL     rt is NULL
 *   -ECHILD     the process was forked and the runtime not renewed
 *   -EAGAIN     not all threads could be started, for lack of resources: as for mely_run
 *   -ENOMEM, -EMFILE, -ENFILE
 *               as mely_backend_fd, the first time that timeout_ns is not 0
 *
 * Threads: passes. Colors: not rt. Blocks: yes. Errors: -ESHUTDOWN, -EBUSY, -EINVAL, -ECHILD,
 * -EAGAIN, -ENOMEM, -EMFILE, -ENFILE.
 */
MELY_API int mely_run_once_for(struct mely_runtime *rt, uint64_t timeout_ns) MELY_MUST_CHECK;

/**
 * A descriptor that polls readable (POLLIN) whenever core 0 has something to do: an event posted to
 * it, a descriptor, a timer, a signal, a color to steal, a stop. A program with a loop of its own
 * polls it, and calls mely_run_once_for(rt, 0) when it is readable. It is readable at first, for
 * the pass that begins the run. Every call returns the same descriptor.
 *
 * The descriptor is the runtime's: do nothing with it but poll it, and take it out of the loop
 * before mely_runtime_free or mely_runtime_renew, which close it.
 *
 * Returns the descriptor, or
 *   -ENOMEM, -EMFILE, -ENFILE
 *            no memory or no descriptors
 *   -EINVAL  rt is NULL
 *   -ECHILD  the process was forked and the runtime not renewed
 *
 * Threads: passes. Colors: not rt. Blocks: no. Errors: -ENOMEM, -EMFILE, -ENFILE, -EINVAL, -ECHILD.
 */
MELY_API int mely_backend_fd(struct mely_runtime *rt) MELY_MUST_CHECK;

/**
 * How long the program's loop may wait for the next pass, in ns. 0: make a pass now; MELY_FOREVER:
 * wait until the descriptor is readable. The descriptor becomes readable at that time, too, so a
 * loop that polls it needs no timeout. 0 before mely_backend_fd, and for NULL.
 *
 * Threads: passes. Colors: not rt. Blocks: no. Errors: none.
 */
MELY_API uint64_t mely_next_timeout(struct mely_runtime *rt);

/**
 * Ask a runtime to stop; returns at once, while handlers run. Watchers and timers are stopped, and
 * posts from threads that are not cores of rt fail with ESHUTDOWN until the run has ended. A second
 * call can turn a drain into a discard.
 *
 * 0, or
 *   -EALREADY  nothing runs, or a stop has begun
 *   -EINVAL    rt is NULL
 *   -ECHILD    the process was forked and the runtime not renewed
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EALREADY, -EINVAL, -ECHILD.
 */
MELY_API int mely_stop(struct mely_runtime *rt, enum mely_stop_mode mode);

/**
 * Begin and end a wait of unknown length in a handler. An exit(3) that happens meanwhile, in
 * another handler or thread, goes on without this core, and mely_wait_end does not return then.
 * Between the two calls the handler must do nothing but wait: the exit may have destroyed what it
 * would use.
 *
 * Do not nest them. On threads that are not cores they do nothing.
 *
 * Threads: handler. Colors: any. Blocks: no. Errors: none.
 */
MELY_API void mely_wait_begin(void);
MELY_API void mely_wait_end(void);

/**
 * In the child of a fork, make a runtime of the parent usable again. Queued events are dropped
 * without being handed back; watchers, timers and blocking work do not exist any more; colors stay.
 *
 * May open descriptors, and files as mely_socket_open does. 0, or
 *   -EINVAL  rt is NULL, is not a runtime of the parent, or has been renewed
 *   -ENOMEM, -EMFILE, -ENFILE
 *            no memory or no descriptors: it can be tried again, or freed
 * or another error of the system call that failed, after which the same holds.
 *
 * Threads: forker. Colors: not rt. Blocks: may. Errors: -EINVAL, -ENOMEM, -EMFILE, -ENFILE, others.
 */
MELY_API int mely_runtime_renew(struct mely_runtime *rt) MELY_MUST_CHECK;

/** The number of cores; 0 for NULL.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API int mely_cores(const struct mely_runtime *rt);

/**
 * The number of cores that a runtime has here by default: the processors of the affinity mask
 * (cpusets included), but at most the CPU quota of the control group rounded up; at least 1. Reads
 * files of /proc and /sys.
 *
 * Threads: any. Colors: any. Blocks: may. Errors: none.
 */
MELY_API int mely_cores_usable(void);

/**
 * Describe rt in one line: the number of cores and why, pinning, pollers, and the settings that
 * differed from the defaults when it was made. Returns the length without the terminating zero,
 * like snprintf, also when it does not fit into the size bytes of buf; or -EINVAL when rt is NULL,
 * or buf is NULL and size is not 0.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL.
 */
MELY_API int mely_runtime_describe(const struct mely_runtime *rt, char *buf, size_t size);

/**
 * Change how idle cores steal while rt runs, or before: MELY_STEAL_ON and other bits; 0 turns it
 * off. Events posted before keep the weight that they had. May wait for other calls that change rt.
 * 0, or -EINVAL for a bit that does not exist, or when rt is NULL.
 *
 * Threads: any. Colors: any. Blocks: may. Errors: -EINVAL.
 */
MELY_API int mely_set_stealing(struct mely_runtime *rt, unsigned bits);

/**
 * Change mely_config.batch_events while rt runs. Each core uses the new value from its next turn
 * on. 0, or -EINVAL outside 1 .. 1,000,000, or when rt is NULL.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL.
 */
MELY_API int mely_set_batch(struct mely_runtime *rt, uint32_t events);

/** Monotonic time in ns, from the clock of the timers.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API uint64_t mely_now_ns(void);

/**
 * Give the memory of idle color ids and spare events back to the system now. While rt runs, that of
 * events, of ids that no post has used for a while and of watchers that were stopped is also given
 * back without a call, within ten seconds of a burst, unless mely_config.stall_ms is 0. Colors that
 * something keeps stay (mely_current_color). May wait for cores to end a batch; in a handler of rt
 * it does nothing.
 * Returns the number of bytes given back; 0 for NULL.
 *
 * Threads: any. Colors: any. Blocks: may. Errors: none.
 */
MELY_API size_t mely_trim(struct mely_runtime *rt);

MELY_END_DECLS

#endif
