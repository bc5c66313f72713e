/* SPDX-License-Identifier: MIT */
/*
 * unit.h: what cmocka wants included before it. Unit tests see the library's internal headers
 * and link its archive, where hidden symbols can still be reached.
 */
#ifndef MELY_UNIT_H
#define MELY_UNIT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#endif
