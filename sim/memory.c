/* SPDX-License-Identifier: MIT */
/* memory.c: see memory.h. */
#include "memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine.h"
#include "order.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define SIM_POISON(p, n) __asan_poison_memory_region((p), (n))
#define SIM_UNPOISON(p, n) __asan_unpoison_memory_region((p), (n))
#else
#define SIM_POISON(p, n) ((void)0)
#define SIM_UNPOISON(p, n) ((void)0)
#endif

enum {
	ALIGNMENT = 16,
	SPOILT = 0xd5,         /* the contents of freed memory */
	FRESH = 0xe6,          /* the contents of memory from malloc */
	SPOILT_MAX = 512,      /* overwritten bytes of a freed block */
	GAP = 16,              /* between two blocks, for AddressSanitizer */
	PAGE = 4096,
	BLOCK = 64 << 10       /* mappings of multiples of this are aligned to it */
};

#define AREA ((size_t)256 << 20)

/* Precedes every block. */
struct head {
	size_t size;
	uint32_t live, unused;
};

enum { LIVE = 0x11ee11ee, FREED = 0xdeaddead };

char *sim_memory_base;
size_t sim_memory_top;

static struct {
	bool counted;
	size_t dirty;          /* memory below this may not be zero */
	size_t blocks, bytes;
	char *last_pages;
} memory;

void
sim_memory_begin(bool counted)
{
	if (counted && sim_memory_base == NULL) {
		char *area = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (area == MAP_FAILED) {
			fprintf(stderr, "sim: no memory\n");
			exit(2);
		}
		sim_memory_base = area;
	}
	memory.counted = counted;
	sim_memory_top = 0;
	memory.blocks = memory.bytes = 0;
	memory.last_pages = NULL;
}

void
sim_memory_end(void)
{
	if (memory.counted)
		SIM_UNPOISON(sim_memory_base, sim_memory_top);
	sim_memory_top = 0;
	memory.counted = false;
}

size_t
sim_memory_area(void)
{
	return AREA;
}

static void *
take(size_t size, size_t alignment)
{
	uintptr_t base = (uintptr_t)sim_memory_base, at;
	struct head *head;

	if (alignment < ALIGNMENT)
		alignment = ALIGNMENT;
	at = (base + sim_memory_top + sizeof *head + GAP + alignment - 1) & ~(alignment - 1);
	if (at + size > base + AREA)
		sim_fail("more than %zu bytes allocated", AREA);
	head = (struct head *)(at - sizeof *head);
	SIM_POISON(sim_memory_base + sim_memory_top, at - sizeof *head - base - sim_memory_top);
	head->size = size;
	head->live = LIVE;
	sim_memory_top = at + size - base;
	memory.blocks++;
	memory.bytes += size;
	return (void *)at;
}

/* Clear size bytes at p, except those that were never used. */
static void
clear(char *p, size_t size)
{
	size_t from = (size_t)(p - sim_memory_base), dirty;

	dirty = memory.dirty > from ? memory.dirty - from : 0;
	memset(p, 0, dirty < size ? dirty : size);
}

static void
used(void)
{
	if (sim_memory_top > memory.dirty)
		memory.dirty = sim_memory_top;
}

void *
sim_aligned_alloc(size_t alignment, size_t size)
{
	void *p;

	if (!memory.counted)
		return aligned_alloc(alignment, size);
	p = take(size, alignment);
	used();
	memset(p, FRESH, size < SPOILT_MAX ? size : SPOILT_MAX);
	return p;
}

void *
sim_malloc(size_t size)
{
	return memory.counted ? sim_aligned_alloc(ALIGNMENT, size) : malloc(size);
}

void *
sim_calloc(size_t count, size_t size)
{
	void *p;

	if (!memory.counted)
		return calloc(count, size);
	p = take(count * size, ALIGNMENT);
	clear(p, count * size);
	used();
	return p;
}

void
sim_free(void *p)
{
	struct head *head;

	if (p == NULL)
		return;
	if (!memory.counted || (char *)p < sim_memory_base || (char *)p >= sim_memory_base + AREA) {
		free(p);
		return;
	}
	sim_settle();
	head = (struct head *)p - 1;
	if (head->live == FREED)
		sim_fail("freed twice: a block of %zu bytes", head->size);
	if (head->live != LIVE)
		sim_fail("freed, but never allocated");
	head->live = FREED;
	memory.blocks--;
	memory.bytes -= head->size;
	sim_order_freed(p, head->size < SPOILT_MAX ? head->size : SPOILT_MAX);
	memset(p, SPOILT, head->size < SPOILT_MAX ? head->size : SPOILT_MAX);
	SIM_POISON(p, head->size);
}

void *
sim_realloc(void *p, size_t size)
{
	void *larger;
	size_t old;

	if (!memory.counted)
		return realloc(p, size);
	larger = sim_malloc(size);
	if (p != NULL) {
		old = ((struct head *)p - 1)->size;
		memcpy(larger, p, old < size ? old : size);
		sim_free(p);
	}
	return larger;
}

char *
sim_strdup(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(sim_malloc(size), text, size);
}

void *
sim_pages(size_t size)
{
	void *p;

	if (!memory.counted)
		return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	p = take(size, size < BLOCK ? PAGE : BLOCK);
	clear(p, size);
	used();
	memory.last_pages = p;
	return p;
}

/* Frees the end of the area that was mapped last, or a whole area. */
int
sim_pages_free(void *p, size_t size)
{
	struct head *head = NULL;

	if (!memory.counted)
		return munmap(p, size);
	if (memory.last_pages != NULL)
		head = (struct head *)memory.last_pages - 1;
	if (head != NULL && (char *)p > memory.last_pages &&
	    (char *)p + size == memory.last_pages + head->size &&
	    (char *)p + size == sim_memory_base + sim_memory_top) {
		head->size -= size;
		memory.bytes -= size;
		sim_memory_top -= size;
		return 0;
	}
	head = (struct head *)p - 1;
	if (head->size != size)
		sim_fail("%zu bytes of pages given back, of %zu", size, head->size);
	if (p == memory.last_pages)
		memory.last_pages = NULL;
	sim_free(p);
	return 0;
}

size_t
sim_memory_blocks(void)
{
	return memory.blocks;
}

size_t
sim_memory_bytes(void)
{
	return memory.bytes;
}
