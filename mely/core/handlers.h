/* SPDX-License-Identifier: MIT */
/*
 * handlers.h: what handlers are called by those who speak of them later: a number for each pair of
 * function and name, for the life of the process.
 *
 * NOTE(handlers)
 *   A. A struct mely_handler is the program's again when the function of its last event is
 *      entered, and a watcher has a copy of its own. So statistics, traces and reports do not keep
 *      its address, but its number, which leads to an entry with a copied name that never goes
 *      away.
 *   B. The number is given when an event of the handler is first in hand, and kept in the handler.
 *      Handlers with the same function and the same name get the same.
 *   C. No lock: an entry is filled in before its number is put into the hash table, where others
 *      that ask for the pair find it, and made ready, for those who come with the number alone,
 *      right after that, by whoever gives or finds the number; nothing is ever taken out. Who comes
 *      second with a new pair leaves a number that nobody uses.
 *   D. There are MELYINT_HANDLERS numbers at most. All that come later share the last one. So a
 *      program that invents names does not fill the memory.
 *   E. A number may be given under the lock of a core, where a handler without a name has its
 *      function's address for one. The name of the function is asked for by who reads it, outside
 *      of all locks: dladdr waits for a dlopen that is under way, whose constructors may post.
 */
#ifndef MELYINT_CORE_HANDLERS_H
#define MELYINT_CORE_HANDLERS_H

#include <mely/event.h>

#include "base/atomic.h"
#include "base/compiler.h"

enum {
#ifdef MELYINT_SIM /* each run of the simulation begins with a copy of them */
	MELYINT_HANDLERS = 32,
#else
	MELYINT_HANDLERS = 4096, /* numbers are below; 0 is no handler */
#endif
	MELYINT_HANDLER_OTHER = MELYINT_HANDLERS - 1, /* all that found no place */
	MELYINT_NO_HANDLER = MELYINT_HANDLERS,        /* a number that none has */
	MELYINT_HANDLER_NAME = 80                     /* longer names are cut */
};

/* Constant once it can be found, but for what is atomic: that is of the handler that was in hand
 * last, written by any core. */
struct melyint_handler_entry {
	void (*fn)(void *arg);       /* NULL: of MELYINT_HANDLER_OTHER */
	char name[MELYINT_HANDLER_NAME]; /* never empty; an address, unless named */
	bool named;
	_Atomic(char *) symbol;      /* E of NOTE(handlers); who reads it first, once */
	_Atomic bool nameless;       /* there is no symbol; as above */
	_Atomic bool ready;          /* C of NOTE(handlers); who gave or found the number */
	_Atomic uint32_t time_ns;    /* as annotated, 0: not */
	_Atomic uint32_t penalty;    /* the same */
	_Atomic uint32_t measured_ns;/* as measured, 0: not yet */
	_Atomic uint32_t away_ns;    /* the same, right after steals */
	_Atomic uint32_t stall_ms;   /* limit of its own, 0: that of the runtime; anyone */
	_Atomic uint64_t stalls;     /* ran for longer; anyone */
};

/* The number of a handler, never 0, given at the first call. Any thread that has an event of it in
 * hand. */
uint32_t melyint_handler_number_slow(struct mely_handler *handler);

MELY_INLINE uint32_t
melyint_handler_number(struct mely_handler *handler)
{
	uint32_t number = MELY_LOAD(&handler->_number, relaxed); /* given once */

	return MELY_LIKELY(number != 0) ? number : melyint_handler_number_slow(handler);
}

/* The entry of a number; NULL when there is none. Any thread, any time. */
struct melyint_handler_entry *melyint_handler_entry(uint32_t number);

/* The name of a number, for people; NULL when there is none. Any thread, without a lock. */
const char *melyint_handler_name(uint32_t number);

/* The same, without asking for what is not known yet: also in a signal handler. */
const char *melyint_handler_name_known(uint32_t number);

/* Numbers given so far are below this one, but for MELYINT_HANDLER_OTHER. Any thread. */
uint32_t melyint_handlers_end(void);

/* Tell the entry what is known of a handler's time and penalty. As melyint_handler_number. */
void melyint_handler_known(uint32_t number, const struct mely_handler *handler);

#endif
