/* SPDX-License-Identifier: MIT */
/*
 * sample.h: what a program did between two snapshots.
 */
#ifndef TOP_SAMPLE_H
#define TOP_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <mely/mely.h>

/* Shares of the time of a core; they add up to 1 if a thread ran it all the time. */
struct core_rates {
	double busy, steal, poll, sleep;
	double events;            /* a second */
};

struct handler_rates {
	const struct mely_stats_handler *row;
	double events;            /* a second */
	uint64_t samples;         /* number of samples for the following */
	uint64_t average_ns, p50_ns, p99_ns;
	uint64_t delays;          /* samples */
	uint64_t delay_p99_ns;
	uint32_t running;         /* cores that run it now */
	double share;             /* of the time of all cores, computed from the samples, and from
	                           * what runs and has not ended */
	uint64_t stalls;
};

/* Sums over the cores, a second each. */
struct total_rates {
#define MELY_COUNTER_TALLY(name, unit, help) double name;
#define MELY_COUNTER(name, unit, help) double name;
#define MELY_COUNTER_AT(name, unit, help) double name[MELY_DISTANCES];
#include <mely/counters.def>
	double busy, steal, poll, sleep; /* shares, averages over the cores */
};

/* now, and the rates since before, or, if that is NULL, since the runtime was made. */
struct sample {
	const struct mely_stats *now, *before;
	uint64_t ns;              /* between the two, at least 1 */
	double seconds;           /* likewise */
	struct total_rates total;
	struct core_rates *cores;          /* now->cores_count of them */
	struct handler_rates *handlers;    /* those that have run */
	uint32_t handlers_count;
};

/* False: no memory. The snapshots must outlive the sample. */
bool sample_make(struct sample *sample, const struct mely_stats *now,
    const struct mely_stats *before);
void sample_free(struct sample *sample);

enum handler_order {
	BY_SHARE, BY_EVENTS, BY_AVERAGE, BY_P99, BY_DELAY, BY_STALLS, BY_NAME, HANDLER_ORDERS
};

void sample_sort(struct sample *sample, enum handler_order order);

#endif
