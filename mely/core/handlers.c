/* SPDX-License-Identifier: MIT */
/*
 * handlers.c: the registry of handlers: a table of entries and a hash table of their numbers. Any
 * thread, without a lock.
 *
 * NOTE(handlers)
 *   A. A struct mely_handler is the program's again when the function of its last event is entered,
 *      and a watcher has a separate copy. So statistics, traces and reports keep the handler's
 *      number instead of its address. The number leads to an entry with a copied name, which is
 *      never freed.
 *   B. A handler gets its number when a thread first holds an event of it, and keeps it in the
 *      struct. Handlers with the same function and the same name get the same number.
 *   C. There is no lock. A thread fills in an entry, then puts its number into the hash table for
 *      threads that look for the pair, then makes the entry ready for threads that have the number
 *      alone. A thread that finds the number makes the entry ready, too, because the thread
 *      that gave it may be late. Nothing is ever removed. When two threads add one pair at the same
 *      time, the second one leaves a number unused.
 *   D. There are MELYINT_HANDLERS numbers at most, and all later handlers share the last one. So a
 *      program that invents names does not fill the memory.
 *   E. A thread may give a number while it holds a core's lock; a handler without a name then gets
 *      its function's address for a name. The reader of the name looks the symbol up, outside all
 *      locks: dladdr waits for a dlopen under way, whose constructors may post.
 *   F. No thread enters a handler without a number, so the look for a function is here, and a post
 *      pays nothing for it. A handler without one ends the program, in every build. An event that
 *      was initialised without a handler names melyint_no_handler, which ends the same way.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "core/handlers.h"

enum { SLOTS = 2 * MELYINT_HANDLERS };

/* Zero pages until they are used. */
static struct melyint_handler_entry entries[MELYINT_HANDLERS] MELY_LASTING;
/* Numbers by function and name; 0: free. Any thread, once. */
static _Atomic uint16_t slots[SLOTS] MELY_LASTING;
static _Atomic uint32_t last MELY_LASTING; /* the last number given */

_Static_assert(MELYINT_HANDLERS <= UINT16_MAX, "a number fits into a slot");
_Static_assert((SLOTS & (SLOTS - 1)) == 0, "a hash is cut by a mask");

static uint32_t
hash(void (*fn)(void *arg), const char *name)
{
#ifdef MELYINT_SIM /* the same in every process, wherever its functions lie */
	uint64_t h = fn != NULL;
#else
	uint64_t h = (uint64_t)(uintptr_t)fn * 0x9e3779b97f4a7c15u;
#endif

	for (; *name != '\0'; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	return (uint32_t)(h >> 32 ^ h) & (SLOTS - 1);
}

/* The name of a handler, or the address of its function: E of NOTE(handlers). */
static bool
name_of(const struct mely_handler *handler, char *name)
{
#ifdef MELYINT_SIM
	uintptr_t address = 0; /* as in hash */
#else
	uintptr_t address = (uintptr_t)handler->fn;
#endif
	size_t length;

	if (handler->name != NULL && handler->name[0] != '\0') {
		length = strnlen(handler->name, MELYINT_HANDLER_NAME - 1);
		memcpy(name, handler->name, length);
		name[length] = '\0';
		return true;
	}
	snprintf(name, MELYINT_HANDLER_NAME, "0x%llx", (unsigned long long)address);
	return false;
}

/* The number was found, so the entry is filled in; but the thread that added it may not have made
 * it ready yet. */
static void
make_ready(struct melyint_handler_entry *entry)
{
	/* relaxed: another thread may store it as well; release: pairs with the acquire in
	 * melyint_handler_entry, and passes on what the acquire in find has shown */
	if (!MELY_LOAD(&entry->ready, relaxed))
		MELY_STORE(&entry->ready, true, release);
}

/* A new number with its entry, which no other thread knows yet; 0: none are left. */
static uint32_t
new_entry(void (*fn)(void *arg), const char *name, bool named)
{
	uint32_t number;

	/* relaxed, both: the number only has to differ */
	if (MELY_LOAD(&last, relaxed) >= MELYINT_HANDLER_OTHER - 1)
		return 0;
	number = MELY_ADD(&last, 1, relaxed) + 1;
	if (number >= MELYINT_HANDLER_OTHER)
		return 0;
	entries[number].fn = fn;
	entries[number].named = named;
	memcpy(entries[number].name, name, strlen(name) + 1);
	return number;
}

static uint32_t
find(void (*fn)(void *arg), const char *name, bool named)
{
	uint32_t at = hash(fn, name), number = 0;

	for (;; at = (at + 1) & (SLOTS - 1)) {
		/* acquire: pairs with the release below, C of NOTE(handlers) */
		uint16_t seen = MELY_LOAD(&slots[at], acquire);

		if (seen == 0) {
			if (number == 0)
				number = new_entry(fn, name, named);
			if (number == 0)
				return MELYINT_HANDLER_OTHER;
			/* release: pairs with the acquire above */
			if (MELY_CAS(&slots[at], &seen, (uint16_t)number, release)) {
				make_ready(&entries[number]);
				return number;
			}
			seen = MELY_LOAD(&slots[at], acquire); /* as above */
		}
		if (entries[seen].fn == fn && strcmp(entries[seen].name, name) == 0) {
			make_ready(&entries[seen]);
			return seen;
		}
	}
}

/* ---- handlers that cannot run: F of NOTE(handlers) ------------------------------------------- */

struct mely_handler melyint_no_handler MELY_LASTING;

static _Noreturn MELY_NOINLINE void
cannot_run(const struct mely_handler *handler)
{
	if (handler == &melyint_no_handler)
		melyint_misuse("an event has no handler: mely_event_init was given NULL");
	melyint_misuse("handler %p '%s' has no function", (const void *)handler,
	    handler->name != NULL ? handler->name : "");
}

uint32_t
melyint_handler_number_slow(struct mely_handler *handler)
{
	char name[MELYINT_HANDLER_NAME];
	uint32_t number;
	bool named;

	if (MELY_UNLIKELY(handler->fn == NULL))
		cannot_run(handler);
	named = name_of(handler, name);
	number = find(handler->fn, name, named);
	melyint_handler_known(number, handler);
	/* relaxed: every thread finds the same number */
	MELY_STORE(&handler->_number, number, relaxed);
	return number;
}

struct melyint_handler_entry *
melyint_handler_entry(uint32_t number)
{
	static struct melyint_handler_entry other MELY_LASTING = {.name = "(others)"};

	if (number == MELYINT_HANDLER_OTHER)
		return &other;
	/* acquire: pairs with the release in find */
	if (number > MELYINT_HANDLER_OTHER || !MELY_LOAD(&entries[number].ready, acquire))
		return NULL;
	return &entries[number];
}

/* ---- names for people: E of NOTE(handlers) --------------------------------------------------- */

#ifndef MELYINT_SIM
/* A copy of the name of the function, whose object may be unloaded later; NULL: it has none. */
static char *
symbol_of(void (*fn)(void *arg))
{
	Dl_info info;
	void *at;

	memcpy(&at, &fn, sizeof at);
	if (dladdr(at, &info) == 0 || info.dli_sname == NULL || info.dli_saddr != at)
		return NULL;
	return strndup(info.dli_sname, MELYINT_HANDLER_NAME - 1);
}

static void
resolve(struct melyint_handler_entry *entry)
{
	char *symbol = NULL, *mine;

	/* relaxed, both: only a hint that dladdr may find a name */
	if (entry->named || entry->fn == NULL || MELY_LOAD(&entry->symbol, relaxed) != NULL ||
	    MELY_LOAD(&entry->nameless, relaxed))
		return;
	mine = symbol_of(entry->fn);
	if (mine == NULL)
		MELY_STORE(&entry->nameless, true, relaxed); /* a hint */
	/* release: pairs with the acquire in melyint_handler_name_known */
	else if (!MELY_CAS(&entry->symbol, &symbol, mine, release))
		free(mine);
}
#else
static void
resolve(struct melyint_handler_entry *entry)
{
	(void)entry; /* symbols differ between processes */
}
#endif

const char *
melyint_handler_name_known(uint32_t number)
{
	const struct melyint_handler_entry *entry = melyint_handler_entry(number);
	const char *symbol;

	if (entry == NULL)
		return NULL;
	symbol = MELY_LOAD(&entry->symbol, acquire); /* pairs with the release in resolve */
	return symbol != NULL ? symbol : entry->name;
}

const char *
melyint_handler_name(uint32_t number)
{
	struct melyint_handler_entry *entry = melyint_handler_entry(number);

	if (entry != NULL)
		resolve(entry);
	return melyint_handler_name_known(number);
}

uint32_t
melyint_handlers_end(void)
{
	uint32_t end = MELY_LOAD(&last, relaxed) + 1; /* a count */

	return end < MELYINT_HANDLER_OTHER ? end : MELYINT_HANDLER_OTHER;
}

void
melyint_handler_known(uint32_t number, const struct mely_handler *handler)
{
	struct melyint_handler_entry *entry = &entries[number];

	if (number == MELYINT_HANDLER_OTHER)
		return;
	/* relaxed, all: figures for people */
	MELY_STORE(&entry->time_ns, handler->time_ns, relaxed);
	MELY_STORE(&entry->penalty, handler->penalty, relaxed);
	MELY_STORE(&entry->measured_ns, MELY_LOAD(&handler->_measured_ns, relaxed), relaxed);
	MELY_STORE(&entry->away_ns, MELY_LOAD(&handler->_away_ns, relaxed), relaxed);
}
