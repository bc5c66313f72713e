/* SPDX-License-Identifier: MIT */
/*
 * msb.h, dialect "async": the highest and the lowest bit set.
 *
 * fls, log2c and ffs are macros, because programs test for them with #ifdef; the macro hides the
 * ffs of libc. They take integers of any size and evaluate their argument once. A negative number
 * counts as the unsigned number of its size, at least 32 bits.
 */
#ifndef MELYCOMPAT_ASYNC_MSB_H
#define MELYCOMPAT_ASYNC_MSB_H

#include "sysconf.h"

#pragma GCC system_header

/** For each byte the position of its highest and of its lowest bit set, from 1; 0 for 0. */
extern MELYCOMPAT_API const char bytemsb[256];
extern MELYCOMPAT_API const char bytelsb[256];

/** The position of the highest bit set, from 1; 0 for 0. */
inline int
fls32(u_int32_t v)
{
	return v == 0 ? 0 : 32 - __builtin_clz(v);
}

inline int
fls64(u_int64_t v)
{
	return v == 0 ? 0 : 64 - __builtin_clzll(v);
}

/** The position of the lowest bit set, from 1; 0 for 0. */
inline int
ffs32(u_int32_t v)
{
	return v == 0 ? 0 : __builtin_ctz(v) + 1;
}

inline int
ffs64(u_int64_t v)
{
	return v == 0 ? 0 : __builtin_ctzll(v) + 1;
}

/** The smallest n with v <= 2^n; -1 for 0. */
inline int
log2c32(u_int32_t v)
{
	return v == 0 ? -1 : fls32(v - 1);
}

inline int
log2c64(u_int64_t v)
{
	return v == 0 ? -1 : fls64(v - 1);
}

#undef fls
#undef ffs
#undef log2c
#define fls(v) (sizeof(v) > 4 ? fls64(v) : fls32((u_int32_t)(v)))
#define ffs(v) (sizeof(v) > 4 ? ffs64(v) : ffs32((u_int32_t)(v)))
#define log2c(v) (sizeof(v) > 4 ? log2c64(v) : log2c32((u_int32_t)(v)))

#endif
