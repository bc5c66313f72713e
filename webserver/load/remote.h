/* SPDX-License-Identifier: MIT */
/*
 * remote.h: a master, which makes no load itself, and the slaves that do. On the main thread.
 */
#ifndef LOAD_REMOTE_H
#define LOAD_REMOTE_H

#include "load/run.h"

/**
 * Let the slaves of o->master run, all from the same time on, and add up what they measured. list:
 * as load_run_init. Prints what is wrong and returns false.
 */
bool load_master(const struct load_options *o, const char *list, load_progress_fn *progress,
    void *arg, struct load_result *result);

/** Be a slave until a signal ends it; the exit status. */
int load_slave(const char *where);

#endif
