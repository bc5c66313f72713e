/* SPDX-License-Identifier: MIT */
/*
 * resident.c: see resident.h.
 */
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "resident.h"

unsigned
test_many(unsigned n)
{
	return TEST_MEASURES_MEMORY ? n : n / 20;
}

size_t
test_resident(void)
{
	unsigned long size, pages, shared;
	FILE *f;

	malloc_trim(0);
	f = fopen("/proc/self/statm", "r");
	TEST_CHECK(f != NULL);
	TEST_EQ(fscanf(f, "%lu %lu %lu", &size, &pages, &shared), 3);
	fclose(f);
	return (size_t)(pages - shared) * (size_t)sysconf(_SC_PAGESIZE);
}
