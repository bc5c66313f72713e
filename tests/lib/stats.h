/* SPDX-License-Identifier: MIT */
/*
 * stats.h: takes statistics of a runtime, and tests that they are consistent.
 */
#ifndef MELY_TEST_STATS_H
#define MELY_TEST_STATS_H

#include "test.h"

/* Take statistics, which must be valid. */
struct mely_stats *test_stats(struct mely_runtime *rt, unsigned flags, uint32_t colors_max);

/* The only row with this name, or NULL. */
const struct mely_stats_handler *test_stats_handler(const struct mely_stats *stats,
    const char *name);

/* What holds for all statistics of a runtime that has stopped. */
void test_stats_sums(struct mely_runtime *rt, const struct mely_stats *stats);

#endif
