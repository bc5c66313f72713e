/* SPDX-License-Identifier: MIT */
/*
 * local.h: annotations of per-core data for the color checker.
 *
 * The data of a core (core.h) passes from one handler on that core to the next, whatever their
 * colors, because a core is one thread. The color checker treats each color as a separate thread
 * and would report that. SWS_LOCAL_GIVE(p) orders what precedes it before the next
 * SWS_LOCAL_TAKE(p); the checker ignores accesses to memory under SWS_LOCAL_MEMORY. Annotate as
 * little as possible: the order from one connection's give to the next one's take also hides
 * other data that the two share. In every other build the macros do nothing.
 */
#ifndef SWS_LOCAL_H
#define SWS_LOCAL_H

#ifdef SWS_COLOR_CHECK

#include <stddef.h>

void __tsan_acquire(void *p);
void __tsan_release(void *p);
void AnnotateBenignRaceSized(const char *file, int line, const void *p, size_t size,
    const char *why);

#define SWS_LOCAL_TAKE(p) __tsan_acquire((void *)(p))
#define SWS_LOCAL_GIVE(p) __tsan_release((void *)(p))
#define SWS_LOCAL_MEMORY(p, size) \
	AnnotateBenignRaceSized(__FILE__, __LINE__, (p), (size), "of one core")

#else

#define SWS_LOCAL_TAKE(p) ((void)(p))
#define SWS_LOCAL_GIVE(p) ((void)(p))
#define SWS_LOCAL_MEMORY(p, size) ((void)(p), (void)(size))

#endif

#endif
