/* SPDX-License-Identifier: MIT */
/*
 * tsan.h: the parts of ThreadSanitizer's runtime that the color checker calls. The library is not
 * instrumented; the program brings that runtime. The symbols are weak, and NULL where it does not.
 */
#ifndef MELYINT_CHECK_TSAN_H
#define MELYINT_CHECK_TSAN_H

#include <stddef.h>
#include <stdint.h>

#define MELYINT_WEAK __attribute__((weak))

/* A flag of __tsan_switch_to_fiber: the switch orders nothing. */
enum { MELYINT_TSAN_NO_SYNC = 1 };

/* Memory orders, for the functions below. */
enum { MELYINT_TSAN_ACQUIRE = 2, MELYINT_TSAN_RELEASE = 3 };

MELYINT_WEAK void *__tsan_get_current_fiber(void);
MELYINT_WEAK void *__tsan_create_fiber(unsigned flags);
MELYINT_WEAK void __tsan_destroy_fiber(void *fiber);
MELYINT_WEAK void __tsan_switch_to_fiber(void *fiber, unsigned flags);
MELYINT_WEAK void __tsan_set_fiber_name(void *fiber, const char *name);

/* A store replaces what was released to the word before; an addition adds to it. */
MELYINT_WEAK void __tsan_atomic64_store(long *word, long value, int order);
MELYINT_WEAK long __tsan_atomic64_load(const long *word, int order);
MELYINT_WEAK long __tsan_atomic64_fetch_add(long *word, long value, int order);

/* Accesses on behalf of the program. */
MELYINT_WEAK void __tsan_read_range(void *address, unsigned long size);
MELYINT_WEAK void __tsan_write_range(void *address, unsigned long size);

/* A frame of the reported stacks. */
MELYINT_WEAK void __tsan_func_entry(void *return_address);
MELYINT_WEAK void __tsan_func_exit(void);

MELYINT_WEAK void AnnotateIgnoreSyncBegin(const char *file, int line);
MELYINT_WEAK void AnnotateIgnoreSyncEnd(const char *file, int line);
MELYINT_WEAK void AnnotateIgnoreReadsBegin(const char *file, int line);
MELYINT_WEAK void AnnotateIgnoreReadsEnd(const char *file, int line);
MELYINT_WEAK void AnnotateIgnoreWritesBegin(const char *file, int line);
MELYINT_WEAK void AnnotateIgnoreWritesEnd(const char *file, int line);
MELYINT_WEAK void AnnotateBenignRaceSized(const char *file, int line, const void *address,
    size_t size, const char *why);

#endif
