/* SPDX-License-Identifier: MIT */
/*
 * slotmem.c: which slots are free, and giving their pages back.
 *
 * NOTE(slotmem)
 *   A. Slots are in groups of 64, whose records fill whole pages. Slots of groups that are partly
 *      taken are taken first, so that a burst of timers leaves whole groups empty.
 *   B. A thread with a stale id may be about to take the lock in a record that has just been freed
 *      (melyint_watch_hold). So an empty group leaves the lists, waits for a grace period
 *      (core/grace.h), and then its pages go back. The count of outside readers is io->readers.
 *   C. The generations of a group's slots are lost with the pages. The group keeps the highest, and
 *      all its slots begin with that when it is used again: no id comes twice. Meanwhile they read
 *      as 0, which no id has.
 */
#include "io/slotmem.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "io/watch.h"

enum { GROUP = MELYINT_SLOT_GROUP };

_Static_assert(GROUP == MELYINT_STABLE_FIRST, "a group is in one chunk, at its beginning or behind "
    "other groups");
_Static_assert(sizeof(struct melyint_watch) * GROUP % 4096 == 0, "a group fills pages");

#define GROUP_BYTES (sizeof(struct melyint_watch) * GROUP)

/* Where a group is: an index of lists, or none. */
enum place {
	ROOMY = 0, /* some slots are taken, some free */
	EMPTY,     /* all that were ever taken are free */
	BARE,      /* all are free, and the pages were given back */
	NOWHERE    /* no slot is free; or it waits for a grace period */
};
_Static_assert((int)NOWHERE == (int)MELYINT_SLOT_LISTS, "a list for each other place");

/* Under the lock of the slots. Zero: no slot of it was ever taken. */
struct group {
	uint32_t next, prev; /* in its list, circular; numbers of groups */
	uint32_t free;       /* its first free slot + 1; 0: none */
	uint32_t gen;        /* C of NOTE(slotmem) */
	uint8_t taken;       /* slots, also those whose generations have run out */
	uint8_t place;       /* where the lists have it: enum place + 1 */
};

/* Each table begins with other generations, so that an id of a runtime that was freed is stale in
 * the next one. Even, and in the lower half, so that each slot can be taken many times. */
static uint32_t
next_first_gen(void)
{
	static _Atomic uint32_t tables MELY_LASTING; /* any thread */

	return MELY_ADD(&tables, 1, relaxed) * 0x9e3779b1u >> 1 & ~1u; /* relaxed: a number */
}

void
melyint_slotmem_init(struct melyint_slotmem *mem)
{
	int i;

	melyint_stable_init(&mem->records, sizeof(struct melyint_watch));
	melyint_stable_init(&mem->groups, sizeof(struct group));
	for (i = 0; i < MELYINT_SLOT_LISTS; i++)
		mem->lists[i] = 0;
	mem->empty = mem->empty_least = 0;
	mem->leaving = 0;
	mem->locked = false;
	mem->first_gen = next_first_gen();
	/* relaxed: no other thread knows the table yet */
	MELY_STORE(&mem->used, 0, relaxed);
}

void
melyint_slotmem_fini(struct melyint_slotmem *mem)
{
	melyint_stable_fini(&mem->records);
	melyint_stable_fini(&mem->groups);
}

/* ---- lists of groups ------------------------------------------------------------------------- */

static struct group *
group_at(struct melyint_slotmem *mem, uint32_t number)
{
	return melyint_stable_at(&mem->groups, number);
}

static void
take_out(struct melyint_slotmem *mem, uint32_t number)
{
	struct group *group = group_at(mem, number);
	enum place place = (enum place)(group->place - 1);

	MELY_DEBUG_ASSERT(group->place != 0 && place != NOWHERE && mem->lists[place] != 0);
	if (group->next == number)
		mem->lists[place] = 0;
	else if (mem->lists[place] == number + 1)
		mem->lists[place] = group->next + 1;
	group_at(mem, group->next)->prev = group->prev;
	group_at(mem, group->prev)->next = group->next;
	group->place = NOWHERE + 1;
	if (place == EMPTY && --mem->empty < mem->empty_least)
		mem->empty_least = mem->empty;
}

static void
add(struct melyint_slotmem *mem, uint32_t number, enum place place)
{
	struct group *group = group_at(mem, number), *first;

	MELY_DEBUG_ASSERT(group->place == 0 || group->place == NOWHERE + 1);
	group->next = group->prev = number;
	if (mem->lists[place] != 0) {
		first = group_at(mem, mem->lists[place] - 1);
		group->next = mem->lists[place] - 1;
		group->prev = first->prev;
		group_at(mem, first->prev)->next = number;
		first->prev = number;
	}
	mem->lists[place] = number + 1;
	group->place = (uint8_t)(place + 1);
	mem->empty += place == EMPTY;
}

/* A slot of the group was taken or freed: the group is where that says. */
static void
settle(struct melyint_slotmem *mem, uint32_t number)
{
	struct group *group = group_at(mem, number);
	enum place place = group->free == 0 ? NOWHERE : group->taken == 0 ? EMPTY : ROOMY;

	if (group->place == place + 1)
		return;
	if (group->place != 0 && group->place != NOWHERE + 1)
		take_out(mem, number);
	if (place != NOWHERE)
		add(mem, number, place);
}

/* ---- slots ----------------------------------------------------------------------------------- */

static void
prepare(struct melyint_watch *w, uint32_t slot, uint32_t gen)
{
	MELY_DEBUG_ASSERT(w->magic == 0 && MELY_PEEK(&w->gen) == 0); /* untouched */
	w->magic = MELYINT_WATCH_MAGIC;
	w->slot = slot;
	melyint_lock_init(&w->own);
	/* relaxed: published with the record; until then no id names it, whatever a reader sees */
	MELY_STORE(&w->gen, gen, relaxed);
}

/* C of NOTE(slotmem) */
static void
open_bare(struct melyint_slotmem *mem, uint32_t number)
{
	struct group *group = group_at(mem, number);
	uint32_t i;

	MELY_DEBUG_ASSERT(group->free == 0 && group->taken == 0);
	take_out(mem, number);
	for (i = GROUP; i-- > 0;) {
		uint32_t slot = number * GROUP + i;
		struct melyint_watch *w = melyint_slotmem_at(mem, slot);

		prepare(w, slot, group->gen);
		w->next_free = group->free;
		group->free = slot + 1;
	}
	settle(mem, number);
}

/* A slot that was never taken; NULL: no memory. */
static struct melyint_watch *
get_new(struct melyint_slotmem *mem)
{
	uint32_t used = MELY_LOAD(&mem->used, relaxed); /* under the lock */
	struct melyint_watch *w;
	struct group *group;

	if (used == UINT32_MAX)
		return NULL;
	group = melyint_stable_reach(&mem->groups, used / GROUP);
	w = melyint_stable_reach(&mem->records, used);
	if (group == NULL || w == NULL)
		return NULL;
	prepare(w, used, mem->first_gen);
	group->taken++;
	settle(mem, used / GROUP);
	/* release: pairs with the acquire in melyint_slots_used; the record is initialised */
	MELY_STORE(&mem->used, used + 1, release);
	return w;
}

struct melyint_watch *
melyint_slotmem_get(struct melyint_slotmem *mem)
{
	struct melyint_watch *w;
	struct group *group;
	uint32_t number;

	if (mem->lists[ROOMY] == 0 && mem->lists[EMPTY] == 0 && mem->lists[BARE] != 0)
		open_bare(mem, mem->lists[BARE] - 1);
	if (mem->lists[ROOMY] == 0 && mem->lists[EMPTY] == 0)
		return get_new(mem);
	number = (mem->lists[ROOMY] != 0 ? mem->lists[ROOMY] : mem->lists[EMPTY]) - 1;
	group = group_at(mem, number);
	w = melyint_slotmem_at(mem, group->free - 1);
	MELY_ASSERT(w->magic == MELYINT_WATCH_MAGIC && w->slot == group->free - 1);
	MELY_DEBUG_ASSERT(w->slot / GROUP == number && group->taken < GROUP);
	group->free = w->next_free;
	group->taken++;
	settle(mem, number);
	return w;
}

void
melyint_slotmem_put(struct melyint_slotmem *mem, struct melyint_watch *w)
{
	uint32_t number = w->slot / GROUP, gen = MELY_LOAD(&w->gen, relaxed); /* under the lock */
	struct group *group = group_at(mem, number);

	MELY_DEBUG_ASSERT((gen & 1) == 0 && group->free != w->slot + 1 && group->taken > 0);
	if (gen == 0)
		return; /* its group keeps its pages, too */
	if (gen > group->gen)
		group->gen = gen;
	w->next_free = group->free;
	group->free = w->slot + 1;
	group->taken--;
	settle(mem, number);
}

/* ---- giving back ----------------------------------------------------------------------------- */

size_t
melyint_slotmem_free_bytes(const struct melyint_slotmem *mem)
{
	return mem->locked ? 0 : mem->empty * GROUP_BYTES;
}

size_t
melyint_slotmem_idle_bytes(struct melyint_slotmem *mem)
{
	size_t bytes = mem->empty_least * GROUP_BYTES;

	MELY_DEBUG_ASSERT(mem->empty_least <= mem->empty);
	mem->empty_least = mem->empty;
	return bytes;
}

void
melyint_slotmem_detach(struct melyint_slotmem *mem, size_t bytes)
{
	uint32_t left = (uint32_t)(bytes / GROUP_BYTES), used = MELY_LOAD(&mem->used, relaxed);

	for (; left > 0 && mem->lists[EMPTY] != 0; left--) {
		/* The last of the list: the first ones are taken again first. */
		uint32_t number = group_at(mem, mem->lists[EMPTY] - 1)->prev;
		struct group *group;

		/* Slots of the newest group are still to be taken for the first time. */
		if (number == used / GROUP)
			number = group_at(mem, number)->prev;
		if (number == used / GROUP)
			return;
		group = group_at(mem, number);
		take_out(mem, number);
		group->next = mem->leaving;
		mem->leaving = number + 1;
	}
}

/* B of NOTE(slotmem): no thread uses the group. */
static bool
give_back(struct melyint_slotmem *mem, uint32_t number)
{
	struct melyint_watch *first = melyint_slotmem_at(mem, number * GROUP);

	if (GROUP_BYTES % (size_t)sysconf(_SC_PAGESIZE) != 0)
		return false;
	/* It fails where the program has locked its memory. */
	return madvise(first, GROUP_BYTES, MADV_DONTNEED) == 0;
}

bool
melyint_slotmem_give_back(struct melyint_slotmem *mem, uint32_t count)
{
	for (; count > 0 && mem->leaving != 0; count--) {
		uint32_t number = mem->leaving - 1;
		struct group *group = group_at(mem, number);

		MELY_DEBUG_ASSERT(group->taken == 0 && group->free != 0);
		mem->leaving = group->next;
		if (give_back(mem, number)) {
			group->free = 0;
			add(mem, number, BARE);
		} else {
			mem->locked = true;
			settle(mem, number);
		}
	}
	return mem->leaving != 0;
}
