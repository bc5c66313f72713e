/* SPDX-License-Identifier: MIT */
/*
 * descriptor.h: the numbers of the library's descriptors, for a program that has closed its
 * standard streams: what is written to standard error must not reach one of them. Any thread.
 */
#ifndef MELYINT_BASE_DESCRIPTOR_H
#define MELYINT_BASE_DESCRIPTOR_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/compiler.h"

enum { MELYINT_STREAMS = 3 }; /* descriptors 0 to 2 */

/* fd, or a copy with a number above those of the standard streams, which replaces it. Negative when
 * fd is, or when there is no other number; errno says why. */
MELY_INLINE int
melyint_fd_high(int fd)
{
	int high, error;

	if (MELY_LIKELY(fd < 0 || fd >= MELYINT_STREAMS))
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, MELYINT_STREAMS);
	error = errno;
	close(fd);
	errno = error;
	return high;
}

/* Until melyint_fd_free_streams, other functions of this thread open no descriptor from 0 to 2. */
MELY_INLINE void
melyint_fd_hold_streams(int held[MELYINT_STREAMS])
{
	int count = 0, fd;

	while (count < MELYINT_STREAMS && (fd = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0) {
		if (fd >= MELYINT_STREAMS) {
			close(fd);
			break;
		}
		held[count++] = fd;
	}
	for (; count < MELYINT_STREAMS; count++)
		held[count] = -1;
}

MELY_INLINE void
melyint_fd_free_streams(const int held[MELYINT_STREAMS])
{
	int i;

	for (i = 0; i < MELYINT_STREAMS; i++) {
		if (held[i] >= 0)
			close(held[i]);
	}
}

#endif
