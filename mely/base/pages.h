/* SPDX-License-Identifier: MIT */
/*
 * pages.h: blocks of memory straight from the system, for what is large, lives long and is to be
 * given back whole; zeroed, and only the pages that are touched cost anything. Any thread.
 */
#ifndef MELYINT_BASE_PAGES_H
#define MELYINT_BASE_PAGES_H

#include <stddef.h>

enum { MELYINT_BLOCK = 65536 }; /* size and alignment of a block */

/* NULL: no memory. */
void *melyint_block_new(void);
void melyint_block_free(void *block);

/* In a program with a leak checker: memory that the library has mapped holds pointers, or does no
 * longer. Nothing elsewhere. */
void melyint_pages_hold(const void *area, size_t size);
void melyint_pages_leave(const void *area, size_t size);

#endif
