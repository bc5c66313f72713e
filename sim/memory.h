/* SPDX-License-Identifier: MIT */
/*
 * memory.h: the library's memory in a simulation. A hunt takes it from one area, which every run
 * reuses, and no run reuses a block, so the hunt sees a use after a free and counts what was not
 * freed. A prediction uses malloc.
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void sim_memory_begin(bool counted);
void sim_memory_end(void);

void *sim_malloc(size_t size);
void *sim_calloc(size_t count, size_t size);
void *sim_aligned_alloc(size_t alignment, size_t size);
void *sim_realloc(void *p, size_t size);
char *sim_strdup(const char *text);
void sim_free(void *p);

/* Replace mmap and munmap of anonymous memory; zero. */
void *sim_pages(size_t size);
int sim_pages_free(void *p, size_t size);

/* The blocks and bytes allocated now. */
size_t sim_memory_blocks(void);
size_t sim_memory_bytes(void);
/* Hunting: the area, and how much of it is in use; otherwise 0. */
extern char *sim_memory_base;
extern size_t sim_memory_top;

/* The offset of p in the area; SIZE_MAX: p is not in the area. */
static inline size_t
sim_memory_place(const void *p)
{
	size_t place = (size_t)((const char *)p - sim_memory_base);

	return place < sim_memory_top ? place : SIZE_MAX;
}

/* The size of the area. */
size_t sim_memory_area(void);

#endif
