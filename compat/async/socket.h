/* SPDX-License-Identifier: MIT */
/*
 * socket.h: what the parts about sockets share. Any thread.
 */
#ifndef MELYCOMPAT_ASYNC_SOCKET_H
#define MELYCOMPAT_ASYNC_SOCKET_H

#include "async.h"

namespace melycompat {

/** Close a descriptor after something failed with it; errno stays. Always -1. */
int close_keeping_errno(int fd);

/** An address to bind to, given in host byte order: for INADDR_ANY that of the environment. */
in_addr bind_address(u_int32_t addr);

}

#endif
