/* SPDX-License-Identifier: MIT */
/*
 * mely/base.h: what every public header needs: visibility, atomics that C++ can read past,
 * versions, forward declarations.
 *
 * Conventions of the whole interface
 *   errors     functions return 0 (or a count) or a negative errno code; constructors hand the
 *              object out through an argument. Nothing aborts on what a caller can get wrong at
 *              run time. Only a broken invariant of the library itself aborts, with a message;
 *              builds with --enable-developer check more of them.
 *   threads    "any thread" means any thread of the process, a handler included. "in a handler"
 *              means on a core of the runtime in question.
 *   fields     members whose names begin with _ belong to the library.
 *   time       nanoseconds in 64 bits unless a name says otherwise.
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

/** The version of the library that is linked, "MAJOR.MINOR.PATCH". Any thread; a static string. */
MELY_API const char *mely_version(void);

MELY_END_DECLS

#endif
