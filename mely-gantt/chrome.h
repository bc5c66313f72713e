/* SPDX-License-Identifier: MIT */
/*
 * chrome.h: a raw trace as JSON in the Trace Event format, which Perfetto, Chrome and
 * docs/trace-view.html open. docs/internals/trace.md describes what is in it.
 */
#ifndef GANTT_CHROME_H
#define GANTT_CHROME_H

#include "raw.h"

/** Write the JSON; errors of out stay with out. Changes raw (gantt_pair). False: no memory. */
bool gantt_chrome(FILE *out, struct gantt_raw *raw);

#endif
