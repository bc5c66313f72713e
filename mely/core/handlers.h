/* SPDX-License-Identifier: MIT */
/*
 * handlers.h: the registry of handlers: a number for each pair of function and name, for the life
 * of the process. Statistics, traces and reports name handlers by it. The protocol is
 * NOTE(handlers) in handlers.c.
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
	MELYINT_HANDLERS = 4096, /* numbers are below; 0 means none */
#endif
	MELYINT_HANDLER_OTHER = MELYINT_HANDLERS - 1, /* all handlers that found no place */
	MELYINT_NO_HANDLER = MELYINT_HANDLERS,        /* a number that no handler has */
	MELYINT_HANDLER_NAME = 80                     /* longer names are cut */
};

/* Constant once it can be found, except the atomics: any core writes them, for the handler of the
 * pair that it handled last. */
struct melyint_handler_entry {
	void (*fn)(void *arg);       /* NULL: of MELYINT_HANDLER_OTHER */
	char name[MELYINT_HANDLER_NAME]; /* never empty; an address, unless named */
	bool named;
	_Atomic(char *) symbol;      /* E of NOTE(handlers); the first reader, once */
	_Atomic bool nameless;       /* the function has no symbol; as above */
	_Atomic bool ready;          /* C of NOTE(handlers); any thread with the number */
	_Atomic uint32_t time_ns;    /* as annotated; 0: not annotated */
	_Atomic uint32_t penalty;    /* as annotated; 0: not annotated */
	_Atomic uint32_t measured_ns;/* as measured; 0: not yet */
	_Atomic uint32_t away_ns;    /* as measured right after steals; 0: not yet */
	_Atomic uint32_t stall_ms;   /* its own limit; 0: the limit of the runtime; any thread */
	_Atomic uint64_t stalls;     /* calls that ran for longer; any thread */
};

/* What mely_event_init takes instead of NULL. It has no function. */
extern struct mely_handler melyint_no_handler;

/* The number of a handler, never 0; the first call gives it, or ends the program when the handler
 * has no function: F of NOTE(handlers). Any thread that holds an event of the handler. */
uint32_t melyint_handler_number_slow(struct mely_handler *handler);

MELY_INLINE uint32_t
melyint_handler_number(struct mely_handler *handler)
{
	uint32_t number = MELY_LOAD(&handler->_number, relaxed); /* given once */

	return MELY_LIKELY(number != 0) ? number : melyint_handler_number_slow(handler);
}

/* The entry of a number; NULL when it has none. Any thread, at any time. */
struct melyint_handler_entry *melyint_handler_entry(uint32_t number);

/* The name of a number, for people; NULL when it has no entry. Any thread that holds no lock. */
const char *melyint_handler_name(uint32_t number);

/* Like melyint_handler_name, but looks no symbol up: also in a signal handler. */
const char *melyint_handler_name_known(uint32_t number);

/* All numbers given so far are below this one, except MELYINT_HANDLER_OTHER. Any thread. */
uint32_t melyint_handlers_end(void);

/* Copy the handler's time and penalty to its entry. Threads as melyint_handler_number. */
void melyint_handler_known(uint32_t number, const struct mely_handler *handler);

#endif
