/* SPDX-License-Identifier: MIT */
/*
 * echo_colored.cc: the server of echo.cc with colors: each connection has its own, its descriptor,
 * so that two of them are served in parallel. What they share, a count, is of color 0 still.
 *
 *     echo_colored PORT [CONNECTIONS]
 *
 * PORT 0 stands for a free one. Ends after so many connections.
 */
#include "mely.h"
#include "listen.h"
#include "number.h"

#include <sys/socket.h>
#include <unistd.h>

class connection
{
public:
	connection(int accepted) : fd(accepted), length(0), written(0) {}

	/* The peer has sent something: read it, and go on when it has been sent back. */
	void
	readable()
	{
		ssize_t n = read(fd, buffer, sizeof buffer);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			finish();
			return;
		}
		length = n;
		written = 0;
		if (send_rest())
			return;
		fdcb(fd, selread, NULL);
		fdcb(fd, selwrite, cwrap(this, &connection::writable, fd));
	}

	static int closed, closed_max;

private:
	int fd;
	char buffer[16384];
	ssize_t length, written;

	void
	writable()
	{
		if (!send_rest())
			return;
		fdcb_finished(true);
		fdcb(fd, selread, cwrap(this, &connection::readable, fd));
	}

	/* True when all has been sent, or nothing more can be. */
	bool
	send_rest()
	{
		ssize_t n = write(fd, buffer + written, length - written);

		if (n > 0)
			written += n;
		return written == length || (n < 0 && errno != EAGAIN);
	}

	void
	finish()
	{
		fdcb(fd, selread, NULL);
		fdcb(fd, selwrite, NULL);
		close(fd);
		delete this;
		cpucb_tail(wrap(count_closed));
	}

	static void
	count_closed()
	{
		if (++closed == closed_max) {
			printf("%d connections\n", closed);
			exit(0);
		}
	}
};

int connection::closed, connection::closed_max;

static void
accept_one(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		if (errno != EAGAIN && errno != ECONNABORTED)
			PRINT_ALERT("accept: %s\n", strerror(errno));
		return;
	}
	fdcb(fd, selread, cwrap(new connection(fd), &connection::readable, fd));
}

int
main(int argc, char **argv)
{
	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: %s PORT [CONNECTIONS]\n", argv[0]);
		return 2;
	}
	if (argc > 2)
		connection::closed_max =
		    number_argument(argv[0], "CONNECTIONS", argv[2], COUNT_MAX);
	int listener = listen_on("echo", number_argument(argv[0], "PORT", argv[1], PORT_MAX));
	fdcb(listener, selread, wrap(accept_one, listener));
	amain();
}
