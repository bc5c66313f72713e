/* SPDX-License-Identifier: MIT */
/* put.c: see put.h. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/put.h"

/* Can fd take something? 1, 0 when the time is over first, or an error. */
static int
await_room(int fd, uint64_t until_ns)
{
	if (fd < 0) /* poll would wait for nothing */
		return -EBADF;
	for (;;) {
		struct pollfd ready = {fd, POLLOUT, 0};
		uint64_t now = melyint_now_ns(), left = now < until_ns ? until_ns - now : 0;
		struct timespec limit = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
		int found = ppoll(&ready, 1, &limit, NULL);

		if (found >= 0)
			return found;
		if (errno != EINTR)
			return -errno;
	}
}

int
melyint_put(const char *bytes, size_t length, int fd, uint64_t patience_ns)
{
	uint64_t until_ns = melyint_now_ns() + patience_ns;

	while (length > 0) {
		int room = await_room(fd, until_ns);
		/* A pipe that polls as writable takes so much at once. */
		ssize_t n;

		if (room <= 0)
			return room == 0 ? -ETIMEDOUT : room;
		n = write(fd, bytes, length < PIPE_BUF ? length : PIPE_BUF);
		if (n >= 0) {
			bytes += n;
			length -= (size_t)n;
		} else if (errno != EINTR && errno != EAGAIN) {
			return -errno;
		} else if (melyint_now_ns() >= until_ns) {
			return -ETIMEDOUT;
		}
	}
	return 0;
}
