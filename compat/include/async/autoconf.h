/* SPDX-License-Identifier: MIT */
/*
 * autoconf.h, dialect "async": the macros that configure of the originals defined and programs test
 * with #ifdef. They are true for every system that this library runs on.
 */
#ifndef MELYCOMPAT_ASYNC_AUTOCONF_H
#define MELYCOMPAT_ASYNC_AUTOCONF_H

#ifndef HAVE_UNISTD_H
#define HAVE_UNISTD_H 1
#endif
#ifndef HAVE_STDINT_H
#define HAVE_STDINT_H 1
#endif
#ifndef HAVE_INT64_T
#define HAVE_INT64_T 1
#endif
#ifndef HAVE_CLOCK_GETTIME
#define HAVE_CLOCK_GETTIME 1
#endif
#ifndef HAVE_TIMESPEC
#define HAVE_TIMESPEC 1
#endif
#ifndef HAVE_SOCKLEN_T
#define HAVE_SOCKLEN_T 1
#endif
#ifndef HAVE_SSIZE_T
#define HAVE_SSIZE_T 1
#endif
#ifndef HAVE_EPOLL
#define HAVE_EPOLL 1
#endif

#endif
