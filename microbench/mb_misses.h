/* SPDX-License-Identifier: MIT */
/*
 * mb_misses.h: cache misses of the whole process as the processor counts them, where it does and
 * we may ask. Started before other threads exist, which then count too.
 */
#ifndef MB_MISSES_H
#define MB_MISSES_H

/* Begin to count. Without a counter nothing happens. */
void mb_misses_start(void);

/* The misses so far, last-level ones; NAN without a counter. Any thread. */
double mb_misses_read(void);

#endif
