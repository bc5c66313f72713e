/* SPDX-License-Identifier: MIT */
/*
 * async_echo_colored.cc: the server of async_echo.cc with colors: each connection has its own
 * color, its descriptor, so connections are served in parallel. The count they share keeps color 0.
 *
 *     async_echo_colored PORT [CONNECTIONS]
 *
 * PORT 0 selects a free one. SIGTERM ends the server, and the end of its CONNECTIONS-th connection.
 */
#include "async.h"
#include "listen.h"

class connection
{
public:
	connection(int accepted) : fd(accepted)
	{
		make_async(fd);
		wait_for_input();
	}

	static int closed, closed_max;

private:
	int fd;
	suio data;

	void
	wait_for_input()
	{
		fdcb(fd, selwrite, NULL);
		fdcb(fd, selread, cwrap(this, &connection::readable, fd));
	}

	/* The peer has sent data: read it, and read on after sending it back. */
	void
	readable()
	{
		int n = data.input(fd);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			finish();
			return;
		}
		fdcb(fd, selread, NULL);
		fdcb(fd, selwrite, cwrap(this, &connection::writable, fd));
	}

	void
	writable()
	{
		if (data.output(fd) < 0)
			finish();
		else if (data.resid() == 0)
			wait_for_input();
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
	int fd = accept(listener, NULL, NULL);

	if (fd >= 0)
		vNew connection(fd);
	else if (errno != EAGAIN && errno != ECONNABORTED)
		warn("accept: %m\n");
}

int
main(int argc, char **argv)
{
	setprogname(argv[0]);
	if (argc < 2 || argc > 3 || argv[1][0] == '-') {
		fprintf(stderr, "usage: %s PORT [CONNECTIONS]\n", argv[0]);
		return 2;
	}
	if (argc > 2)
		connection::closed_max =
		    number_argument(argv[0], "CONNECTIONS", argv[2], COUNT_MAX);
	int listener = listen_on("echo", number_argument(argv[0], "PORT", argv[1], PORT_MAX));
	fdcb(listener, selread, wrap(accept_one, listener));
	sigcb(SIGTERM, wrap(exit, 0));
	amain();
}
