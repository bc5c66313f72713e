/* SPDX-License-Identifier: MIT */
/*
 * fdmode.cc: the modes of descriptors, and waiting for them without the loop. Any thread.
 */
#include <poll.h>

#include "async.h"

namespace melycompat {

namespace {

int
set_blocking(int fd, bool blocking)
{
	int flags = fcntl(fd, F_GETFL), wanted;

	if (flags < 0)
		return -1;
	wanted = blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK;
	return wanted == flags ? 0 : fcntl(fd, F_SETFL, wanted);
}

/* In milliseconds, rounded up, so that a wait does not end early. */
int
poll_timeout(const timeval *tvp)
{
	long long ms;

	if (tvp == nullptr)
		return -1;
	ms = tvp->tv_sec * 1000LL + (tvp->tv_usec + 999) / 1000;
	return static_cast<int>(min(ms, static_cast<long long>(INT_MAX)));
}

}

}

using namespace melycompat;

int
_make_async(int fd)
{
	return set_blocking(fd, false);
}

void
make_async(int fd)
{
	int on = 1;

	if (_make_async(fd) < 0)
		fatal("make_async: descriptor %d: %m\n", fd);
	/* A descriptor that is not a socket does not need it. */
	if (setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) < 0 && errno != ENOTSOCK &&
	    errno != EOPNOTSUPP && errno != ENOPROTOOPT)
		fatal("make_async: SO_KEEPALIVE of descriptor %d: %m\n", fd);
}

void
make_sync(int fd)
{
	(void)set_blocking(fd, true);
}

void
close_on_exec(int fd, bool on)
{
	if (fcntl(fd, F_SETFD, on ? FD_CLOEXEC : 0) < 0)
		fatal("close_on_exec: descriptor %d: %m\n", fd);
}

void
tcp_nodelay(int fd)
{
	int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void
tcp_abort(int fd)
{
	linger at_once = {};

	at_once.l_onoff = 1;
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	close(fd);
}

int
fdwait(int rfd, int wfd, bool r, bool w, timeval *tvp)
{
	pollfd fds[2] = {};
	int i, n;

	/* poll ignores negative descriptors. */
	fds[0].fd = r ? rfd : -1;
	fds[0].events = POLLIN;
	fds[1].fd = w ? wfd : -1;
	fds[1].events = POLLOUT;
	n = poll(fds, 2, poll_timeout(tvp));
	for (i = 0; n > 0 && i < 2; i++)
		if (fds[i].revents & POLLNVAL) {
			errno = EBADF;
			return -1;
		}
	return n;
}

int
fdwait(int fd, bool r, bool w, timeval *tvp)
{
	return fdwait(fd, fd, r, w, tvp);
}

int
fdwait(int fd, selop op, timeval *tvp)
{
	return fdwait(fd, fd, op == selread, op == selwrite, tvp);
}
