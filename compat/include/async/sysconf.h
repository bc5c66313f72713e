/* SPDX-License-Identifier: MIT */
/*
 * sysconf.h, dialect "async": the system as programs of libasync expect it: nearly all of POSIX in
 * one include, the old names of unsigned types, and NULL as a plain 0, which converts to counted
 * pointers and callbacks.
 */
#ifndef MELYCOMPAT_ASYNC_SYSCONF_H
#define MELYCOMPAT_ASYNC_SYSCONF_H

#ifdef MELYCOMPAT_DIALECT_MELY
#error "mely.h and the headers of libasync are two dialects: a source file includes one of them"
#endif
#define MELYCOMPAT_DIALECT_ASYNC 1

#include "autoconf.h"

#ifndef __STDC_LIMIT_MACROS
#define __STDC_LIMIT_MACROS 1
#endif
#ifndef __STDC_FORMAT_MACROS
#define __STDC_FORMAT_MACROS 1
#endif

#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include <new>
#include <utility>

#include "../melycompat/link.h"

#pragma GCC system_header

/** The length modifier of u_int64_t: printf("%" U64F "u", x). */
#ifdef __LP64__
#define U64F "l"
#else
#define U64F "ll"
#endif
/** The length modifier of off_t. */
#define OTF "l"

/** A constant of type int64_t. */
#define INT64(n) INT64_C(n)

/** The value of a macro as a string literal. */
#define stringify(s) MELYCOMPAT_STRINGIFY(s)
#define MELYCOMPAT_STRINGIFY(s) #s

/** offsetof, also for types that are not standard-layout. */
#define xoffsetof(type, member) __builtin_offsetof(type, member)

/** The overhead of malloc, which programs subtract from a power of two. */
#define MALLOCRESV 16

/** The pointer type to which programs cast for iov_base. */
typedef char *iovbase_t;

/** Like htonl and ntohl, for 64 bits. */
inline u_int64_t
htonq(u_int64_t v)
{
	return htobe64(v);
}

inline u_int64_t
ntohq(u_int64_t v)
{
	return be64toh(v);
}

/** 1 unless the program was started setuid or setgid. */
inline int
suidsafe()
{
	return getuid() == 0 || (getuid() == geteuid() && getgid() == getegid());
}

/** getenv when suidsafe, else NULL. */
inline char *
safegetenv(const char *name)
{
	return suidsafe() ? getenv(name) : 0;
}

#undef NULL
#define NULL 0

/* BSD's macros of these names; here they are templates. */
#undef min
#undef max

/** Marks a destructor that only its own class calls; here it has no effect. */
#define PRIVDEST

#endif
