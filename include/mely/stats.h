/* SPDX-License-Identifier: MIT */
/*
 * mely/stats.h: what a runtime does now and has done: its cores, its handlers and, on request, the
 * colors with most events waiting.
 *
 * A snapshot, struct mely_stats, is one block of memory without pointers: a program may write it to
 * a file or a socket as it is, and another process on the same type of machine can read it. It
 * refers to rows, names and buckets by their offset from its first byte. Rows and the head may grow
 * at their end in later versions. The block contains the size of its rows, and the functions below
 * use it: find rows with them, not by adding up sizes.
 *
 * A snapshot stops nothing. Each number has one writer and is right by itself; two of them may be
 * some events apart. Counts and the times of cores include everything up to the last end of a
 * batch. Times and delays of handlers are samples: see mely_stats.sample_every.
 */
#ifndef MELY_STATS_H
#define MELY_STATS_H

#include <mely/base.h>
#include <mely/runtime.h>

MELY_BEGIN_DECLS

/** The first word of a snapshot, and its version. */
#define MELY_STATS_MAGIC 0x4d537431u
#define MELY_STATS_VERSION 1

/** Most colors of one snapshot. */
#define MELY_STATS_COLORS_MAX 4096
/** Waiting events of a color that are counted; longer lengths are estimates, where the events have
 *  a weight for stealing, or lower bounds. */
#define MELY_STATS_LENGTH_MAX 256

/**
 * Histograms are log-linear: the values 0 to 7 have a bucket each, every octave above has 8, so the
 * bounds of a bucket are at most 12.5 % apart and the middle is within 6.25 % of any value in it.
 * The last bucket holds all values from 2^36 ns (69 s) up.
 */
#define MELY_STATS_BUCKETS 273

/** How far a victim is from its thief: the nearest thing that they share. */
enum mely_distance {
	MELY_DISTANCE_CORE,    /**< a physical core (SMT) */
	MELY_DISTANCE_L2,
	MELY_DISTANCE_L3,      /**< an L3 cache */
	MELY_DISTANCE_PACKAGE,
	MELY_DISTANCE_FAR,     /**< the machine, or not known */
	MELY_DISTANCES
};

/** Counts since the runtime was made. mely/counters.def lists the members with their meaning. */
struct mely_counters {
#define MELY_COUNTER_TALLY(name, unit, help) uint64_t name;
#define MELY_COUNTER(name, unit, help) uint64_t name;
#define MELY_COUNTER_AT(name, unit, help) uint64_t name[MELY_DISTANCES];
#include <mely/counters.def>
};

/** A histogram of a row: counts of values in nanoseconds. The block contains the buckets from the
 *  first to the last one that is not empty. */
struct mely_stats_hist {
	uint64_t count;     /**< values */
	uint64_t sum_ns;
	uint64_t max_ns;
	uint32_t first;     /**< number of the first bucket in the block */
	uint32_t buckets;   /**< buckets in the block; 0 when count is 0 */
	uint64_t buckets_at;/**< offset of uint64_t[buckets] */
};

/** What a core does, mely_stats_core.doing. */
enum {
	MELY_STATS_AWAY = 0, /**< no thread runs it: before mely_run, after a stop */
	MELY_STATS_BUSY,     /**< in a handler, or between two */
	MELY_STATS_STEALING, /**< has nothing to run: tries to steal, or spins */
	MELY_STATS_POLLING,  /**< polls, whether it has other work or not */
	MELY_STATS_SLEEPING
};

/** The kind of a color in a row. */
enum {
	MELY_STATS_NO_COLOR = 0,
	MELY_STATS_COLOR_ID,    /**< color_id is its id */
	MELY_STATS_COLOR_OBJECT /**< color_object is its address, which tells two apart */
};

/** A core. The four times add up to the time that a thread has run it. */
struct mely_stats_core {
	uint32_t index;
	int32_t pu;              /**< OS index of its processing unit; -1: not pinned */
	uint32_t doing;          /**< MELY_STATS_AWAY .. */
	uint32_t colors_waiting; /**< color-queues in its core-queue */
	uint32_t colors_stealable;/**< of these, not pinned */

	/* what it runs now; all 0 while it runs nothing */
	uint32_t handler;        /**< number of the handler entered last in the running batch */
	uint32_t color_kind;     /**< of the running color: MELY_STATS_NO_COLOR .. */
	uint32_t color_id;
	uint64_t color_object;
	uint64_t color_name_at;  /**< 0: no name, or the caller asked for no colors */
	uint64_t running_ns;     /**< since the batch began; the handler may have begun later */
	uint64_t events_in_batch;/**< begun in this batch, the running one included */

	/* time since the runtime was made, up to now */
	uint64_t busy_ns;
	uint64_t steal_ns;       /**< searching work, stealing, spinning before a sleep */
	uint64_t poll_ns;        /**< polling descriptors, timers, signals while awake */
	uint64_t sleep_ns;

	/** Events waiting in the colors of this snapshot that live here, as far as they were
	 *  counted; 0 when the caller asked for no colors. */
	uint64_t events_waiting;

	struct mely_counters counters; /**< last: a later library may add some */
};

/** Where a handler's time or penalty comes from. */
enum {
	MELY_STATS_UNKNOWN = 0, /**< not known yet, or not measured */
	MELY_STATS_ANNOTATED,   /**< the program gave it */
	MELY_STATS_MEASURED     /**< the runtime measured the time, or learned the penalty */
};

/** A handler. Handlers with the same function and the same name are one. */
struct mely_stats_handler {
	uint32_t number;         /**< constant while the process lives */
	uint32_t time_from;      /**< MELY_STATS_UNKNOWN .. */
	uint32_t penalty_from;
	uint32_t time_ns;        /**< used by stealing; 0: not known */
	uint32_t penalty;        /**< used by stealing, at least 1 */
	uint32_t stall_ms;       /**< its limit; 0: that of the runtime */
	uint64_t name_at;        /**< never empty: its name, its symbol or its address */
	uint64_t fn;             /**< address of the function; 0: this row sums up all others */
	uint64_t count;          /**< events run */
	uint64_t stalls;         /**< ran for longer than the limit */
	struct mely_stats_hist time;  /**< how long the function took */
	struct mely_stats_hist delay; /**< from the post to the run */
};

/** mely_stats_color.flags */
enum {
	MELY_STATS_COLOR_RUNNING = 1,   /**< an event of it runs */
	MELY_STATS_COLOR_PINNED = 2,
	MELY_STATS_LENGTH_AT_LEAST = 4, /**< more events may wait than length says */
	MELY_STATS_LENGTH_ESTIMATED = 8,/**< from what the events weigh together; or as its core has
	                                 *   said a moment ago: some have run since */
	MELY_STATS_AGE_AT_LEAST = 16    /**< one may have waited for longer than oldest_ns */
};

/** A color that has events, or runs. */
struct mely_stats_color {
	uint32_t kind;           /**< MELY_STATS_COLOR_ID or _OBJECT */
	uint32_t id;
	uint64_t object;         /**< its address, for telling two apart */
	uint64_t name_at;        /**< 0: it has none */
	uint32_t owner;          /**< the core it lives on */
	uint32_t flags;
	int32_t priority;
	uint32_t handler;        /**< of its next event, or the running one; 0: not known */
	uint64_t length;         /**< events waiting, the running one not counted */
	uint64_t oldest_ns;      /**< how long the first of them has waited, or longer by at most
	                          *   the time that the handler that posted it had run */
};

/** A snapshot: the head of the block. */
struct mely_stats {
	uint32_t magic;
	uint16_t version;        /**< changes when a member changes its meaning */
	uint16_t header_size;
	uint64_t size;           /**< of the whole block */
	uint64_t taken_ns;       /**< time of the snapshot: mely_now_ns */
	uint64_t made_ns;        /**< time when the runtime was made */
	uint64_t wall_ns;        /**< taken_ns as time since 1970 */
	uint32_t pid;
	uint32_t stealing;       /**< 1: on; 0: off */
	/**
	 * Each core samples one batch in sample_every, and at least one a millisecond: the first
	 * sample_events events of it go into the histograms of times, as do the events by which the
	 * runtime first measures a handler without a time. Delays are those of one post in
	 * delay_every to another color, and of at least one a millisecond, on each core and outside
	 * the cores; and, from the end of a sampled batch, of the first event that the batch posted
	 * to its own color and left for later.
	 */
	uint32_t sample_every;
	uint32_t sample_events;
	uint32_t delay_every;
	uint32_t cores_count;
	uint32_t core_size;      /**< bytes from one row to the next */
	uint32_t handlers_count; /**< by number */
	uint32_t handler_size;
	uint32_t colors_count;   /**< most events first, or oldest first */
	uint32_t color_size;
	uint32_t colors_asked;   /**< colors_max of the call */
	uint64_t colors_found;   /**< with events or running, those left out included */
	uint64_t cores_at, handlers_at, colors_at;
	uint64_t outside_posts;  /**< by threads outside the cores, as the next two */
	uint64_t outside_wakeups;
	uint64_t outside_refused;
	uint64_t misuses;        /**< posts to released colors, which had no effect */
	uint64_t version_at;     /**< mely_version() of the library that took it */
	uint64_t program_at;     /**< name of the program */
	/** Sums over the cores and the threads outside. Last: a later library may add some. */
	struct mely_counters total;
};

/** mely_stats_take, flags */
enum {
	MELY_STATS_BY_AGE = 1,   /**< colors whose first event is the oldest first */
	/** Only the head, and the counters and times of the cores: no handlers, and not what runs
	 *  now. Takes no lock. colors_max must be 0. */
	MELY_STATS_COUNTERS = 2
};

/**
 * Take a snapshot of rt, which the caller frees with mely_stats_free. colors_max: colors to list,
 * 0 for none; more than MELY_STATS_COLORS_MAX count as that many. rt may run or not. Takes the lock
 * of each core for a moment, except with MELY_STATS_COUNTERS. Listing colors takes these locks for
 * a few microseconds at a time, and waits up to 2 ms, except in a handler, until the cores have
 * counted the events that they have taken to run. *stats is NULL after an error. 0, or
 *   -EINVAL  an unknown flag, MELY_STATS_COUNTERS with colors, or rt or stats is NULL
 *   -ENOMEM  no memory
 *   -ECHILD  the process was forked and the runtime not renewed
 *
 * Threads: any. Colors: any. Blocks: may. Errors: -EINVAL, -ENOMEM, -ECHILD.
 */
MELY_API int mely_stats_take(struct mely_runtime *rt, unsigned flags, uint32_t colors_max,
    struct mely_stats **stats) MELY_MUST_CHECK;

/** Free a snapshot that mely_stats_take made. NULL is allowed.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API void mely_stats_free(struct mely_stats *stats);

/**
 * Can the functions below read this block of size bytes, which came from another source? It must be
 * aligned to 8 bytes. Checks all offsets, sizes and names. 0, -EINVAL (also for NULL), or
 * -EPROTONOSUPPORT for a version that this library does not know.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL, -EPROTONOSUPPORT.
 */
MELY_API int mely_stats_check(const void *block, size_t size);

/* The functions below read a snapshot and nothing else. Pointers that they return are valid until
 * mely_stats_free. For a snapshot or histogram that is NULL they return NULL, "" or 0, and the last
 * two -EINVAL. */

/** The row of a core, handler or color: i from 0 to the count in the head less 1; else NULL.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API const struct mely_stats_core *mely_stats_core_row(const struct mely_stats *stats,
    uint32_t i);
MELY_API const struct mely_stats_handler *mely_stats_handler_row(const struct mely_stats *stats,
    uint32_t i);
MELY_API const struct mely_stats_color *mely_stats_color_row(const struct mely_stats *stats,
    uint32_t i);

/** The row of the handler with this number, or NULL.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API const struct mely_stats_handler *mely_stats_handler_numbered(
    const struct mely_stats *stats, uint32_t number);

/** A name of a row: the string at an offset; "" for 0.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API const char *mely_stats_name(const struct mely_stats *stats, uint64_t at);

/** Values in bucket number bucket, 0 .. MELY_STATS_BUCKETS-1, of a histogram of this snapshot.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API uint64_t mely_stats_bucket(const struct mely_stats *stats,
    const struct mely_stats_hist *hist, uint32_t bucket);

/** The bucket of a value; the least value in a bucket, and the first value above it (UINT64_MAX for
 *  the last bucket).
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API uint32_t mely_stats_bucket_of(uint64_t ns);
MELY_API uint64_t mely_stats_bucket_from(uint32_t bucket);
MELY_API uint64_t mely_stats_bucket_to(uint32_t bucket);

/** The value that a part of all values, 0 .. 1, does not exceed: the middle of its bucket, but no
 *  more than max_ns. 0 when the histogram is empty.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API uint64_t mely_stats_quantile(const struct mely_stats *stats,
    const struct mely_stats_hist *hist, double part);

/** Average of a histogram, ns; 0 when it is empty.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API uint64_t mely_stats_average(const struct mely_stats_hist *hist);

/** "core", "l2", "l3", "package", "far" for an enum mely_distance; "?" for anything else: a static
 *  string.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API const char *mely_distance_name(int distance);

/**
 * Write a snapshot as text for Prometheus (exposition format 0.0.4) or as one JSON object. The
 * caller frees *text with free(); *length, unless NULL, does not count the terminating zero. 0, or
 * -ENOMEM, and *text is NULL; or -EINVAL when stats or text is NULL.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -ENOMEM, -EINVAL.
 */
MELY_API int mely_stats_prometheus(const struct mely_stats *stats, char **text, size_t *length)
    MELY_MUST_CHECK;
MELY_API int mely_stats_json(const struct mely_stats *stats, char **text, size_t *length)
    MELY_MUST_CHECK;

MELY_END_DECLS

#endif
