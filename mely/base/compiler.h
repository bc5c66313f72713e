/* SPDX-License-Identifier: MIT */
/*
 * compiler.h: what differs between compilers and processors, and nothing else.
 */
#ifndef MELYINT_BASE_COMPILER_H
#define MELYINT_BASE_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#define MELY_CACHE_LINE 64

#define MELY_LIKELY(x) __builtin_expect(!!(x), 1)
#define MELY_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define MELY_NOINLINE __attribute__((noinline))
#define MELY_INLINE static inline __attribute__((always_inline))
#define MELY_UNUSED __attribute__((unused))
#define MELY_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#ifdef MELYINT_SIM_COSTS /* simulated with the prices of accesses: sim/predict.h */
void sim_prefetch(const void *p);
#define MELY_PREFETCH(p) sim_prefetch(p)
/* A color has been stolen; the victim's lock is still held. */
void sim_stolen(void);
#define MELY_STOLEN() sim_stolen()
#else
#define MELY_PREFETCH(p) __builtin_prefetch((p), 1, 3)
#define MELY_STOLEN() ((void)0)
#endif
#ifdef MELYINT_SIM /* swapped when another virtual thread goes on */
#define MELY_TLS __attribute__((section("sim_tls")))
/* What outlives a runtime: each run of the simulation finds it as the program's start does. */
#define MELY_LASTING __attribute__((section("sim_lasting")))
#else
#define MELY_LASTING
/* Thread-local without a call: the library's block is small enough for the static TLS area. */
#define MELY_TLS __thread __attribute__((tls_model("initial-exec")))
#endif

#define MELY_CONTAINER_OF(ptr, type, member) \
	((type *)(void *)((char *)(ptr) - offsetof(type, member)))

#ifdef MELYINT_SIM
void sim_relax(void);
#endif

/* A hint to the processor inside a short spin. */
MELY_INLINE void
melyint_cpu_relax(void)
{
#if defined(MELYINT_SIM)
	sim_relax();
#elif defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

#if defined(__SANITIZE_THREAD__)
#define MELYINT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MELYINT_TSAN 1
#endif
#endif

#endif
