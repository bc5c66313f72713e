/* SPDX-License-Identifier: MIT */
/*
 * mely/base.h: what every public header needs: visibility, atomics that C++ can read past,
 * versions, forward declarations.
 *
 * Conventions of the whole interface
 *   errors     Functions return 0 (or a count) or a negative errno code; constructors hand the
 *              object out through an argument, which they do not touch on an error.
 *   misuse     A pointer to a runtime, color, handler or event must not be NULL unless the call
 *              says so, must point to an initialised object, and must not be used after the object
 *              was released or freed. Release builds return -EINVAL for NULL (or the value that a
 *              call documents, or nothing from a void call) and for a post to a released color,
 *              which they count (mely_stats.misuses). A handler without a function cannot run:
 *              calls that start a watcher return -EINVAL; a post of it, or the core that is to run
 *              it, ends the program with one line, "mely: misuse: ...", in every build. Release
 *              builds do not see other misuse. Builds with --enable-developer examine the arguments
 *              of calls and end the program with such a line.
 *   aborts     Release builds abort only for a handler without a function, and when an invariant of
 *              the library itself is broken.
 *   pointers   A call uses its pointers only until it returns, and frees nothing of the program's,
 *              unless its comment or the head of its file says otherwise.
 *   fork       -ECHILD: this process is the child of a fork, the runtime is the parent's, and
 *              mely_runtime_renew has not been called.
 *   order      Two posts to one color run in the order posted when they are both tail posts or
 *              both head posts, and come from one thread, or from the handlers of one color.
 *   fields     Members whose names begin with _ belong to the library.
 *   names      A function that takes the id of a color instead of a color ends in _id.
 *   time       Nanoseconds in 64 bits unless a name says otherwise.
 *
 * The comment of each function ends with the line below, and mely(7) has a table of these lines,
 * which man/tables writes. Signal handlers may call no function of the library.
 *
 *   Threads: any. Colors: any. Blocks: no. Errors: -EINVAL, -ECHILD.
 *
 *   Threads   any      any thread of the process, handlers included
 *             handler  in a handler; elsewhere the call has no effect, and its value says nothing
 *             passes   the thread that makes the passes of mely_run_once_for, one at a time
 *             forker   in the child of a fork: its only thread
 *   Colors    any      a handler of any color, of any runtime, and code outside handlers
 *             own      a handler of the color of the watcher that the call is about
 *             not rt   not in a handler of the runtime that the call is about
 *   Blocks    no       it may take a lock of the library, which no thread holds for longer than a
 *                      few hundred instructions, and may wake a core by a system call
 *             may      it may wait for a moment: for a file, for another call, for the batch of a
 *                      core. The comment says for what
 *             yes      it waits for handlers, or for as long as the caller asks
 *   Errors    none, or all codes that the call returns; "others" are errors of system calls that
 *             the comment does not list
 *
 * MELY_MUST_CHECK marks a call that makes, finds or arms something on which later calls depend, and
 * that can fail although the program calls it correctly: no memory, no descriptor, no thread, a
 * limit of the system. It does not mark
 *   - posts, stops and cancels, whose results not every caller needs
 *   - calls that only name or observe (names, dumps, sockets, traces): the program works without
 *   - calls that fail only after misuse or a fork, or because of what another process sent
 */
#ifndef MELY_BASE_H
#define MELY_BASE_H

#include <stddef.h>
#include <stdint.h>

#define MELY_VERSION_MAJOR 0
#define MELY_VERSION_MINOR 1
#define MELY_VERSION_PATCH 0
#define MELY_VERSION_STRING "0.1.0"

#if defined(__GNUC__) || defined(__clang__)
#define MELY_API __attribute__((visibility("default")))
#define MELY_MUST_CHECK __attribute__((warn_unused_result))
#else
#define MELY_API
#define MELY_MUST_CHECK
#endif

#ifdef __cplusplus
#define MELY_ATOMIC(type) type
#define MELY_BEGIN_DECLS extern "C" {
#define MELY_END_DECLS }
#else
#define MELY_ATOMIC(type) _Atomic(type)
#define MELY_BEGIN_DECLS
#define MELY_END_DECLS
#endif

struct mely_runtime;
struct mely_color;
struct mely_event;
struct mely_handler;
struct melyint_core;

MELY_BEGIN_DECLS

/** The version of the linked library, "MAJOR.MINOR.PATCH": a static string.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API const char *mely_version(void);

MELY_END_DECLS

#endif
