/* SPDX-License-Identifier: MIT */
/*
 * resident.h: how much memory the process uses.
 */
#ifndef MELY_TEST_RESIDENT_H
#define MELY_TEST_RESIDENT_H

#include "test.h"

/* With a sanitizer, resident memory includes the sanitizer's own. */
#define TEST_MEASURES_MEMORY (!TEST_ASAN && !TEST_TSAN)

/* n, as many as it takes to measure the memory; without a measurement a twentieth of that. */
unsigned test_many(unsigned n);

/* Bytes of private resident memory, without what malloc keeps in reserve. Any thread. */
size_t test_resident(void);

#endif
