/* SPDX-License-Identifier: MIT */
/*
 * mely/stats.h: what a runtime does now and has done: its cores, its handlers and, where asked
 * for, the colors with most events waiting.
 *
 * A look, struct mely_stats, is one block of memory without a pointer in it: it can be written to a
 * file or a socket as it is, and read in another process of the same machine type. All that it
 * refers to (rows, names, buckets) is an offset from its first byte. Rows may grow at their end in
 * later versions; their size is in the block, and the functions below find rows by it. So a reader
 * asks for rows with these functions and never by adding up sizes itself.
 *
 * Nothing is stopped to take a look. Each number has one writer and is right by itself; two of them
 * may be some events apart. Counts, and the times of the cores, are of everything that ran up to
 * the last end of a batch. Times and delays of handlers are samples: see mely_stats.sample_every.
 */
#ifndef MELY_STATS_H
#define MELY_STATS_H

#include <mely/base.h>
#include <mely/runtime.h>

MELY_BEGIN_DECLS

/** The first word of every look, and the version of what follows. */
#define MELY_STATS_MAGIC 0x4d537431u
#define MELY_STATS_VERSION 1

/** Most colors of one look. */
#define MELY_STATS_COLORS_MAX 4096
/** A color's waiting events are counted up to this; longer lengths are estimated where the events
 *  are weighed for stealing. */
#define MELY_STATS_LENGTH_MAX 256

/**
 * Histograms are log-linear: the values 0 to 7 have a bucket each, every octave above has 8, so the
 * bounds of a bucket are at most 12.5 % apart and the middle is within 6.25 % of any value in it.
 * The last bucket takes all from 2^36 ns (69 s) up.
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

/** A histogram of a row: counts of values in nanoseconds. Only buckets between the first and the
 *  last that are not empty are in the block. */
struct mely_stats_hist {
	uint64_t count;     /**< values */
	uint64_t sum_ns;
	uint64_t max_ns;
	uint32_t first;     /**< number of the first bucket in the block */
	uint32_t buckets;   /**< so many are in the block; 0 when count is 0 */
	uint64_t buckets_at;/**< where: uint64_t[buckets] */
};

/** What a core does, mely_stats_core.doing. */
enum {
	MELY_STATS_AWAY = 0, /**< no thread runs it: before mely_run, after a stop */
	MELY_STATS_BUSY,     /**< in a handler, or between two */
	MELY_STATS_STEALING, /**< has nothing to run and looks for work elsewhere, or spins */
	MELY_STATS_POLLING,  /**< looks at its poller, with or without having other work */
	MELY_STATS_SLEEPING
};

/** What sort of color a row speaks of. */
enum {
	MELY_STATS_NO_COLOR = 0,
	MELY_STATS_COLOR_ID,    /**< color_id is its id */
	MELY_STATS_COLOR_OBJECT /**< color_object is its address, good for telling two apart */
};

/** A core. The four times add up to the time that a thread has run it. */
struct mely_stats_core {
	uint32_t index;
	int32_t pu;              /**< OS index of its processing unit; -1: not pinned */
	uint32_t doing;          /**< MELY_STATS_AWAY .. */
	uint32_t colors_waiting; /**< color-queues in its core-queue */
	uint32_t colors_stealable;/**< of these, not pinned */

	/* what it runs now; all 0 when it does not */
	uint32_t handler;        /**< number of the handler entered last in the running batch */
	uint32_t color_kind;     /**< of the running color: MELY_STATS_NO_COLOR .. */
	uint32_t color_id;
	uint64_t color_object;
	uint64_t color_name_at;  /**< 0: it has none, or colors were not asked for */
	uint64_t running_ns;     /**< since the batch began; the handler may have begun later */
	uint64_t events_in_batch;/**< begun in this batch, the running one included */

	/* time since the runtime was made, up to now */
	uint64_t busy_ns;
	uint64_t steal_ns;       /**< looking for work, stealing, spinning before a sleep */
	uint64_t poll_ns;        /**< looking at descriptors, timers, signals while awake */
	uint64_t sleep_ns;

	/** Events waiting in the colors of this snapshot that live here, as far as they were
	 *  counted; 0 when the caller asked for no colors. */
	uint64_t events_waiting;

	struct mely_counters counters; /**< last: a later library may add some */
};

/** Where a handler's time or penalty comes from. */
enum {
	MELY_STATS_UNKNOWN = 0, /**< nobody knows it yet, or it is not asked for */
	MELY_STATS_ANNOTATED,   /**< the program gave it */
	MELY_STATS_MEASURED     /**< the runtime has measured the time, learned the penalty */
};

/** A handler. Handlers with the same function and the same name are one. */
struct mely_stats_handler {
	uint32_t number;         /**< stays the same as long as the process lives */
	uint32_t time_from;      /**< MELY_STATS_UNKNOWN .. */
	uint32_t penalty_from;
	uint32_t time_ns;        /**< that stealing reckons with; 0: not known */
	uint32_t penalty;        /**< that stealing reckons with, at least 1 */
	uint32_t stall_ms;       /**< its own limit; 0: that of the runtime */
	uint64_t name_at;        /**< never empty: its name, its symbol or its address */
	uint64_t fn;             /**< address of the function; 0: of all that are not listed */
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
	uint64_t oldest_ns;      /**< how long the first of them has waited; as much too long as the
	                          *   handler had run that posted it, at most */
};

/** A look: the head of the block. */
struct mely_stats {
	uint32_t magic;
	uint16_t version;        /**< grows when what is there changes its meaning */
	uint16_t header_size;
	uint64_t size;           /**< of the whole block */
	uint64_t taken_ns;       /**< when: mely_now_ns */
	uint64_t made_ns;        /**< when the runtime was made */
	uint64_t wall_ns;        /**< taken_ns as time since 1970 */
	uint32_t pid;
	uint32_t stealing;       /**< is it on? */
	/**
	 * One batch in so many is sampled, on each core, and where that is more, one a millisecond:
	 * its first sample_events events go into the histograms of times. So do the events by which
	 * a time that nobody gave is first measured. Delays are those of one post in delay_every to
	 * another color, on each core and outside the cores, again one a millisecond where that is
	 * more; and of the first event that a sampled batch posts to its own color and leaves for
	 * later, counted from the end of the batch.
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
	uint64_t outside_posts;  /**< by threads that are no cores */
	uint64_t outside_wakeups;
	uint64_t outside_refused;
	uint64_t version_at;     /**< mely_version() of the library that took it */
	uint64_t program_at;     /**< name of the program */
	/** Sums over the cores and the threads outside. Last: a later library may add some. */
	struct mely_counters total;
};

/** mely_stats_take, flags */
enum {
	MELY_STATS_BY_AGE = 1,   /**< colors whose first event is the oldest first */
	/** Only the head and what each core has counted and spent its time on: no handlers, not what
	 *  runs now. Takes no lock. With colors_max 0 only. */
	MELY_STATS_COUNTERS = 2
};

/**
 * Take a look at rt. colors_max: how many colors to list, 0 for none, at most
 * MELY_STATS_COLORS_MAX; looking at colors locks each core, for a few microseconds at a time, and
 * waits up to 2 ms, unless in a handler, for the cores to count what they have taken to run. Any
 * thread, handlers included, also while rt does not run. 0; -EINVAL for an unknown flag, -ENOMEM,
 * -ECHILD in the child of a fork.
 */
MELY_API int mely_stats_take(struct mely_runtime *rt, unsigned flags, uint32_t colors_max,
    struct mely_stats **stats) MELY_MUST_CHECK;

/** Free a look that mely_stats_take made. NULL is allowed. */
MELY_API void mely_stats_free(struct mely_stats *stats);

/**
 * Is this block of size bytes, which came from somewhere else, a look that the functions below can
 * read? It must be aligned to 8 bytes. Offsets, sizes and names are all checked. 0, or -EINVAL;
 * -EPROTONOSUPPORT when its version is not known here.
 */
MELY_API int mely_stats_check(const void *block, size_t size);

/** The row of a core, handler, color: i from 0 to the count in the head less 1; else NULL. */
MELY_API const struct mely_stats_core *mely_stats_core_row(const struct mely_stats *stats,
    uint32_t i);
MELY_API const struct mely_stats_handler *mely_stats_handler_row(const struct mely_stats *stats,
    uint32_t i);
MELY_API const struct mely_stats_color *mely_stats_color_row(const struct mely_stats *stats,
    uint32_t i);

/** The row of the handler with this number, or NULL. */
MELY_API const struct mely_stats_handler *mely_stats_handler_numbered(
    const struct mely_stats *stats, uint32_t number);

/** A name of a row: the string at an offset; "" for 0. */
MELY_API const char *mely_stats_name(const struct mely_stats *stats, uint64_t at);

/** Values in bucket number bucket, 0 .. MELY_STATS_BUCKETS-1, of a histogram of this look. */
MELY_API uint64_t mely_stats_bucket(const struct mely_stats *stats,
    const struct mely_stats_hist *hist, uint32_t bucket);

/** The bucket that a value belongs to; the least value in a bucket, and the first above it
 *  (UINT64_MAX for the last). */
MELY_API uint32_t mely_stats_bucket_of(uint64_t ns);
MELY_API uint64_t mely_stats_bucket_from(uint32_t bucket);
MELY_API uint64_t mely_stats_bucket_to(uint32_t bucket);

/** The value that a part of all values, 0 .. 1, does not exceed: the middle of its bucket, but no
 *  more than max_ns. 0 when the histogram is empty. */
MELY_API uint64_t mely_stats_quantile(const struct mely_stats *stats,
    const struct mely_stats_hist *hist, double part);

/** Average of a histogram, ns; 0 when it is empty. */
MELY_API uint64_t mely_stats_average(const struct mely_stats_hist *hist);

/** "core", "l2", "l3", "package", "far" for an enum mely_distance; "?" for anything else. */
MELY_API const char *mely_distance_name(int distance);

/**
 * A look as text for Prometheus (exposition format 0.0.4) or as one JSON object. Any thread. *text
 * is for free(); *length (may be NULL) is without the terminating zero. 0 or -ENOMEM.
 */
MELY_API int mely_stats_prometheus(const struct mely_stats *stats, char **text, size_t *length)
    MELY_MUST_CHECK;
MELY_API int mely_stats_json(const struct mely_stats *stats, char **text, size_t *length)
    MELY_MUST_CHECK;

MELY_END_DECLS

#endif
