/* SPDX-License-Identifier: MIT */
/*
 * handlers.h: a handler of libmely for each function that callbacks call, so the runtime measures,
 * names and counts each function separately. Any thread.
 */
#ifndef MELYCOMPAT_HANDLERS_H
#define MELYCOMPAT_HANDLERS_H

#include <atomic>
#include <cstdint>
#include <mely/event.h>

namespace melycompat {

/**
 * The handler with trampoline fn for callbacks of the function at faddr with a priority. Equal
 * arguments give the same handler, which is never freed.
 */
mely_handler *handler_for(void (*fn)(void *arg), void *faddr, int priority);

/** Name the handlers created later for faddr. Not copied. */
void handler_name(void *faddr, const char *name);

/** In amain, before the other locks of a fork are registered: this lock nests inside them. */
void handlers_fork_safely();

/** Maps a priority to one of libmely's: two priorities keep their order, or become equal. */
int priority_level(int priority);

/* ---- in few instructions ---- */

/** A row of the table: handlers.cc. */
struct handler_node {
	mely_handler handler; /* constant, except for libmely's own members */
	void *faddr;          /* constant */
	char name[80];        /* constant */
};

enum { RECENT_SLOTS_LOG = 10 };

/** Rows with one trampoline and priority 0, found by the function's address only. */
struct recent_handlers {
	std::atomic<handler_node *> slots[1 << RECENT_SLOTS_LOG];
};

inline std::atomic<handler_node *> &
recent_slot(recent_handlers &recent, void *faddr)
{
	uint32_t key = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(faddr)) * 0x9e3779b9u;

	return recent.slots[key >> (32 - RECENT_SLOTS_LOG)];
}

/** The result of handler_for if it is among the recent handlers, or NULL. */
inline mely_handler *
handler_recent(recent_handlers &recent, void *faddr)
{
	/* acquire: pairs with the release in handler_remember */
	handler_node *n = recent_slot(recent, faddr).load(std::memory_order_acquire);

	return __builtin_expect(n != nullptr && n->faddr == faddr, 1) ? &n->handler : nullptr;
}

/** Let handler_recent find the handler. All handlers of one recent_handlers share fn. */
void handler_remember(recent_handlers &recent, void (*fn)(void *arg), void *faddr);

}

#endif
