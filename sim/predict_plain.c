/* SPDX-License-Identifier: MIT */
/*
 * predict_plain.c: where the compiler's instrumentation of plain accesses ends: B of NOTE(prices).
 * The names are those that gcc and clang call under -fsanitize=thread. Atomics have already been
 * paid for when they come here: they are only done.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "predict.h"

#define PLAIN(name, write) \
	void __tsan_##name(void *p); \
	void __tsan_##name(void *p) { sim_plain(p, (write)); }

PLAIN(read1, false)
PLAIN(read2, false)
PLAIN(read4, false)
PLAIN(read8, false)
PLAIN(read16, false)
PLAIN(write1, true)
PLAIN(write2, true)
PLAIN(write4, true)
PLAIN(write8, true)
PLAIN(write16, true)
PLAIN(unaligned_read2, false)
PLAIN(unaligned_read4, false)
PLAIN(unaligned_read8, false)
PLAIN(unaligned_read16, false)
PLAIN(unaligned_write2, true)
PLAIN(unaligned_write4, true)
PLAIN(unaligned_write8, true)
PLAIN(unaligned_write16, true)

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
