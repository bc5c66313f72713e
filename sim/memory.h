/* SPDX-License-Identifier: MIT */
/*
 * memory.h: the library's memory while it is simulated. When hunting it comes from one area that
 * is used anew by every run and, within a run, never twice, so that what is used after it was
 * freed is seen, and what was not freed is counted. When predicting it is malloc's.
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

/* In place of mmap and munmap of anonymous memory; zero. */
void *sim_pages(size_t size);
int sim_pages_free(void *p, size_t size);

/* What is allocated now: blocks and bytes. */
size_t sim_memory_blocks(void);
size_t sim_memory_bytes(void);
/* Hunting: the area, and how much of it is in use; 0 of it otherwise. */
extern char *sim_memory_base;
extern size_t sim_memory_top;

/* Where p lies in the area, from 0 on; SIZE_MAX: nowhere. */
static inline size_t
sim_memory_place(const void *p)
{
	size_t place = (size_t)((const char *)p - sim_memory_base);

	return place < sim_memory_top ? place : SIZE_MAX;
}

/* How large the area is. */
size_t sim_memory_area(void);

#endif
