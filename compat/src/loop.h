/* SPDX-License-Identifier: MIT */
/*
 * loop.h: the one runtime of a compat program, before, in and after amain.
 */
#ifndef MELYCOMPAT_LOOP_H
#define MELYCOMPAT_LOOP_H

#include <atomic>
#include <cstdint>
#include <mely/runtime.h>
#include <mely/stats.h>

#include "job.h"

namespace melycompat {

enum {
	WORKERS_MAX = 64,    /**< MAX_THREADS of the headers */
	COLORS_MAX = 32764   /**< MAX_COLORS */
};

/** Set once, by the first amain. */
extern std::atomic<mely_runtime *> the_runtime;

/** The runtime, or NULL before amain. Any thread. */
inline mely_runtime *
runtime()
{
	/* acquire: pairs with the release in post_held */
	return the_runtime.load(std::memory_order_acquire);
}

/** The additions of a dialect to the runtime. */
struct dialect {
	const job_ops *callbacks;          /**< the operations on its callbacks */
	void (*starting)(mely_runtime *rt); /**< in amain, before the workers run */
	bool reports;                      /**< print lines about stalls and ages by default */
};

/** Called before main, by each source file of the program. workers 0: one per processor. */
void loop_init(int workers, const dialect *of);

/**
 * The runtime for work that only needs helper threads; created if necessary. A child that was
 * forked before amain calls this again. Any thread.
 */
mely_runtime *runtime_for_helpers();

/** The number of workers, also before amain. Any thread. */
int loop_workers();

/** Run until loop_stop_one has been called once for each worker. */
void loop_run();
void loop_stop_one();

/** The libmely id of a color. Ends the program for a worker that does not exist. Any thread. */
uint32_t color_id(int color);

/** The libmely object of a color. Any thread. */
mely_color *color_object(mely_runtime *rt, int color);

/** A callback has a priority: run one event per turn from now on. Any thread. */
void priorities_used();

/** Print a line about a worker on standard error; restart its counts. Any thread. */
void worker_print(int worker);
void workers_reset();

}

#endif
