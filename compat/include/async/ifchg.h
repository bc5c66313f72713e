/* SPDX-License-Identifier: MIT */
/*
 * ifchg.h: to be told when the addresses of this host change. Comes with async.h. Color 0.
 */
#ifndef MELYCOMPAT_ASYNC_IFCHG_H
#define MELYCOMPAT_ASYNC_IFCHG_H

#include "sysconf.h"

#include "callback.h"
#include "vec.h"

#pragma GCC system_header

struct ifchgcb_t;

/** The addresses as they are known, once ifchgcb has been called; and how often they changed. */
extern vec<in_addr> ifchg_addrs;
extern u_int64_t ifchg_count;

/** Call cb each time that the addresses have changed, until it is removed. */
ifchgcb_t *ifchgcb(cbv cb);

/** Never call it again; also from inside one of the callbacks. */
void ifchgcb_remove(ifchgcb_t *chg);

#endif
