/* SPDX-License-Identifier: MIT */
/*
 * scarce.h: a process in which one chosen allocation fails: memory of malloc and its kin, pages of
 * mmap, or a thread. The functions replace those of libc for the program and all its libraries, so
 * scarce.c is a source of the tests that need it and not in libtest.a.
 */
#ifndef MELY_SCARCE_H
#define MELY_SCARCE_H

#include <stdbool.h>

/* Once, first in main, while there is one thread. */
void scarce_init(void);
/*
 * Run scenario in child processes. In the first one the first allocation after scarce_begin fails,
 * in the second one the second, and so on until none fails. Each child must end by itself with
 * status 0. A child that does not fails the test, after a line that says which allocation it was
 * and who asked for it, unless `known` (may be NULL) is the name of a library, or a part of it, that
 * asked: such a child only counts. Returns how many did.
 */
unsigned scarce_each(void (*scenario)(void), const char *known);

/* In the child. From here on allocations count. */
void scarce_begin(void);
/* Has the allocation failed? Any thread. */
bool scarce_failed(void);
/* Between the two the allocations of this thread neither fail nor count. They nest. */
void scarce_spare(void);
void scarce_spare_end(void);

#endif
