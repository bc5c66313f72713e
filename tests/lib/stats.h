/* SPDX-License-Identifier: MIT */
/*
 * stats.h: looks at a runtime, for tests: taken, and found to be well.
 */
#ifndef MELY_TEST_STATS_H
#define MELY_TEST_STATS_H

#include "test.h"

/* Take a look, which must be one. */
struct mely_stats *test_stats(struct mely_runtime *rt, unsigned flags, uint32_t colors_max);

/* The only row with this name, or NULL. */
const struct mely_stats_handler *test_stats_handler(const struct mely_stats *stats,
    const char *name);

/* What holds of every look at a runtime that does not run any more. */
void test_stats_sums(struct mely_runtime *rt, const struct mely_stats *stats);

#endif
