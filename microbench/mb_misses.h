/* SPDX-License-Identifier: MIT */
/*
 * mb_misses.h: cache misses of the whole process, counted by the processor, where a counter exists
 * and is accessible. Start it before other threads exist, so that it counts them too.
 */
#ifndef MB_MISSES_H
#define MB_MISSES_H

/* Begin to count. Does nothing without a counter. */
void mb_misses_start(void);

/* The misses so far, last-level ones; NAN without a counter. Any thread. */
double mb_misses_read(void);

#endif
