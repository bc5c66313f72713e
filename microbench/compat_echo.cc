/* SPDX-License-Identifier: MIT */
/*
 * compat-echo: the server of echo, written as a program of dialect "mely": fdcb, and a color for
 * each connection.
 */
#include "mely.h"

#include <sys/socket.h>

#include "mb_echo.h"

static struct {
	mb_options opt;
	mb_echo echo;
	bool alone;
} bench;

static void
echo_request(int fd)
{
	char buffer[4096];
	ssize_t n = recv(fd, buffer, sizeof buffer, 0);

	if (n < 0 && errno == EAGAIN)
		return;
	/* One request is under way at most, so that the answer fits into the socket. */
	if (n > 0 && send(fd, buffer, n, MSG_NOSIGNAL) == n)
		return;
	fdcb(fd, selread, NULL);
	close(fd);
}

static void
echo_accept(int listener)
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		fdcb(fd, selread, cwrap(echo_request, fd, fd));
	if (errno != EAGAIN && errno != ECONNABORTED)
		mb_fail("accept4", errno);
}

static void *
main_of_program(void *)
{
	amain();
	return NULL;
}

/* The process of the server ends with the program still running. */
static void
serve(int listener, int end_fd)
{
	pthread_t thread;
	char byte;

	melycompat_init(bench.opt.cores); /* as -DNB_THREADS does */
	fdcb(listener, selread, wrap(echo_accept, listener));
	if (pthread_create(&thread, NULL, main_of_program, NULL) != 0)
		mb_fail("pthread_create", errno);
	while (read(end_fd, &byte, 1) < 0 && errno == EINTR)
		;
}

int
main(int argc, char **argv)
{
	static const mb_switch switches[] = {
		{"alone", "without the bare epoll loop", &bench.alone},
		{NULL, NULL, NULL},
	};
	mb_program program = mb_program();

	program.name = "compat-echo";
	program.what = "An echo server of the old interface, as echo otherwise.";
	program.colors_help = "connections";
	program.colors_default = 64;
	program.colors_max = 10000;
	program.seconds_default = 1;
	program.has_events = true;
	program.switches = switches;
	mb_options_parse(&program, argc, argv, &bench.opt);
	if (bench.opt.cores > 0)
		melycompat_init(bench.opt.cores);
	bench.echo.name = program.name;
	bench.echo.opt = &bench.opt;
	bench.echo.cores = task_get_nthreads();
	bench.echo.bare = !bench.alone;
	bench.echo.serve = serve;
	for (int i = 0; i < bench.opt.colors_count; i++) {
		bench.echo.connections = bench.opt.colors[i];
		bench.echo.load_threads = bench.opt.colors[i] < 2 ? 1 : 2;
		mb_echo_bench(&bench.echo, NULL);
	}
	return 0;
}
