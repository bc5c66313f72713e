/* SPDX-License-Identifier: MIT */
/*
 * run.h: a run of this process, from its options to its result. On the main thread.
 */
#ifndef LOAD_RUN_H
#define LOAD_RUN_H

#include "load/core.h"

struct load_progress {
	uint64_t responses, errors, bytes; /* since the measured time began */
};

/** Called about once a second by core 0, while the others run. */
typedef void load_progress_fn(void *arg, const struct load_progress *p);

/**
 * Make ready: look up the address, make the requests, find memory. list: the text of the file of
 * paths, or NULL. The options must last as long as the run. Prints what is wrong and returns false.
 */
bool load_run_init(struct load_run *run, const struct load_options *o, const char *list);
void load_run_fini(struct load_run *run);

/** Run, then add what was measured to *result. Prints what is wrong and returns false. */
bool load_run(struct load_run *run, load_progress_fn *progress, void *arg,
    struct load_result *result);

#endif
