/* SPDX-License-Identifier: MIT */
/*
 * rwfd.h: descriptors that are passed to other processes along with bytes, over sockets of the UNIX
 * domain. Any color, any thread.
 */
#ifndef MELYCOMPAT_ASYNC_RWFD_H
#define MELYCOMPAT_ASYNC_RWFD_H

#include "sysconf.h"

#pragma GCC system_header

/**
 * writev to socket fd, and pass the descriptor wfd along; it stays the caller's. wfd < 0: only the
 * bytes. At least one byte has to go with a descriptor. The number of bytes, or -1 and errno.
 */
ssize_t writevfd(int fd, const iovec *iov, int iovcnt, int wfd);

/**
 * readv from socket fd, and a descriptor when one comes along: *rfdp is it, the caller's, and
 * closed by exec; else *rfdp is -1. The number of bytes, 0 at the end, or -1 and errno. A
 * descriptor without any byte is -1 with EAGAIN, and *rfdp is set. More than one descriptor at a
 * time: the others are closed.
 */
ssize_t readvfd(int fd, const iovec *iov, int iovcnt, int *rfdp);

/** The same with one buffer of len bytes. */
ssize_t writefd(int fd, const void *buf, size_t len, int wfd);
ssize_t readfd(int fd, void *buf, size_t len, int *rfdp);

#endif
