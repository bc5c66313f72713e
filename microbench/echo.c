/* SPDX-License-Identifier: MIT */
/*
 * echo: a server on descriptor watchers, a color object for each connection, and what a request
 * of 64 bytes costs it in processor time, beside a bare epoll loop that does the same.
 */
#include "mb_echo.h"
#include "mb_mely.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LOAD_THREADS = 2 };

struct connection {
	MB_APART struct mely_color color;
	mely_watch watch;
	int fd;
};

/* Of the server's process; written before the runtime runs and then by color 0, the acceptor's. */
static struct server {
	struct mely_runtime *rt;
	struct connection *connections;
	int accepted;
	int lfd, end_fd;
	mely_watch watch;
	struct mb_echo echo;
	bool skewed, alone;
} server;

/* ---- handlers ----------------------------------------------------------------------------- */

static void
echo_request(void *arg)
{
	struct connection *connection = arg;
	char buffer[4096];
	ssize_t n = recv(connection->fd, buffer, sizeof(buffer), 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		mb_must(mely_fd_close(server.rt, connection->fd), "mely_fd_close");
		return;
	}
	/* One request is under way at most, so that the answer fits into the socket. */
	if (send(connection->fd, buffer, (size_t)n, MSG_NOSIGNAL) != n)
		mb_must(mely_fd_close(server.rt, connection->fd), "mely_fd_close");
	else if ((size_t)n < sizeof(buffer))
		mely_fd_drained();
}

static struct mely_handler request_handler = MELY_HANDLER(echo_request);

static void
echo_accept(void *arg)
{
	struct connection *connection;
	int fd, core;

	(void)arg;
	while ((fd = accept4(server.lfd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		if (server.accepted == server.echo.connections)
			mb_fail("more connections than the load makes", 0);
		core = server.skewed ? 0 : server.accepted % mely_cores(server.rt);
		connection = &server.connections[server.accepted++];
		connection->fd = fd;
		mb_must(mely_color_init_on(&connection->color, server.rt, core),
		    "mely_color_init_on");
		mb_must(mely_fd_watch(&connection->color, fd, MELY_FD_READ, &request_handler,
		    connection, &connection->watch), "mely_fd_watch");
	}
	if (errno != EAGAIN && errno != ECONNABORTED)
		mb_fail("accept4", errno);
}

static struct mely_handler accept_handler = MELY_HANDLER(echo_accept);

/* ---- a run -------------------------------------------------------------------------------- */

/* End of file: the load has finished. */
static void
wait_end(void *ctx)
{
	char byte;

	(void)ctx;
	while (read(server.end_fd, &byte, 1) < 0 && errno == EINTR)
		;
}

static void
serve(int lfd, int end_fd)
{
	struct mely_color *color;

	server.lfd = lfd;
	server.end_fd = end_fd;
	server.rt = mb_runtime_new(server.echo.opt->cores);
	server.connections = mb_array((size_t)server.echo.connections,
	    sizeof(*server.connections), _Alignof(struct connection));
	mb_must(mely_color_of_id(server.rt, 0, &color), "mely_color_of_id");
	mb_must(mely_fd_watch(color, lfd, MELY_FD_READ, &accept_handler, NULL, &server.watch),
	    "mely_fd_watch");
	mb_runtime_run(server.rt, wait_end, NULL);
	free(server.connections);
}

int
main(int argc, char **argv)
{
	static const struct mb_switch switches[] = {
		{"skewed", "all connections on core 0 at the start (default: distributed)",
		    &server.skewed},
		{"alone", "without the bare epoll loop", &server.alone},
		{0},
	};
	static const struct mb_program program = {
		.name = "echo",
		.what = "An echo server with a color for each connection. Each of K loopback\n"
		    "connections sends 64 bytes as soon as the last 64 have returned. Reports\n"
		    "the processor time of the server's process for a request, in microseconds,\n"
		    "and requests a second. Runs of a bare epoll loop with as many threads\n"
		    "alternate with them; the ratio is to that loop. Two threads make the load,\n"
		    "on the same processors.",
		.colors_help = "connections",
		.colors_default = 64,
		.colors_max = 10000,
		.seconds_default = 1,
		.has_events = true,
		.switches = switches,
	};
	struct mb_options opt;
	int i;

	mb_options_parse(&program, argc, argv, &opt);
	server.echo.name = program.name;
	server.echo.opt = &opt;
	server.echo.cores = mb_runtime_cores(opt.cores);
	server.echo.bare = !server.alone;
	server.echo.serve = serve;
	for (i = 0; i < opt.colors_count; i++) {
		server.echo.connections = opt.colors[i];
		server.echo.load_threads = opt.colors[i] < LOAD_THREADS ? 1 : LOAD_THREADS;
		mb_echo_bench(&server.echo, server.skewed ? "skewed" : NULL);
	}
	return 0;
}
