/* SPDX-License-Identifier: MIT */
/*
 * mely/trace.h: record what a runtime does to a file. mely-gantt(1) draws a picture of it, or turns
 * it into JSON for Perfetto (ui.perfetto.dev) and Chrome (chrome://tracing): a row for each core, a
 * slice for each event, arrows from posts to their events and from victims of steals to thieves.
 * docs/internals/trace.md describes the format.
 *
 * MELY_TRACE=FILE in the environment starts a trace without a change to the program (struct
 * mely_config). Each core remembers its last MELY_TRACE_EVENTS records, 32 bytes each, and counts
 * those that it has overwritten. The library writes the file when the trace is stopped, when the
 * runtime is freed, when the program exits, and when it dies of SIGSEGV, SIGBUS, SIGILL, SIGFPE or
 * SIGABRT. Other signals that kill the program leave no file; a program that ends by SIGTERM should
 * watch that signal (mely_signal_watch) and stop.
 *
 * While tracing is off, an event costs nothing more.
 */
#ifndef MELY_TRACE_H
#define MELY_TRACE_H

#include <mely/base.h>

MELY_BEGIN_DECLS

/**
 * Trace rt from now on, to the file path, in which %p stands for the process id and %% for %. The
 * file appears complete when it is written (until then it is path.PID.tmp, PID being the process
 * id), and replaces an older one. Cores notice within a millisecond, sleeping ones when they wake.
 * May wait for the file system, and while another trace is written.
 *
 * 0, or
 *   -EBUSY         rt is already traced
 *   -EINVAL        rt or path is NULL, path is empty, or has a % that neither p nor % follows
 *   -ENAMETOOLONG  path is too long
 *   -ENOMEM        no memory for the records
 *   -EEXIST        path.PID.tmp exists; it is left as it is
 *   -ECHILD        the process was forked and the runtime not renewed (mely_runtime_renew)
 * or the error of creating the file.
 *
 * Threads: any. Colors: any. Blocks: may. Errors: -EBUSY, -EINVAL, -ENAMETOOLONG, -ENOMEM, -EEXIST,
 * -ECHILD, others.
 */
MELY_API int mely_trace_start(struct mely_runtime *rt, const char *path);

/**
 * End the trace of rt and write the file, for which it waits. 0, -EALREADY if rt is not traced,
 * -EINVAL if rt is NULL, or the error of writing the file, which a line on stderr names.
 *
 * Threads: any. Colors: any. Blocks: may. Errors: -EALREADY, -EINVAL, others.
 */
MELY_API int mely_trace_stop(struct mely_runtime *rt);

MELY_END_DECLS

#endif
