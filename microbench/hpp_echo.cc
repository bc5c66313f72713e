/* SPDX-License-Identifier: MIT */
/*
 * hpp-echo: the server of echo, written with the C++ interface: a color object, a descriptor
 * watcher and a closure for each connection.
 */
#include <cerrno>
#include <memory>

#include <sys/socket.h>
#include <unistd.h>

#include <mely/mely.hpp>

#include "mb_echo.h"
#include "mb_mely.h"

namespace {

struct {
	mb_options opt;
	mb_echo echo;
	bool alone;
} bench;

struct settings : mely::config {
	settings()
	{
		if (bench.opt.cores > 0)
			cores = bench.opt.cores;
	}
};

struct connection {
	mely::color color;
	int fd;
	mely::fd_watcher readable;

	connection(mely::runtime &rt, int core, int socket)
	    : color(rt, core), fd(socket),
	      readable(color, fd, MELY_FD_READ, [this] { on_request(); })
	{
	}

	~connection() { close(fd); }

	void on_request();
};

void
connection::on_request()
{
	char buffer[4096];
	ssize_t n = recv(fd, buffer, sizeof buffer, 0);

	if (n < 0 && errno == EAGAIN)
		return;
	/* One request is under way at most, so that the answer fits into the socket. */
	if (n <= 0 || send(fd, buffer, static_cast<std::size_t>(n), MSG_NOSIGNAL) != n) {
		readable.stop();
		color.release([this] { delete this; });
	} else if (static_cast<std::size_t>(n) < sizeof buffer) {
		mely_fd_drained();
	}
}

void
wait_end(void *arg)
{
	char byte;

	while (read(*static_cast<int *>(arg), &byte, 1) < 0 && errno == EINTR)
		;
}

void
serve(int listener, int end_fd)
{
	mely::runtime rt{settings()};
	int accepted = 0;

	{
		mely::fd_watcher acceptor(rt.color_of(0), listener, MELY_FD_READ, [&] {
			int fd;

			while ((fd = accept4(listener, nullptr, nullptr,
				    SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
				new connection(rt, accepted++ % rt.cores(), fd);
			if (errno != EAGAIN && errno != ECONNABORTED)
				mb_fail("accept4", errno);
		});
		/* It frees the runtime; the process of the server ends with its connections. */
		mb_runtime_run(rt.get(), wait_end, &end_fd);
		_exit(0);
	}
}

} // namespace

int
main(int argc, char **argv)
{
	static const mb_switch switches[] = {
		{"alone", "without the bare epoll loop", &bench.alone},
		{nullptr, nullptr, nullptr},
	};
	mb_program program = mb_program();

	program.name = "hpp-echo";
	program.what = "An echo server with the C++ interface, as echo otherwise.";
	program.colors_help = "connections";
	program.colors_default = 64;
	program.colors_max = 10000;
	program.seconds_default = 1;
	program.has_events = true;
	program.switches = switches;
	mb_options_parse(&program, argc, argv, &bench.opt);
	bench.echo.name = program.name;
	bench.echo.opt = &bench.opt;
	bench.echo.cores = mb_runtime_cores(bench.opt.cores);
	bench.echo.bare = !bench.alone;
	bench.echo.serve = serve;
	for (int i = 0; i < bench.opt.colors_count; i++) {
		bench.echo.connections = bench.opt.colors[i];
		bench.echo.load_threads = bench.opt.colors[i] < 2 ? 1 : 2;
		mb_echo_bench(&bench.echo, nullptr);
	}
	return 0;
}
