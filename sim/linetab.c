/* SPDX-License-Identifier: MIT */
/*
 * linetab.c: see linetab.h. A hash of page numbers finds the lines of a page; the numbers of lines
 * never depend on it.
 */
#include "linetab.h"

#include <errno.h>
#include <stdlib.h>

enum { ROOM_FIRST = 1024, PAGES_FIRST = 256 };

int
sim_linetab_init(struct sim_linetab *tab, int words)
{
	tab->line_bytes = sizeof(struct sim_line) + (size_t)words * sizeof(uint64_t);
	tab->room = ROOM_FIRST;
	tab->keys = calloc(tab->room, sizeof(*tab->keys));
	tab->slots = calloc(tab->room, sizeof(*tab->slots));
	return tab->keys != NULL && tab->slots != NULL ? 0 : -ENOMEM;
}

void
sim_linetab_fini(struct sim_linetab *tab)
{
	size_t i;

	for (i = 0; i < tab->used; i++)
		free(tab->pages[i]);
	free(tab->pages);
	free(tab->keys);
	free(tab->slots);
}

uint64_t
sim_mixed(uint64_t x)
{
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return x ^ x >> 29;
}

/* Abort without memory: the simulation would have no result. */
static void *
must(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

static void
grow(struct sim_linetab *tab)
{
	size_t room = tab->room * 2, i, at;
	uint64_t *keys = must(calloc(room, sizeof(*keys)));
	uint32_t *slots = must(calloc(room, sizeof(*slots)));

	for (i = 0; i < tab->room; i++) {
		if (tab->keys[i] == 0)
			continue;
		at = sim_mixed(tab->keys[i]) & (room - 1);
		while (keys[at] != 0)
			at = (at + 1) & (room - 1);
		keys[at] = tab->keys[i];
		slots[at] = tab->slots[i];
	}
	free(tab->keys);
	free(tab->slots);
	tab->keys = keys;
	tab->slots = slots;
	tab->room = room;
}

static char *
new_page(struct sim_linetab *tab)
{
	char *lines = must(calloc(SIM_PAGE_LINES, tab->line_bytes));
	size_t i;

	if (tab->used == tab->pages_room) {
		tab->pages_room = tab->pages_room == 0 ? PAGES_FIRST : tab->pages_room * 2;
		tab->pages = must(realloc(tab->pages, tab->pages_room * sizeof(*tab->pages)));
	}
	for (i = 0; i < SIM_PAGE_LINES; i++) {
		struct sim_line *line = (struct sim_line *)(void *)(lines + i * tab->line_bytes);

		line->dirty = -1;
		line->number = (uint32_t)(tab->used * SIM_PAGE_LINES + i + 1);
	}
	tab->pages[tab->used++] = lines;
	return lines;
}

char *
sim_linetab_page(struct sim_linetab *tab, uint64_t page)
{
	size_t at;

	if (tab->used * 2 >= tab->room)
		grow(tab);
	at = sim_mixed(page) & (tab->room - 1);
	while (tab->keys[at] != 0) {
		if (tab->keys[at] == page)
			return tab->pages[tab->slots[at]];
		at = (at + 1) & (tab->room - 1);
	}
	tab->keys[at] = page;
	tab->slots[at] = (uint32_t)tab->used;
	return new_page(tab);
}
