/* SPDX-License-Identifier: MIT */
/*
 * ifchg.h: notification of changed addresses of this host. async.h includes it. Color 0.
 */
#ifndef MELYCOMPAT_ASYNC_IFCHG_H
#define MELYCOMPAT_ASYNC_IFCHG_H

#include "sysconf.h"

#include "callback.h"
#include "vec.h"

#pragma GCC system_header

struct ifchgcb_t;

/** The known addresses, after the first call of ifchgcb, and the number of their changes. */
extern vec<in_addr> ifchg_addrs;
extern u_int64_t ifchg_count;

/** Call cb after each change of the addresses, until it is removed. */
ifchgcb_t *ifchgcb(cbv cb);

/** Stop the calls; a callback may call this, too. */
void ifchgcb_remove(ifchgcb_t *chg);

#endif
