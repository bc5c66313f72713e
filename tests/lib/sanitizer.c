/* SPDX-License-Identifier: MIT */
/*
 * sanitizer.c: makes fork safe under AddressSanitizer. Before LLVM 17 the sanitizer holds none of
 * its locks over a fork, so a child of a process whose other threads allocate may inherit a locked
 * allocator and hang at its first malloc. We take the locks in the order in which the sanitizer's
 * own search for leaks takes them.
 */
#include <pthread.h>

#include "test.h"

#if TEST_ASAN && defined(__clang_major__) && __clang_major__ < 17

#define RUNTIME(name, symbol) void name(void) __asm__(symbol) __attribute__((weak))

RUNTIME(lock_threads, "_ZN6__lsan18LockThreadRegistryEv");
RUNTIME(unlock_threads, "_ZN6__lsan20UnlockThreadRegistryEv");
RUNTIME(lock_allocator, "_ZN6__lsan13LockAllocatorEv");
RUNTIME(unlock_allocator, "_ZN6__lsan15UnlockAllocatorEv");
RUNTIME(lock_stacks, "_ZN11__sanitizer17StackDepotLockAllEv");
RUNTIME(unlock_stacks, "_ZN11__sanitizer19StackDepotUnlockAllEv");

static void
lock_all(void)
{
	lock_threads();
	lock_allocator();
	lock_stacks();
}

static void
unlock_all(void)
{
	unlock_stacks();
	unlock_allocator();
	unlock_threads();
}

/* The handlers registered first prepare last, so nothing allocates while the locks are held. */
void
test_hold_sanitizer_at_forks(void)
{
	if (lock_threads != NULL && unlock_threads != NULL && lock_allocator != NULL &&
	    unlock_allocator != NULL && lock_stacks != NULL && unlock_stacks != NULL)
		TEST_OK(-pthread_atfork(lock_all, unlock_all, unlock_all));
}

#else

void
test_hold_sanitizer_at_forks(void)
{
}

#endif
