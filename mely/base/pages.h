/* SPDX-License-Identifier: MIT */
/*
 * pages.h: aligned, zeroed blocks of memory from the system, for data that is large, lives long and
 * is given back as a whole. Only the pages that are touched cost memory. Any thread.
 */
#ifndef MELYINT_BASE_PAGES_H
#define MELYINT_BASE_PAGES_H

#include <stddef.h>

enum { MELYINT_BLOCK = 65536 }; /* size and alignment of a block */

/* NULL: no memory. */
void *melyint_block_new(void);
void melyint_block_free(void *block);

/* Tell a leak checker that mapped memory holds pointers, or no longer does. Without a leak checker
 * these do nothing. */
void melyint_pages_hold(const void *area, size_t size);
void melyint_pages_leave(const void *area, size_t size);

#endif
