/* SPDX-License-Identifier: MIT */
/*
 * lines.h: the lines that a runtime reports, caught and looked at. One runtime at a time.
 */
#ifndef MELY_TEST_LINES_H
#define MELY_TEST_LINES_H

#include "test.h"

/* What config's runtime reports is caught from now on, what was is forgotten. */
void lines_catch(struct mely_config *config);
/* How many there are, and one of them; no report is under way. */
unsigned lines_count(void);
const char *lines_at(unsigned i);
/* How many have come. */
extern _Atomic uint64_t lines_came;

/* Is there a line that has both in it? */
bool lines_said(const char *one, const char *two);
/* Until there is. */
void lines_await(const char *one, const char *two);
/* The numbers that follow these words where they stand last, summed over the lines. */
unsigned lines_sum_after(const char *words);

#endif
