/* SPDX-License-Identifier: MIT */
/*
 * assert.h: assertions about the library itself; what a caller gets wrong is an error code.
 *   MELY_ASSERT   ours: an invariant of the library; always on, costs a compare
 *   MELY_DEBUG_ASSERT    ours: too dear for every build; on with --enable-developer
 * Check expressions have no side effects.
 */
#ifndef MELYINT_BASE_ASSERT_H
#define MELYINT_BASE_ASSERT_H

#include "base/compiler.h"

_Noreturn void melyint_bug(const char *file, int line, const char *what);
/* One line on stderr, "mely: ...", in a single write. */
void melyint_say(const char *format, ...) MELY_PRINTF(1, 2);

#define MELY_ASSERT(cond) \
	do { \
		if (MELY_UNLIKELY(!(cond))) \
			melyint_bug(__FILE__, __LINE__, #cond); \
	} while (0)

#ifdef MELY_DEVELOPER
/* Not by way of MELY_ASSERT, which would see the macros in cond expanded. */
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
