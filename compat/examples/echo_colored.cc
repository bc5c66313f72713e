/* SPDX-License-Identifier: MIT */
/*
 * echo_colored.cc: the server of echo.cc with colors: each connection has its own color, its
 * descriptor, so connections are served in parallel. The count they share keeps color 0.
 *
 *     echo_colored PORT [CONNECTIONS [SECONDS]]
 *
 * PORT 0 selects a free one. The server ends after CONNECTIONS connections, and closes a connection
 * that makes no progress for SECONDS; without these arguments it does neither.
 */
#include "mely.h"
#include "listen.h"

#include <sys/socket.h>
#include <unistd.h>

class connection
{
public:
	connection(int accepted) : fd(accepted), length(0), written(0), timer(NULL) {}

	void
	begin()
	{
		be_patient();
		fdcb(fd, selread, cwrap(this, &connection::readable, fd));
	}

	static int closed, closed_max, patience_s;

private:
	int fd;
	char buffer[16384];
	ssize_t length, written;
	timecb_t *timer;

	/* The peer has sent data: read it and send it back. */
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
		be_patient();
		if (send_rest())
			return;
		fdcb(fd, selread, NULL);
		fdcb(fd, selwrite, cwrap(this, &connection::writable, fd));
	}

	void
	writable()
	{
		if (!send_rest())
			return;
		fdcb_finished(true);
		fdcb(fd, selread, cwrap(this, &connection::readable, fd));
	}

	/* True after the last byte, or an error. */
	bool
	send_rest()
	{
		ssize_t n = write(fd, buffer + written, length - written);

		if (n > 0) {
			written += n;
			be_patient();
		}
		return written == length || (n < 0 && errno != EAGAIN);
	}

	void
	be_patient()
	{
		if (patience_s == 0)
			return;
		timecb_remove(timer);
		timer = delaycb(patience_s, 0, cwrap(this, &connection::out_of_patience, fd));
	}

	void
	out_of_patience()
	{
		timer = NULL;
		finish();
	}

	void
	finish()
	{
		timecb_remove(timer);
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

int connection::closed, connection::closed_max, connection::patience_s;

static void
accept_one(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		if (errno != EAGAIN && errno != ECONNABORTED)
			PRINT_ALERT("accept: %s\n", strerror(errno));
		return;
	}
	cpucb_tail(cwrap(new connection(fd), &connection::begin, fd));
}

int
main(int argc, char **argv)
{
	if (argc < 2 || argc > 4) {
		fprintf(stderr, "usage: %s PORT [CONNECTIONS [SECONDS]]\n", argv[0]);
		return 2;
	}
	if (argc > 2)
		connection::closed_max =
		    number_argument(argv[0], "CONNECTIONS", argv[2], COUNT_MAX);
	if (argc > 3)
		connection::patience_s = number_argument(argv[0], "SECONDS", argv[3], COUNT_MAX);
	int listener = listen_on("echo", number_argument(argv[0], "PORT", argv[1], PORT_MAX));
	fdcb(listener, selread, wrap(accept_one, listener));
	amain();
}
