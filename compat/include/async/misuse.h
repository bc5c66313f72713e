/* SPDX-License-Identifier: MIT */
/*
 * misuse.h, dialect "async": how the containers end a program that breaks their rules. It includes
 * nothing, so vec.h, on which strings are built, can use it.
 */
#ifndef MELYCOMPAT_ASYNC_MISUSE_H
#define MELYCOMPAT_ASYNC_MISUSE_H

#include "sysconf.h"

#pragma GCC system_header

/** Print the error of the program on stderr, and abort. Any thread. */
MELYCOMPAT_API void container_misused(const char *what) __attribute__((noreturn, cold));

#endif
