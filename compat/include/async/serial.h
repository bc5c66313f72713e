/* SPDX-License-Identifier: MIT */
/*
 * serial.h: numbers as big-endian bytes, and bytes as text. Any color and thread may call these
 * functions.
 */
#ifndef MELYCOMPAT_ASYNC_SERIAL_H
#define MELYCOMPAT_ASYNC_SERIAL_H

#include <sys/types.h>

#include "str.h"
#include "str2file.h"

#pragma GCC system_header

/** Write `val` at `dp`, most significant byte first; `dp` need not be aligned. */
inline void
putshort(void *dp, u_int16_t val)
{
	u_char *p = static_cast<u_char *>(dp);

	p[0] = (u_char)(val >> 8);
	p[1] = (u_char)val;
}

inline void
putint(void *dp, u_int32_t val)
{
	u_char *p = static_cast<u_char *>(dp);

	putshort(p, (u_int16_t)(val >> 16));
	putshort(p + 2, (u_int16_t)val);
}

inline void
puthyper(void *dp, u_int64_t val)
{
	u_char *p = static_cast<u_char *>(dp);

	putint(p, (u_int32_t)(val >> 32));
	putint(p + 4, (u_int32_t)val);
}

/** Read a number written by the corresponding function above. */
inline u_int16_t
getshort(const void *dp)
{
	const u_char *p = static_cast<const u_char *>(dp);

	return (u_int16_t)(p[0] << 8 | p[1]);
}

inline u_int32_t
getint(const void *dp)
{
	const u_char *p = static_cast<const u_char *>(dp);

	return (u_int32_t)getshort(p) << 16 | getshort(p + 2);
}

inline u_int64_t
gethyper(const void *dp)
{
	const u_char *p = static_cast<const u_char *>(dp);

	return (u_int64_t)getint(p) << 32 | getint(p + 4);
}

/** The value of a hexadecimal digit of either case. False: not a digit. */
inline bool
hexconv(int &out, char digit)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = digit != 0 ? strchr(digits, tolower((unsigned char)digit)) : 0;

	if (at == 0)
		return false;
	out = int(at - digits);
	return true;
}

/** The bytes that `hex` encodes, two digits each, of either case; a null str if it is invalid. */
str hex2bytes(const str &hex);

/*
 * For each armor there are functions that encode `len` bytes or a str, that return the length of
 * the armor at the start of a C string, and that decode. A str must be armor as a whole, or the
 * result is a null str. Of a C string the longest armored prefix, possibly nothing, is decoded, or
 * the first `len` bytes; the result is a null str if no armor has that length, with its padding.
 */

/** Base 64 of RFC 4648, padded with "=". */
str armor64(const void *s, size_t len);
str armor64(const str &bin);
size_t armor64len(const u_char *s);
str dearmor64(const char *s, ssize_t len = -1);
str dearmor64(const str &asc);

/** Base 64 for file names: "-" instead of "/", and not padded. */
str armor64A(const void *s, size_t len);
str armor64A(const str &bin);
size_t armor64Alen(const u_char *s);
str dearmor64A(const char *s, ssize_t len = -1);
str dearmor64A(const str &asc);

/** Base 64 with "@" and "_" instead of "+" and "/", padded. */
str armor64X(const void *s, size_t len);
str armor64X(const str &bin);
size_t armor64Xlen(const u_char *s);
str dearmor64X(const char *s, ssize_t len = -1);
str dearmor64X(const str &asc);

/** Base 32 without the easily confused l, o, 0 and 1; not padded. */
str armor32(const void *s, size_t len);
str armor32(const str &bin);
size_t armor32len(const u_char *s);
str dearmor32(const char *s, ssize_t len = -1);
str dearmor32(const str &asc);

/** Base 32 of RFC 4648, padded. */
str armor32_rfc(const void *s, size_t len);
str armor32_rfc(const str &bin);
size_t armor32len_rfc(const u_char *s);
str dearmor32_rfc(const char *s, ssize_t len = -1);
str dearmor32_rfc(const str &asc);

#endif
