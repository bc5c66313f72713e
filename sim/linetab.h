/* SPDX-License-Identifier: MIT */
/*
 * linetab.h: the cache lines that a simulation has touched, by address. It adds them a page at a
 * time and numbers them in that order, from 1. One thread.
 */
#ifndef SIM_LINETAB_H
#define SIM_LINETAB_H

#include <stddef.h>
#include <stdint.h>

enum { SIM_PAGE_LINES = 64 };

struct sim_line {
	uint64_t free_ps;  /* the end of its last transfer */
	int32_t dirty;     /* the cpu that holds it modified, or -1 */
	uint32_t number;   /* from 1 */
	uint64_t holders[]; /* a bit for each cache */
};

struct sim_linetab {
	size_t line_bytes;     /* of a struct sim_line with its holders */
	uint64_t *keys;        /* numbers of pages, 0: free */
	uint32_t *slots;       /* where in pages */
	size_t room, used;     /* room: a power of two */
	char **pages;          /* SIM_PAGE_LINES lines each, in the order of first use */
	size_t pages_room;
};

/* words: of a set of caches, 64 bits each. 0 or -ENOMEM. */
int sim_linetab_init(struct sim_linetab *tab, int words);
void sim_linetab_fini(struct sim_linetab *tab);
/* The lines of a page, which is added at its first use. Aborts without memory: the simulation would
 * have no result. */
char *sim_linetab_page(struct sim_linetab *tab, uint64_t page);
/* A number that looks like chance. */
uint64_t sim_mixed(uint64_t x);

#endif
