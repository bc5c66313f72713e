/* SPDX-License-Identifier: MIT */
/*
 * pages.c: aligned blocks from mmap, registered with a leak checker. Any thread; no state.
 */
#include <stdint.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/pages.h"

/* Defined when the program is linked with AddressSanitizer or LeakSanitizer. A program that exits
 * in a handler leaves events in its queues; only the memory mapped here points to them. */
void __lsan_register_root_region(const void *area, size_t size) __attribute__((weak));
void __lsan_unregister_root_region(const void *area, size_t size) __attribute__((weak));

void
melyint_pages_hold(const void *area, size_t size)
{
	if (__lsan_register_root_region != NULL)
		__lsan_register_root_region(area, size);
}

void
melyint_pages_leave(const void *area, size_t size)
{
	if (__lsan_unregister_root_region != NULL)
		__lsan_unregister_root_region(area, size);
}

void *
melyint_block_new(void)
{
	size_t size = 2 * (size_t)MELYINT_BLOCK, before;
	char *area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *block;

	if (area == MAP_FAILED)
		return NULL;
	/* Keep the aligned half and give the rest back. */
	before = (size_t)(-(uintptr_t)area & (MELYINT_BLOCK - 1));
	block = area + before;
	if (before > 0)
		munmap(area, before);
	munmap(block + MELYINT_BLOCK, size - MELYINT_BLOCK - before);
	melyint_pages_hold(block, MELYINT_BLOCK);
	return block;
}

void
melyint_block_free(void *block)
{
	int error;

	melyint_pages_leave(block, MELYINT_BLOCK);
	error = munmap(block, MELYINT_BLOCK);

	MELY_ASSERT(error == 0);
}
