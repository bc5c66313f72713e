/* SPDX-License-Identifier: MIT */
/*
 * worker.h: the processes that try one schedule after another, and report to their parent through
 * shared memory.
 */
#ifndef SIM_WORKER_H
#define SIM_WORKER_H

#include <signal.h>
#include <sys/types.h>

#include "engine.h"

enum {
	WORKERS_MAX = 64,
	WORKER_SITES = 4096,
	LENGTHS = 4096,         /* classes of schedules by their accesses ... */
	LENGTH_STEP = 16        /* ... the width of a class */
};

/* Written by the worker, read by all. */
struct worker_state {
	_Atomic uint64_t seed;  /* what it tries now */
	_Atomic uint64_t done;
	_Atomic bool ended;     /* by itself: nothing left to try, or a failure in outcome */
	uint64_t accesses;
	uint64_t switches;
	uint64_t digest;        /* the sum of all traces */
	uint64_t lengths[LENGTHS];
	uint64_t site_hits[WORKER_SITES];
	bool failed;
	struct sim_outcome outcome;
};

/* The traces seen so far, all workers'. */
struct traces {
	uint64_t slots;         /* a power of two; constant */
	_Atomic uint64_t count; /* different ones */
	_Atomic uint64_t at[];
};

struct worker_job {
	uint64_t seed;          /* the first one */
	uint64_t schedules;     /* of all workers; 0: until they must end */
	int workers, number;    /* this worker has a number from 0 to workers - 1 */
};

struct traces *traces_new(uint64_t schedules);

/* In the child. */
void worker_run(const struct worker_job *job, struct worker_state *state,
    struct traces *traces, const _Atomic bool *end);

#endif
