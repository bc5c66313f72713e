/* SPDX-License-Identifier: MIT */
/*
 * rwfd.h: passing descriptors to other processes along with bytes, over sockets of the UNIX domain.
 * Any color, any thread.
 */
#ifndef MELYCOMPAT_ASYNC_RWFD_H
#define MELYCOMPAT_ASYNC_RWFD_H

#include "sysconf.h"

#pragma GCC system_header

/**
 * writev to socket fd, and pass the descriptor wfd along; the caller keeps its copy. wfd < 0: only
 * the bytes. A descriptor needs at least one byte with it. Returns the number of bytes, or -1 and
 * errno.
 */
ssize_t writevfd(int fd, const iovec *iov, int iovcnt, int wfd);

/**
 * readv from socket fd, and receive a descriptor: *rfdp is the descriptor, which the caller owns
 * and exec closes; *rfdp is -1 if there is none. Returns the number of bytes, 0 at the end, or -1
 * and errno. A descriptor without any byte sets *rfdp and returns -1 with EAGAIN. Surplus
 * descriptors are closed.
 */
ssize_t readvfd(int fd, const iovec *iov, int iovcnt, int *rfdp);

/** Like writevfd and readvfd, with one buffer of len bytes. */
ssize_t writefd(int fd, const void *buf, size_t len, int wfd);
ssize_t readfd(int fd, void *buf, size_t len, int *rfdp);

#endif
