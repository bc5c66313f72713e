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

/** A row of the table: handlers.cc. */
struct handler_node {
	mely_handler handler; /* constant but for what libmely keeps in it */
	void *faddr;          /* constant */
	char name[80];        /* constant */
};

enum { HANDLER_SLOTS = 4096, HANDLER_SLOTS_LOG = 12 };
extern std::atomic<handler_node *> handler_slots[HANDLER_SLOTS];

inline unsigned
handler_place(void (*fn)(void *), void *faddr, int level)
{
	uint64_t key = reinterpret_cast<uintptr_t>(faddr) ^
	    reinterpret_cast<uintptr_t>(fn) << 20 ^ static_cast<uint64_t>(level) << 52;

	return static_cast<unsigned>(key * 0x9e3779b97f4a7c15u >> (64 - HANDLER_SLOTS_LOG));
}

inline bool
handler_matches(const handler_node *n, void (*fn)(void *), void *faddr, int level)
{
	return n->faddr == faddr && n->handler.fn == fn && n->handler.priority == level;
}

/**
 * The handler with trampoline fn for callbacks of the function at faddr with a priority. The same
 * one each time; lasts for good.
 */
mely_handler *handler_for(void (*fn)(void *arg), void *faddr, int priority);

/** The same with priority 0, in a few instructions as a rule. */
inline mely_handler *
handler_plain(void (*fn)(void *arg), void *faddr)
{
	/* acquire: pairs with the release in handlers.cc:make_slow */
	handler_node *n = handler_slots[handler_place(fn, faddr, 0)].load(
	    std::memory_order_acquire);

	if (__builtin_expect(n != nullptr && handler_matches(n, fn, faddr, 0), 1))
		return &n->handler;
	return handler_for(fn, faddr, 0);
}

/** The name that handlers made for faddr from now on get. Not copied. */
void handler_name(void *faddr, const char *name);

/** Any priority as one of the few of libmely: the order of two is kept, or they become equal. */
int priority_level(int priority);

}

#endif
