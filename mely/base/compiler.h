/* SPDX-License-Identifier: MIT */
/*
 * compiler.h: everything that differs between compilers, processors and the simulation.
 */
#ifndef MELYINT_BASE_COMPILER_H
#define MELYINT_BASE_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#define MELY_CACHE_LINE 64

#define MELY_LIKELY(x) __builtin_expect(!!(x), 1)
#define MELY_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* The compiler may rely on cond. */
#define MELY_ASSUME(cond) \
	do { \
		if (!(cond)) \
			__builtin_unreachable(); \
	} while (0)
#define MELY_NOINLINE __attribute__((noinline))
#define MELY_INLINE static inline __attribute__((always_inline))
#define MELY_UNUSED __attribute__((unused))
/* Call fn with the variable's address when its scope ends, also by an exception of C++. */
#define MELY_CLEANUP(fn) __attribute__((cleanup(fn)))
#define MELY_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#ifdef MELYINT_SIM_COSTS /* the simulation that charges for accesses: sim/predict.h */
void sim_prefetch(const void *p);
#define MELY_PREFETCH(p) sim_prefetch(p)
/* A thief has taken a color and still holds the victim's lock. */
void sim_stolen(void);
#define MELY_STOLEN() sim_stolen()
#else
#define MELY_PREFETCH(p) __builtin_prefetch((p), 1, 3)
#define MELY_STOLEN() ((void)0)
#endif
#ifdef MELYINT_SIM /* swapped when the simulation switches threads */
#define MELY_TLS __attribute__((section("sim_tls")))
/* State that outlives a runtime: the simulation resets it before each run. */
#define MELY_LASTING __attribute__((section("sim_lasting")))
#else
#define MELY_LASTING
/* Thread-local without a call: the library fits into the static TLS area. */
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
#elif defined(__SANITIZE_ADDRESS__)
#define MELYINT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MELYINT_TSAN 1
#elif __has_feature(address_sanitizer)
#define MELYINT_ASAN 1
#endif
#endif

#endif
