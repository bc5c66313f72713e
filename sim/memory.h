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
/* Hunting: the area; what lies in it is the library's or the program's. */
bool sim_memory_is_ours(const void *p);

#endif
