/* SPDX-License-Identifier: MIT */
/*
 * plain.c: the functions that gcc and clang call under -fsanitize=thread, instead of the
 * sanitizer's runtime. Atomics called sim_access before they arrive here, so these functions only
 * execute them.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "plain.h"

/* In a build with another sanitizer gcc declares these functions itself. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#endif

#define PLAIN(name, bytes, write) \
	void __tsan_##name(void *p); \
	void __tsan_##name(void *p) { sim_plain(p, (bytes), (write)); }
#define UNALIGNED(name, bytes, write) \
	void __tsan_unaligned_##name(void *p); \
	void __tsan_unaligned_##name(void *p) { sim_plain_range(p, (bytes), (write)); }

PLAIN(read1, 1, false)
PLAIN(read2, 2, false)
PLAIN(read4, 4, false)
PLAIN(read8, 8, false)
PLAIN(read16, 16, false)
PLAIN(write1, 1, true)
PLAIN(write2, 2, true)
PLAIN(write4, 4, true)
PLAIN(write8, 8, true)
PLAIN(write16, 16, true)
UNALIGNED(read2, 2, false)
UNALIGNED(read4, 4, false)
UNALIGNED(read8, 8, false)
UNALIGNED(read16, 16, false)
UNALIGNED(write2, 2, true)
UNALIGNED(write4, 4, true)
UNALIGNED(write8, 8, true)
UNALIGNED(write16, 16, true)

void __tsan_read_range(void *p, size_t bytes);
void
__tsan_read_range(void *p, size_t bytes)
{
	sim_plain_range(p, bytes, false);
}

void __tsan_write_range(void *p, size_t bytes);
void
__tsan_write_range(void *p, size_t bytes)
{
	sim_plain_range(p, bytes, true);
}

void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *
__tsan_memcpy(void *to, const void *from, size_t bytes)
{
	sim_plain_range(from, bytes, false);
	sim_plain_range(to, bytes, true);
	return __builtin_memcpy(to, from, bytes);
}

void *__tsan_memset(void *to, int byte, size_t bytes);
void *
__tsan_memset(void *to, int byte, size_t bytes)
{
	sim_plain_range(to, bytes, true);
	return __builtin_memset(to, byte, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *
__tsan_memmove(void *to, const void *from, size_t bytes)
{
	sim_plain_range(from, bytes, false);
	sim_plain_range(to, bytes, true);
	return __builtin_memmove(to, from, bytes);
}

void __tsan_init(void);
void
__tsan_init(void)
{
}

void __tsan_func_entry(void *pc);
void
__tsan_func_entry(void *pc)
{
	(void)pc;
}

void __tsan_func_exit(void);
void
__tsan_func_exit(void)
{
}

/* ---- atomics --------------------------------------------------------------------------------- */

#define FETCH(bits, type, op) \
	type __tsan_atomic##bits##_fetch_##op(_Atomic(type) *p, type v, int order); \
	type \
	__tsan_atomic##bits##_fetch_##op(_Atomic(type) *p, type v, int order) \
	{ \
		(void)order; \
		return atomic_fetch_##op(p, v); \
	}

#define CAS(bits, type, kind) \
	int __tsan_atomic##bits##_compare_exchange_##kind(_Atomic(type) *p, \
	    type *expected, type desired, int order, int failed); \
	int \
	__tsan_atomic##bits##_compare_exchange_##kind(_Atomic(type) *p, type *expected, \
	    type desired, int order, int failed) \
	{ \
		(void)order, (void)failed; \
		return atomic_compare_exchange_strong(p, expected, desired); \
	}

/* clang calls this form. */
#define CAS_VALUE(bits, type) \
	type __tsan_atomic##bits##_compare_exchange_val(_Atomic(type) *p, type expected, \
	    type desired, int order, int failed); \
	type \
	__tsan_atomic##bits##_compare_exchange_val(_Atomic(type) *p, type expected, \
	    type desired, int order, int failed) \
	{ \
		(void)order, (void)failed; \
		(void)atomic_compare_exchange_strong(p, &expected, desired); \
		return expected; \
	}

#define ATOMIC(bits, type) \
	type __tsan_atomic##bits##_load(const _Atomic(type) *p, int order); \
	type \
	__tsan_atomic##bits##_load(const _Atomic(type) *p, int order) \
	{ \
		(void)order; \
		return atomic_load(p); \
	} \
	void __tsan_atomic##bits##_store(_Atomic(type) *p, type v, int order); \
	void \
	__tsan_atomic##bits##_store(_Atomic(type) *p, type v, int order) \
	{ \
		(void)order; \
		atomic_store(p, v); \
	} \
	type __tsan_atomic##bits##_exchange(_Atomic(type) *p, type v, int order); \
	type \
	__tsan_atomic##bits##_exchange(_Atomic(type) *p, type v, int order) \
	{ \
		(void)order; \
		return atomic_exchange(p, v); \
	} \
	FETCH(bits, type, add) \
	FETCH(bits, type, sub) \
	FETCH(bits, type, and) \
	FETCH(bits, type, or) \
	FETCH(bits, type, xor) \
	CAS_VALUE(bits, type) \
	CAS(bits, type, strong) \
	CAS(bits, type, weak)

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order);
void
__tsan_atomic_thread_fence(int order)
{
	(void)order;
}

void __tsan_atomic_signal_fence(int order);
void
__tsan_atomic_signal_fence(int order)
{
	(void)order;
}
