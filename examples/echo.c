/* SPDX-License-Identifier: MIT */
/*
 * echo.c: an echo server with a color object for each connection. Connections run in parallel, but
 * never two handlers of one connection, without a lock. Reading and writing take turns, so
 * that a slow reader holds up only itself. A connection closes its color, and so do those that are
 * open when SIGTERM begins a drain.
 *
 *     echo [PORT [CONNECTIONS]]    on 127.0.0.1; port 0 (default) takes a free one, which is
 *                                  printed; ends after that number of connections, or on SIGTERM
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <mely/mely.h>

struct connection {
	struct mely_color color;
	struct mely_event closed;
	int fd;
	mely_watch reading, writing;
	size_t length, sent; /* of the bytes to send back */
	char buffer[16384];
};

/* Data of color 1, in which the listening socket is watched. */
static struct {
	int fd, spare;
	mely_watch watch, term;
	long connections_max, accepted, closed;
} server;

static struct mely_runtime *rt;
static struct mely_color *server_color;

static void
on_closed(void *arg)
{
	(void)arg;
	if (++server.closed == server.connections_max)
		mely_stop(rt, MELY_STOP_DRAIN);
}

static struct mely_handler closed = MELY_HANDLER(on_closed);

/* The color's last event has ended: the memory is ours again. */
static void
connection_free(void *arg)
{
	free(arg);
}

/* Its watchers have ended. */
static void
on_connection_closed(void *arg)
{
	struct connection *c = arg;

	close(c->fd);
	mely_post(server_color, &closed, NULL);
	mely_color_release(&c->color, connection_free, c);
}

static struct mely_handler connection_closed = MELY_HANDLER(on_connection_closed);

/* In any of its handlers, also when a drain begins. A second call does no harm. */
static void
connection_close(void *arg)
{
	struct connection *c = arg;

	(void)mely_color_close(&c->color, &c->closed);
}

static struct mely_handler draining = MELY_HANDLER(connection_close);

/* Send what waits; what does not fit waits until the socket is writable. */
static void
connection_send(struct connection *c)
{
	while (c->sent < c->length) {
		ssize_t n = send(c->fd, c->buffer + c->sent, c->length - c->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			connection_close(c);
			return;
		}
		c->sent += (size_t)n;
	}
	if (c->sent == c->length)
		c->length = c->sent = 0;
	mely_watch_enable(rt, c->writing, c->length > 0);
	mely_watch_enable(rt, c->reading, c->length == 0);
}

static void
on_readable(void *arg)
{
	struct connection *c = arg;
	ssize_t n = recv(c->fd, c->buffer, sizeof c->buffer, 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		connection_close(c);
		return;
	}
	c->length = (size_t)n;
	connection_send(c);
}

static void
on_writable(void *arg)
{
	connection_send(arg);
}

static struct mely_handler readable = MELY_HANDLER(on_readable);
static struct mely_handler writable = MELY_HANDLER(on_writable);

/* The first event of a connection, in its own color: everything else happens in that color. */
static void
on_open(void *arg)
{
	struct connection *c = arg;

	if (mely_drain_watch(&c->color, &draining, c, NULL) != 0 ||
	    mely_fd_watch(&c->color, c->fd, MELY_FD_WRITE | MELY_FD_SUSPENDED, &writable, c,
	    &c->writing) != 0 ||
	    mely_fd_watch(&c->color, c->fd, MELY_FD_READ, &readable, c, &c->reading) != 0)
		connection_close(c);
}

static struct mely_handler opened = MELY_HANDLER(on_open);

/* There are no more descriptors. Accept a connection with the spare one, and close it: left in the
 * queue, it would make the socket readable for ever. */
static void
turn_away(void)
{
	close(server.spare);
	close(accept4(server.fd, NULL, NULL, SOCK_CLOEXEC));
	server.spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void
on_acceptable(void *arg)
{
	struct connection *c;
	int fd;

	(void)arg;
	fd = accept4(server.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE)
			turn_away();
		return;
	}
	c = aligned_alloc(64, sizeof *c);
	if (c == NULL || mely_color_init(&c->color, rt) != 0) {
		free(c);
		close(fd);
		return;
	}
	mely_event_init(&c->closed, &connection_closed, c);
	c->fd = fd;
	c->length = c->sent = 0;
	mely_post(&c->color, &opened, c);
	if (++server.accepted == server.connections_max)
		mely_watch_stop(rt, server.watch, NULL, NULL);
}

static void
on_term(void *arg)
{
	(void)arg;
	mely_stop(rt, MELY_STOP_DRAIN);
}

static struct mely_handler acceptable = MELY_HANDLER(on_acceptable);
static struct mely_handler term = MELY_HANDLER(on_term);

static int
listen_on(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t length = sizeof address;
	int on = 1;

	server.spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	server.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (server.fd < 0)
		return -1;
	setsockopt(server.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	address.sin_port = htons((uint16_t)port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(server.fd, (struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(server.fd, 128) != 0 ||
	    getsockname(server.fd, (struct sockaddr *)&address, &length) != 0)
		return -1;
	return ntohs(address.sin_port);
}

int
main(int argc, char **argv)
{
	int port = listen_on(argc > 1 ? atoi(argv[1]) : 0);

	if (port < 0) {
		perror("echo: listen");
		return 1;
	}
	server.connections_max = argc > 2 ? atol(argv[2]) : -1;
	if (mely_runtime_new(&rt, NULL) != 0 || mely_color_of_id(rt, 1, &server_color) != 0 ||
	    mely_signal_watch(server_color, SIGTERM, &term, NULL, &server.term) != 0 ||
	    mely_fd_watch(server_color, server.fd, MELY_FD_READ, &acceptable, NULL,
	    &server.watch) != 0)
		return 1;
	printf("echo on 127.0.0.1:%d\n", port);
	fflush(stdout);
	if (mely_run(rt) != 0)
		return 1;
	printf("%ld connections\n", server.accepted);
	if (server.closed != server.accepted)
		printf("%ld of them are still open\n", server.accepted - server.closed);
	close(server.fd);
	return mely_runtime_free(rt);
}
