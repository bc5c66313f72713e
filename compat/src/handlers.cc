/* SPDX-License-Identifier: MIT */
/*
 * handlers.cc: the table of handlers.
 *
 * NOTE(handlers)
 *   A. A lookup takes no lock: a slot is empty, or points to a complete and permanent node.
 *   B. A missing node is created under the lock, after another lookup, and published with release.
 *      Nodes are never freed: events that name them may be pending until the process ends.
 *   C. If a key finds no free slot near its place, the program has thousands of functions; then all
 *      callbacks of one priority share a handler.
 */
#include "handlers.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <map>
#include <pthread.h>

#include "quiet.h"

namespace melycompat {

namespace {

enum { SLOTS = 4096, SLOTS_LOG = 12, PROBES = 8 };
enum { LEVELS = MELY_PRIORITY_MAX - MELY_PRIORITY_MIN + 1 };

/* Each priority up to PLAIN_MAX has its own level; higher levels begin at powers. */
enum { PLAIN_MAX = 11 };

std::atomic<handler_node *> slots[SLOTS];
std::mutex lock;
std::map<void *, const char *> *names; /* under the lock; created on first use */

unsigned
place_of(void (*fn)(void *), void *faddr, int level)
{
	uint64_t key = reinterpret_cast<uintptr_t>(faddr) ^
	    reinterpret_cast<uintptr_t>(fn) << 20 ^ static_cast<uint64_t>(level) << 52;

	return static_cast<unsigned>(key * 0x9e3779b97f4a7c15u >> (64 - SLOTS_LOG));
}

bool
matches(const handler_node *n, void (*fn)(void *), void *faddr, int level)
{
	return n->faddr == faddr && n->handler.fn == fn && n->handler.priority == level;
}

/* The function's symbol, without its arguments, if the linker kept it. */
bool
symbol_of(void *faddr, char *name, size_t size)
{
	Dl_info info;
	char *plain;
	int status;

	if (faddr == nullptr || dladdr(faddr, &info) == 0 || info.dli_sname == nullptr ||
	    info.dli_saddr != faddr)
		return false;
	plain = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
	std::snprintf(name, size, "%s", plain != nullptr ? plain : info.dli_sname);
	std::free(plain);
	name[std::strcspn(name, "(")] = '\0';
	return true;
}

/* Under the lock. */
handler_node *
node_new(void (*fn)(void *), void *faddr, int level)
{
	handler_node *n = new handler_node();

	if (names != nullptr && names->count(faddr) != 0)
		std::snprintf(n->name, sizeof n->name, "%s", (*names)[faddr]);
	else if (!symbol_of(faddr, n->name, sizeof n->name))
		std::snprintf(n->name, sizeof n->name, "callback %p", faddr);
	mely_handler_init(&n->handler, fn, n->name);
	n->handler.priority = level;
	n->faddr = faddr;
	return n;
}

/* C of NOTE(handlers). */
mely_handler *
shared_handler(void (*fn)(void *), int level)
{
	static std::map<void (*)(void *), mely_handler *> *shared; /* under the lock */
	guard locked(lock);
	mely_handler *row;
	int i;

	if (shared == nullptr)
		shared = new std::map<void (*)(void *), mely_handler *>;
	row = (*shared)[fn];
	if (row == nullptr) {
		row = new mely_handler[LEVELS]();
		for (i = 0; i < LEVELS; i++) {
			mely_handler_init(&row[i], fn, "callback");
			row[i].priority = MELY_PRIORITY_MIN + i;
		}
		(*shared)[fn] = row;
	}
	return &row[level - MELY_PRIORITY_MIN];
}

/* The child of a fork can still hand over callbacks. */
void
before_fork()
{
	quiet unseen;

	lock.lock();
}

void
after_fork()
{
	quiet unseen;

	lock.unlock();
}

/* B of NOTE(handlers). NULL: C. */
__attribute__((noinline)) handler_node *
make_slow(void (*fn)(void *), void *faddr, int level)
{
	guard locked(lock);
	unsigned first = place_of(fn, faddr, level), i;

	for (i = 0; i < PROBES; i++) {
		std::atomic<handler_node *> &slot = slots[(first + i) % SLOTS];
		handler_node *n = slot.load(std::memory_order_relaxed); /* stored under the lock */

		if (n == nullptr) {
			n = node_new(fn, faddr, level);
			/* release: pairs with the acquire in node_for */
			slot.store(n, std::memory_order_release);
			return n;
		}
		if (matches(n, fn, faddr, level))
			return n;
	}
	return nullptr;
}

/* A of NOTE(handlers). NULL: C. */
handler_node *
node_for(void (*fn)(void *), void *faddr, int level)
{
	unsigned first = place_of(fn, faddr, level), i;

	for (i = 0; i < PROBES; i++) {
		/* acquire: pairs with the release in make_slow */
		handler_node *n = slots[(first + i) % SLOTS].load(std::memory_order_acquire);

		if (n == nullptr)
			break;
		if (matches(n, fn, faddr, level))
			return n;
	}
	return make_slow(fn, faddr, level);
}

}

int
priority_level(int priority)
{
	static const int begins[] = {PLAIN_MAX + 1, 64, 1024, 32768};
	int size = priority < 0 ? -(priority + 1) : priority, level = PLAIN_MAX;

	if (size <= PLAIN_MAX)
		return priority;
	for (int begin : begins)
		level += size >= begin;
	return priority < 0 ? -(level + 1) : level;
}

mely_handler *
handler_for(void (*fn)(void *), void *faddr, int priority)
{
	int level = priority == 0 ? 0 : priority_level(priority);
	handler_node *n = node_for(fn, faddr, level);

	return n != nullptr ? &n->handler : shared_handler(fn, level);
}

void
handler_remember(recent_handlers &recent, void (*fn)(void *), void *faddr)
{
	handler_node *n = node_for(fn, faddr, 0);

	/* release: pairs with the acquire in handler_recent */
	if (n != nullptr)
		recent_slot(recent, faddr).store(n, std::memory_order_release);
}

void
handlers_fork_safely()
{
	(void)pthread_atfork(before_fork, after_fork, after_fork);
}

void
handler_name(void *faddr, const char *name)
{
	guard locked(lock);

	if (names == nullptr)
		names = new std::map<void *, const char *>;
	(*names)[faddr] = name;
}

}
