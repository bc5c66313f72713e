/* SPDX-License-Identifier: MIT */
/*
 * assert.h: what the library does when it finds a fault, its own or the program's. Any thread.
 *   MELY_ASSERT        an invariant of the library; always on, costs a compare
 *   MELY_DEBUG_ASSERT  an invariant that costs too much for every build; on with --enable-developer
 *   melyint_misuse     a fault of the program; developer builds print one line and abort, release
 *                      builds return an error or do nothing instead: color/misuse.h. Release
 *                      builds end so, too, for a handler without a function
 * Asserted expressions have no side effects. They read atomics with MELY_PEEK.
 */
#ifndef MELYINT_BASE_ASSERT_H
#define MELYINT_BASE_ASSERT_H

#include "base/compiler.h"

/* An invariant failed: print the place and the expression, then abort. */
_Noreturn void melyint_bug(const char *file, int line, const char *what);
/* The program did what the line says: print "mely: misuse: ...", then abort. */
_Noreturn void melyint_misuse(const char *format, ...) MELY_PRINTF(1, 2);
/* Print one line on stderr, "mely: ...", in a single write. */
void melyint_say(const char *format, ...) MELY_PRINTF(1, 2);

#define MELY_ASSERT(cond) \
	do { \
		if (MELY_UNLIKELY(!(cond))) \
			melyint_bug(__FILE__, __LINE__, #cond); \
	} while (0)

#ifdef MELY_DEVELOPER
/* Not through MELY_ASSERT, which would print the expression with its macros expanded. */
#define MELY_DEBUG_ASSERT(cond) \
	do { \
		if (MELY_UNLIKELY(!(cond))) \
			melyint_bug(__FILE__, __LINE__, #cond); \
	} while (0)
#else
#define MELY_DEBUG_ASSERT(cond) \
	do { \
		if (0) \
			(void)(cond); \
	} while (0)
#endif

#endif
