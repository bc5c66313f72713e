/* SPDX-License-Identifier: MIT */
/*
 * misuse.h, dialect "async": how the containers end a program that breaks their rules. It stands
 * below everything else, so that vec.h, which strings are made of, can use it.
 */
#ifndef MELYCOMPAT_ASYNC_MISUSE_H
#define MELYCOMPAT_ASYNC_MISUSE_H

#include "sysconf.h"

#pragma GCC system_header

/** Print what the program did wrong, on stderr, and abort. From any thread. */
MELYCOMPAT_API void container_misused(const char *what) __attribute__((noreturn, cold));

#endif
