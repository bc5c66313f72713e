/* SPDX-License-Identifier: MIT */
/*
 * read_raw.h: a trace as the library writes it (raw.h), into the store.
 */
#ifndef GANTT_READ_RAW_H
#define GANTT_READ_RAW_H

#include "raw.h"
#include "trace.h"

/** Take in a whole trace. False: no memory. */
bool gantt_read_raw(struct gantt_trace *trace, const struct gantt_raw *raw);

#endif
