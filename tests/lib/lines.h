/* SPDX-License-Identifier: MIT */
/*
 * lines.h: catches and searches the lines that a runtime reports. One runtime at a time.
 */
#ifndef MELY_TEST_LINES_H
#define MELY_TEST_LINES_H

#include "test.h"

/* Catch the reports of config's runtime from now on; forget earlier lines. */
void lines_catch(struct mely_config *config);
/* The number of lines, and one of them; while nothing is being reported. */
unsigned lines_count(void);
const char *lines_at(unsigned i);
/* The number of lines caught so far. */
extern _Atomic uint64_t lines_came;

/* Does a line contain both texts? */
bool lines_said(const char *one, const char *two);
/* Wait for such a line. */
void lines_await(const char *one, const char *two);
/* For each line, the number after the last occurrence of these words; their sum. */
unsigned lines_sum_after(const char *words);

#endif
