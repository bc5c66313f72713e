/* SPDX-License-Identifier: MIT */
/*
 * loop.h: the one runtime of a compat program, before, in and after amain.
 */
#ifndef MELYCOMPAT_LOOP_H
#define MELYCOMPAT_LOOP_H

#include <atomic>
#include <cstdint>
#include <mely/runtime.h>

#include "job.h"

namespace melycompat {

enum {
	WORKERS_MAX = 64,    /**< MAX_THREADS of the headers */
	COLORS_MAX = 32764   /**< MAX_COLORS */
};

/** Set once, by the first amain: until then everything is held. */
extern std::atomic<mely_runtime *> the_runtime;

/** The runtime, or NULL before amain. Any thread. */
inline mely_runtime *
runtime()
{
	/* acquire: pairs with the release in post_held */
	return the_runtime.load(std::memory_order_acquire);
}

/** What a dialect adds to the runtime. */
struct dialect {
	const job_ops *callbacks;          /**< what is done with its callbacks */
	void (*starting)(mely_runtime *rt); /**< in amain, before the workers run */
	bool reports;                      /**< lines about stalls and ages when nobody asks */
};

/** Called before main, by each source file of the program. workers 0: as many as there are. */
void loop_init(int workers, const dialect *of);

/**
 * The runtime for what needs helper threads alone, made if there is none yet; whoever forks before
 * amain asks again in the child. Any thread.
 */
mely_runtime *runtime_for_helpers();

/** How many workers there are, or will be. Any thread. */
int loop_workers();

/** Run until as many calls of loop_stop_one have been made as there are workers. */
void loop_run();
void loop_stop_one();

/** The id that a color has in libmely. Ends the program for a worker that is not. Any thread. */
uint32_t color_id(int color);

/** The color as an object of libmely. Any thread. */
mely_color *color_object(mely_runtime *rt, int color);

/** Some callback has a priority: from now on one event per turn. Any thread. */
void priorities_used();

/** A line about a worker on standard error; and from where it counts. Any thread. */
void worker_print(int worker);
void workers_reset();

}

#endif
