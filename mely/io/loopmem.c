/* SPDX-License-Identifier: MIT */
/*
 * loopmem.c: libev's allocator. It is libev's own, realloc and free, except on a thread that makes
 * a loop: there it has blocks that were taken beforehand, for when realloc fails.
 *
 * It is set before main. So a program that sets an allocator of its own replaces this one, before
 * any loop exists, and no memory comes from one allocator and goes back to another.
 */
#include "io/loopmem.h"

#include <errno.h>
#include <ev.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/compiler.h"

enum {
	BLOCK_BYTES = 4096,     /* more than a loop has in one piece, but for: */
	FD_BYTES = 32           /* an array of as many places as the number of its descriptor */
};

static MELY_TLS struct melyint_loopmem *reserve; /* NULL: this thread makes no loop */

static void *
from_reserve(void *old, size_t size)
{
	size_t kept = old != NULL ? malloc_usable_size(old) : 0;
	void *block;

	MELY_ASSERT(reserve->left > 0 && size <= reserve->size);
	block = reserve->block[--reserve->left];
	if (old != NULL)
		memcpy(block, old, kept < size ? kept : size);
	free(old);
	return block;
}

static void *
allocate(void *old, long size)
{
	void *memory;

	if (size == 0) {
		free(old);
		return NULL;
	}
	memory = realloc(old, (size_t)size);
	return memory == NULL && reserve != NULL ? from_reserve(old, (size_t)size) : memory;
}

static __attribute__((constructor)) void
set_allocator(void)
{
	ev_set_allocator(allocate);
}

int
melyint_loopmem_begin(struct melyint_loopmem *memory, int fd)
{
	MELY_ASSERT(reserve == NULL && fd >= 0);
	memory->size = BLOCK_BYTES + (size_t)fd * FD_BYTES;
	reserve = memory;
	for (memory->left = 0; memory->left < MELYINT_LOOPMEM_BLOCKS; memory->left++) {
		memory->block[memory->left] = malloc(memory->size);
		if (memory->block[memory->left] == NULL) {
			melyint_loopmem_end();
			return -ENOMEM;
		}
	}
	return 0;
}

void
melyint_loopmem_end(void)
{
	MELY_ASSERT(reserve != NULL);
	while (reserve->left > 0)
		free(reserve->block[--reserve->left]);
	reserve = NULL;
}
