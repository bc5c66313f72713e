/* SPDX-License-Identifier: MIT */
/*
 * sys.h: the two system calls of every request, without the wrappers of the C library. Its recv
 * and send are cancellation points, which costs two atomic exchanges a call in a process with
 * several threads, and sws never cancels a thread. Any thread; errors are in errno.
 */
#ifndef SWS_SYS_H
#define SWS_SYS_H

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline ssize_t
sws_recv(int fd, void *to, size_t len)
{
	return syscall(SYS_recvfrom, fd, to, len, 0, NULL, NULL);
}

static inline ssize_t
sws_send(int fd, const void *from, size_t len, int flags)
{
	return syscall(SYS_sendto, fd, from, len, flags, NULL, 0);
}

#endif
