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
/** The same of off_t. */
#define OTF "l"

/** A constant of type int64_t. */
#define INT64(n) INT64_C(n)

/** A macro's value as a literal. */
#define stringify(s) MELYCOMPAT_STRINGIFY(s)
#define MELYCOMPAT_STRINGIFY(s) #s

/** offsetof, also where the compiler calls the type too complicated. */
#define xoffsetof(type, member) __builtin_offsetof(type, member)

/** What malloc needs for itself, and programs leave free below a power of two. */
#define MALLOCRESV 16

/** A pointer of the type of iov_base, as programs cast to. */
typedef char *iovbase_t;

/** As htonl and ntohl, of 64 bits. */
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

/** Stands before a destructor that only its own class calls; here it is as public as others. */
#define PRIVDEST

#endif
