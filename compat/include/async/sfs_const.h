/* SPDX-License-Identifier: MIT */
/*
 * sfs_const.h: settings of the RPC library of the originals, which this library does not have.
 */
#ifndef MELYCOMPAT_ASYNC_SFS_CONST_H
#define MELYCOMPAT_ASYNC_SFS_CONST_H

#include <time.h>

#pragma GCC system_header

namespace sfs_const {
/** Without effect. */
extern time_t axprt_suio_clear_interval;
}

#endif
