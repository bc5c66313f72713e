/* SPDX-License-Identifier: MIT */
/*
 * assertion.h: assertions about sws itself. What a client sends, a file holds or the kernel
 * returns is handled, never asserted.
 *   SWS_ASSERT        always on, costs a compare
 *   SWS_DEBUG_ASSERT  on the path of every request, and in developer builds only
 * A condition has no side effects.
 */
#ifndef SWS_ASSERTION_H
#define SWS_ASSERTION_H

#define SWS_ASSERT(cond) \
	do { \
		if (__builtin_expect(!(cond), 0)) \
			sws_assertion_failed(__FILE__, __LINE__, #cond); \
	} while (0)

#ifdef MELY_DEVELOPER
/* Not by way of SWS_ASSERT, which would see the macros in cond expanded. */
#define SWS_DEBUG_ASSERT(cond) \
	do { \
		if (__builtin_expect(!(cond), 0)) \
			sws_assertion_failed(__FILE__, __LINE__, #cond); \
	} while (0)
#else
#define SWS_DEBUG_ASSERT(cond) \
	do { \
		if (0) \
			(void)(cond); \
	} while (0)
#endif

/** Print one line on stderr and abort. */
_Noreturn void sws_assertion_failed(const char *file, int line, const char *what);

#endif
