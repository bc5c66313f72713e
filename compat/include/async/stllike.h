/* SPDX-License-Identifier: MIT */
/*
 * stllike.h, dialect "async": the old name of generic.h.
 */
#ifndef MELYCOMPAT_ASYNC_STLLIKE_H
#define MELYCOMPAT_ASYNC_STLLIKE_H

#include "generic.h"

#pragma GCC system_header

#endif
