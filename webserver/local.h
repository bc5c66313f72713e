/* SPDX-License-Identifier: MIT */
/*
 * local.h: what a core has for itself (core.h) goes from one handler on it to the next, whatever
 * their colors: a core is one thread. The color checker takes each color for a thread of its own
 * and asks for more, so it is told: SWS_LOCAL_GIVE(p) comes before SWS_LOCAL_TAKE(p) of whoever
 * is next, and memory under SWS_LOCAL_MEMORY is not looked at. As little as possible is under
 * either, for what one connection gives and the next one takes would hide what else they share.
 * In every other build they are nothing.
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
