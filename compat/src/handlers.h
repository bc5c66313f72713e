/* SPDX-License-Identifier: MIT */
/*
 * handlers.h: a handler of libmely for each function that callbacks call, so that the runtime
 * measures, names and counts them one by one. Any thread.
 */
#ifndef MELYCOMPAT_HANDLERS_H
#define MELYCOMPAT_HANDLERS_H

#include <atomic>
#include <cstdint>
#include <mely/event.h>

namespace melycompat {

/**
 * The handler with trampoline fn for callbacks of the function at faddr with a priority. The same
 * one each time; lasts for good.
 */
mely_handler *handler_for(void (*fn)(void *arg), void *faddr, int priority);

/** The name that handlers made for faddr from now on get. Not copied. */
void handler_name(void *faddr, const char *name);

/** In amain, before the other locks of a fork: this one is taken under them. */
void handlers_fork_safely();

/** Any priority as one of the few of libmely: the order of two is kept, or they become equal. */
int priority_level(int priority);

/* ---- in few instructions ---- */

/** A row of the table: handlers.cc. */
struct handler_node {
	mely_handler handler; /* constant but for what libmely keeps in it */
	void *faddr;          /* constant */
	char name[80];        /* constant */
};

enum { RECENT_SLOTS_LOG = 10 };

/** Rows with one trampoline and priority 0, which the function's address alone finds. */
struct recent_handlers {
	std::atomic<handler_node *> slots[1 << RECENT_SLOTS_LOG];
};

inline std::atomic<handler_node *> &
recent_slot(recent_handlers &recent, void *faddr)
{
	uint32_t key = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(faddr)) * 0x9e3779b9u;

	return recent.slots[key >> (32 - RECENT_SLOTS_LOG)];
}

/** What handler_for would return, or NULL: it is not among them. */
inline mely_handler *
handler_recent(recent_handlers &recent, void *faddr)
{
	/* acquire: pairs with the release in handler_remember */
	handler_node *n = recent_slot(recent, faddr).load(std::memory_order_acquire);

	return __builtin_expect(n != nullptr && n->faddr == faddr, 1) ? &n->handler : nullptr;
}

/** Let handler_recent find it from now on. fn is the same for all of one recent_handlers. */
void handler_remember(recent_handlers &recent, void (*fn)(void *arg), void *faddr);

}

#endif
