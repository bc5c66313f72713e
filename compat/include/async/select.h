/* SPDX-License-Identifier: MIT */
/*
 * select.h, dialect "async": namespace sfs_core, which is in async.h.
 */
#ifndef MELYCOMPAT_ASYNC_SELECT_H
#define MELYCOMPAT_ASYNC_SELECT_H

#include "async.h"

#endif
