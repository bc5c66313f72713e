/* SPDX-License-Identifier: MIT */
/*
 * scarce.h: a process in which one chosen allocation fails: memory of malloc and its kin, pages of
 * mmap, a thread, or what the kernel needs for a descriptor or a watch. The functions replace those
 * of libc for the program and all its libraries, so scarce.c is a source of the tests that need it
 * and not in libtest.a.
 */
#ifndef MELY_SCARCE_H
#define MELY_SCARCE_H

#include <stdbool.h>

/* Once, first in main, while there is one thread. */
void scarce_init(void);
/* A library that ends the program when it gets no memory, and why nothing can be done about it. */
struct scarce_fault {
	const char *library;    /* a part of its file name */
	const char *why;
};
/*
 * Run scenario in child processes. In the first one the first allocation after scarce_begin fails,
 * in the second one the second, and so on until none fails; with `more`, all later ones fail, too,
 * until scarce_end. Each child must end by itself with status 0. A child that does not fails the
 * test, after lines that say which allocation it was and what asked for it. The exception is a
 * child that dies of a signal inside the library of *fault (NULL: none); the test prints how many.
 */
void scarce_each(void (*scenario)(void), bool more, const struct scarce_fault *fault);

/* In the child. From here on allocations count. */
void scarce_begin(void);
/* From here on none fails. */
void scarce_end(void);
/* Has an allocation failed? Any thread. */
bool scarce_failed(void);
/* Between the two the allocations of this thread neither fail nor count. They nest. */
void scarce_spare(void);
void scarce_spare_end(void);

#endif
