/* SPDX-License-Identifier: MIT */
/*
 * unit.h: for the unit tests of sws: the headers that cmocka needs before its own, and memory
 * that runs out. A white-box test includes the .c file it tests, after it has renamed the calls
 * that are to fail:
 *
 *     #define malloc failing_malloc
 *     #include "../../webserver/site/store.c"
 */
#ifndef SWS_UNIT_H
#define SWS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define NEVER (-1)

/* Allocations that still succeed; then one fails, and those after it succeed again. */
static int allocations_left = NEVER;

static inline int
out_of_memory(void)
{
	if (allocations_left == NEVER)
		return 0;
	return allocations_left-- == 0;
}

static inline void *
failing_malloc(size_t size)
{
	return out_of_memory() ? NULL : malloc(size);
}

static inline void *
failing_calloc(size_t count, size_t size)
{
	return out_of_memory() ? NULL : calloc(count, size);
}

#endif
