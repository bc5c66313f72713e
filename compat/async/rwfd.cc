/* SPDX-License-Identifier: MIT */
/*
 * rwfd.cc: passing descriptors along with bytes. Any thread.
 */
#include "rwfd.h"

namespace melycompat {

namespace {

/* Room for more than the one descriptor expected, so that surplus ones are received and closed. */
enum { DESCRIPTORS_MAX = 16 };

union ancillary {
	cmsghdr first; /* aligns the bytes */
	char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
};

/* Keep the first descriptor of a message, close the others. */
int
take_first(msghdr *message)
{
	int first = -1, fd;
	size_t i, count;
	cmsghdr *c;

	for (c = CMSG_FIRSTHDR(message); c != nullptr; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof fd;
		for (i = 0; i < count; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
			if (first < 0)
				first = fd;
			else
				close(fd);
		}
	}
	return first;
}

}

}

using namespace melycompat;

ssize_t
writevfd(int fd, const iovec *iov, int iovcnt, int wfd)
{
	msghdr message = {};
	ancillary space = {};
	cmsghdr *c;

	if (wfd < 0)
		return writev(fd, iov, iovcnt);
	message.msg_iov = const_cast<iovec *>(iov);
	message.msg_iovlen = static_cast<size_t>(iovcnt);
	message.msg_control = space.bytes;
	message.msg_controllen = CMSG_SPACE(sizeof wfd);
	c = CMSG_FIRSTHDR(&message);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof wfd);
	memcpy(CMSG_DATA(c), &wfd, sizeof wfd);
	return sendmsg(fd, &message, 0);
}

ssize_t
readvfd(int fd, const iovec *iov, int iovcnt, int *rfdp)
{
	msghdr message = {};
	ancillary space = {};
	ssize_t n;

	*rfdp = -1;
	message.msg_iov = const_cast<iovec *>(iov);
	message.msg_iovlen = static_cast<size_t>(iovcnt);
	message.msg_control = space.bytes;
	message.msg_controllen = sizeof space.bytes;
	n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	if (n < 0)
		return -1;
	*rfdp = take_first(&message);
	if (n == 0 && *rfdp >= 0) {
		/* Fail, since a result of 0 would mean the end of the stream. */
		errno = EAGAIN;
		return -1;
	}
	return n;
}

ssize_t
writefd(int fd, const void *buf, size_t len, int wfd)
{
	iovec iov = {const_cast<void *>(buf), len};

	return writevfd(fd, &iov, 1, wfd);
}

ssize_t
readfd(int fd, void *buf, size_t len, int *rfdp)
{
	iovec iov = {buf, len};

	return readvfd(fd, &iov, 1, rfdp);
}
