/* SPDX-License-Identifier: MIT */
/*
 * mely/trace.h: what a runtime did, as a file that Perfetto (ui.perfetto.dev) and Chrome
 * (chrome://tracing) open: a row per core, a slice per event, arrows from posts to their events and
 * from victims of steals to thieves. The format is in docs/internals/trace.md.
 *
 * The environment starts a trace without a change to the program: MELY_TRACE=FILE (struct
 * mely_config). Each core remembers its last MELY_TRACE_EVENTS records, 32 bytes each, and how many
 * it has overwritten. The file is written when the trace is stopped, when the runtime is freed,
 * when the program exits, and when it dies of SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT. Other
 * signals that kill the program take the trace with them; a program that ends on SIGTERM watches it
 * (mely_signal_watch) and stops.
 *
 * While nothing is traced, tracing costs nothing for each event.
 */
#ifndef MELY_TRACE_H
#define MELY_TRACE_H

#include <mely/base.h>

MELY_BEGIN_DECLS

/**
 * Trace rt from now on, to be written to the file path, in which %p stands for the number of the
 * process and %% for %. The file appears whole when it is written (until then it is path.PID.tmp,
 * PID being the number of the process), and replaces one that is there. Cores notice within a
 * millisecond, those that sleep when they wake. Any thread, handlers included.
 *
 * 0, or
 *   -EBUSY         rt is traced already
 *   -EINVAL        path is NULL or empty, or has a % with neither p nor % after it
 *   -ENAMETOOLONG  path is too long
 *   -ENOMEM        no memory for the records
 *   -EEXIST        there is a path.PID.tmp, or a link of that name: it is left as it is
 *   -ECHILD        the process was forked and the runtime not renewed (mely_runtime_renew)
 * or what the system says to a try to make the file.
 */
MELY_API int mely_trace_start(struct mely_runtime *rt, const char *path);

/**
 * End the trace of rt and write the file. Any thread, handlers included; blocks while it writes. 0,
 * -EALREADY when rt is not traced, or what the system said when the file could not be written (a
 * line on stderr names it).
 */
MELY_API int mely_trace_stop(struct mely_runtime *rt);

MELY_END_DECLS

#endif
