/* SPDX-License-Identifier: MIT */
/*
 * amisc.h, dialect "async": small things used everywhere: messages (err.h), memory that is never
 * NULL, times, addresses. Any thread may call these functions. Programs rely on it for sockets,
 * processes (asock.h, aproc.h, rwfd.h) and numbers as bytes (serial.h), too.
 */
#ifndef MELYCOMPAT_ASYNC_AMISC_H
#define MELYCOMPAT_ASYNC_AMISC_H

#include "sysconf.h"

#include "generic.h"

#include "err.h"

#include "callback.h"
#include "keyfunc.h"
#include "rwfd.h"
#include "serial.h"

#pragma GCC system_header

/* ---- memory ---- */

/** Like malloc, realloc, strdup and free, but panic without memory; 0 bytes are a valid size. */
void *xmalloc(size_t n) __attribute__((malloc));
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s) __attribute__((malloc));
inline void
xfree(void *p)
{
	free(p);
}
#define txmalloc(n) xmalloc(n)

/** putenv with a copy of the string. */
inline int
xputenv(const char *assignment)
{
	return putenv(xstrdup(assignment));
}

/* ---- parts of strings ---- */

/** The first of the n bytes at p that is in `set`; NULL: none. */
char *mempbrk(char *p, const char *set, int n);
/** Like strsep: returns the text before the next byte of delim, possibly empty; *sp moves behind
 * it. */
char *xstrsep(char **sp, const char *delim);
/** Like xstrsep, but skips empty texts; NULL at the end. */
char *strnnsep(char **sp, const char *delim);

/* ---- results that do not matter ---- */

/** Marks a result that is ignored on purpose. */
template <class T> inline void
rc_ignore(const T &)
{
}

/** Like write, for when the result does not matter. */
inline void
v_write(int fd, const void *p, size_t n)
{
	rc_ignore(write(fd, p, n));
}

/* ---- numbers ---- */

/** 32 random bits from the system. */
u_int32_t arandom();

/* ---- times ---- */

inline bool
operator==(const timespec &a, const timespec &b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

inline bool
operator!=(const timespec &a, const timespec &b)
{
	return !(a == b);
}

inline bool
operator<(const timespec &a, const timespec &b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

inline bool
operator<=(const timespec &a, const timespec &b)
{
	return !(b < a);
}

inline bool
operator>(const timespec &a, const timespec &b)
{
	return b < a;
}

inline bool
operator>=(const timespec &a, const timespec &b)
{
	return !(a < b);
}

/** -1, 0 or 1. */
inline int
tscmp(const timespec &a, const timespec &b)
{
	return a < b ? -1 : b < a;
}

/** The sum and the difference of two times. In all three tv_nsec is 0 to 999999999. */
inline timespec
operator+(const timespec &a, const timespec &b)
{
	timespec sum;

	sum.tv_sec = a.tv_sec + b.tv_sec;
	sum.tv_nsec = a.tv_nsec + b.tv_nsec;
	if (sum.tv_nsec >= 1000000000) {
		sum.tv_nsec -= 1000000000;
		sum.tv_sec++;
	}
	return sum;
}

inline timespec
operator-(const timespec &a, const timespec &b)
{
	timespec rest;

	rest.tv_sec = a.tv_sec - b.tv_sec;
	rest.tv_nsec = a.tv_nsec - b.tv_nsec;
	if (rest.tv_nsec < 0) {
		rest.tv_nsec += 1000000000;
		rest.tv_sec--;
	}
	return rest;
}

/* ---- addresses ---- */

inline bool
operator==(const in_addr &a, const in_addr &b)
{
	return a.s_addr == b.s_addr;
}

inline bool
operator!=(const in_addr &a, const in_addr &b)
{
	return !(a == b);
}

/** Equality of address and port; families other than AF_INET are never equal. */
inline bool
operator==(const sockaddr_in &a, const sockaddr_in &b)
{
	return a.sin_family == AF_INET && b.sin_family == AF_INET && a.sin_port == b.sin_port &&
	    a.sin_addr == b.sin_addr;
}

inline bool
operator!=(const sockaddr_in &a, const sockaddr_in &b)
{
	return !(a == b);
}

/** Equality of address and port, or of path. For other families, equality of the n bytes. */
bool addreq(const sockaddr *a, const sockaddr *b, socklen_t n);

#include "aproc.h"
#include "asock.h"

#endif
