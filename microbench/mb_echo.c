/* SPDX-License-Identifier: MIT */
/*
 * mb_echo.c: the load of the echo benchmark, and the bare server, a lower bound for every other:
 * one epoll loop per thread, with the connections distributed round-robin.
 *
 * A request repeats its number; the answer must be identical. Where load and server share the
 * processors, requests a second depend on the load as much as on the server, so the figure that
 * counts is the processor time of the server's process.
 */
#include "mb_echo.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	READY_MAX = 256,
	WORDS = MB_ECHO_BYTES / (int)sizeof(uint64_t)
};

/* ---- sockets ------------------------------------------------------------------------------ */

static int
listener(struct sockaddr_in *address)
{
	socklen_t length = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	memset(address, 0, sizeof(*address));
	address->sin_family = AF_INET;
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)address, sizeof(*address)) != 0 ||
	    listen(fd, SOMAXCONN) != 0 ||
	    getsockname(fd, (struct sockaddr *)address, &length) != 0)
		mb_fail("a listening socket", errno);
	return fd;
}

static int
dial(const struct sockaddr_in *address)
{
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
		mb_fail("a connection", errno);
	return fd;
}

static void
epoll_add(int epoll, int fd, void *data)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = data};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		mb_fail("epoll_ctl", errno);
}

/* ---- the load ----------------------------------------------------------------------------- */

/* One connection; counted by its thread, read by the measuring one. */
struct caller {
	_Alignas(128) _Atomic uint64_t count; /* answers */
	int fd;
	size_t got; /* bytes of the answer so far */
	uint64_t answer[WORDS];
};

struct load {
	struct caller *callers; /* of this thread */
	int count;
	int epoll;
	pthread_t thread;
};

/* When to end; set before the threads of the load start, but for ending. */
static struct {
	atomic_bool ending;     /* at once */
	uint64_t limit;         /* answers of a connection until it ends; 0: no limit */
	struct mb_fixed *fixed; /* with a limit: counts the connections that have reached it */
} end;

static void
request(struct caller *caller)
{
	uint64_t words[WORDS];
	int i;

	for (i = 0; i < WORDS; i++)
		/* Relaxed: ours. */
		words[i] = atomic_load_explicit(&caller->count, memory_order_relaxed);
	caller->got = 0;
	if (send(caller->fd, words, sizeof(words), MSG_NOSIGNAL) != (ssize_t)sizeof(words))
		mb_fail("a request", errno);
}

static void
answer(struct caller *caller)
{
	/* Relaxed: ours. */
	uint64_t count = atomic_load_explicit(&caller->count, memory_order_relaxed);
	ssize_t n = recv(caller->fd, (char *)caller->answer + caller->got,
	    MB_ECHO_BYTES - caller->got, 0);
	int i;

	if (n <= 0)
		mb_fail("the server closed a connection", n < 0 ? errno : 0);
	caller->got += (size_t)n;
	if (caller->got < MB_ECHO_BYTES)
		return;
	for (i = 0; i < WORDS; i++) {
		if (caller->answer[i] != count)
			mb_fail("an answer is not its request", 0);
	}
	/* Relaxed: a recent value will do for the measuring thread (caller_count). */
	atomic_store_explicit(&caller->count, count + 1, memory_order_relaxed);
	if (count + 1 == end.limit)
		mb_fixed_done(end.fixed);
	else
		request(caller);
}

static void *
load_run(void *arg)
{
	struct load *load = arg;
	struct epoll_event ready[READY_MAX];
	int i, n;

	for (i = 0; i < load->count; i++)
		request(&load->callers[i]);
	/* Relaxed: the word publishes no other data. */
	while (!atomic_load_explicit(&end.ending, memory_order_relaxed)) {
		n = epoll_wait(load->epoll, ready, READY_MAX, 100);
		for (i = 0; i < n; i++)
			answer(ready[i].data.ptr);
	}
	return NULL;
}

static void
load_start(struct load *load)
{
	int i, err;

	load->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (load->epoll < 0)
		mb_fail("epoll_create1", errno);
	for (i = 0; i < load->count; i++)
		epoll_add(load->epoll, load->callers[i].fd, &load->callers[i]);
	err = pthread_create(&load->thread, NULL, load_run, load);
	if (err != 0)
		mb_fail("pthread_create", err);
}

/* ---- the server's process ----------------------------------------------------------------- */

struct server {
	pid_t pid;
	int end_fd; /* closed: it ends */
	clockid_t clock;
};

static void
server_start(struct server *server, void (*serve)(int lfd, int end_fd), int lfd)
{
	int fds[2], err;

	fflush(stdout);
	if (pipe(fds) != 0)
		mb_fail("pipe", errno);
	server->pid = fork();
	if (server->pid < 0)
		mb_fail("fork", errno);
	if (server->pid == 0) {
		close(fds[1]);
		serve(lfd, fds[0]);
		exit(0);
	}
	close(fds[0]);
	server->end_fd = fds[1];
	err = clock_getcpuclockid(server->pid, &server->clock);
	if (err != 0)
		mb_fail("clock_getcpuclockid", err);
}

/* Processor time of all its threads. */
static double
server_cpu_s(const struct server *server)
{
	struct timespec ts;

	if (clock_gettime(server->clock, &ts) != 0)
		mb_fail("the server's processor time", errno);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void
server_end(struct server *server)
{
	int status;

	close(server->end_fd);
	while (waitpid(server->pid, &status, 0) < 0) {
		if (errno != EINTR)
			mb_fail("waitpid", errno);
	}
	if (status != 0)
		mb_fail("the server failed", 0);
}

/* ---- one run ------------------------------------------------------------------------------ */

struct run {
	const struct mb_echo *echo;
	void (*serve)(int lfd, int end_fd);
};

static uint64_t
caller_count(void *ctx, int i)
{
	/* Relaxed: pairs with the store in answer. */
	return atomic_load_explicit(&((struct caller *)ctx)[i].count, memory_order_relaxed);
}

/* The server's processor time and requests a second, over the window or over all its work. */
static void
measure(const struct mb_echo *echo, const struct server *server, struct caller *callers,
    struct mb_sample *out)
{
	struct mb_window window = {
		.read = caller_count,
		.ctx = callers,
		.count = echo->connections,
		.seconds = echo->opt->seconds,
	};
	double cpu;

	if (end.fixed == NULL)
		mb_nap(MB_WARMUP_S);
	cpu = server_cpu_s(server);
	if (end.fixed != NULL)
		mb_fixed_measure(end.fixed, end.limit * (uint64_t)echo->connections, out);
	else
		mb_window_measure(&window, out);
	cpu = server_cpu_s(server) - cpu;
	if (!(out->events > 0))
		mb_fail("no request was answered", 0);
	out->requests = out->value;
	out->cpu_ns = NAN; /* of the load, here */
	out->value = cpu / out->events * 1e6;
}

/* Connect, deal the connections out to the threads of the load, and let them go. */
static void
loads_start(struct load *loads, int threads, struct caller *callers, int connections,
    const struct sockaddr_in *address)
{
	int i, first, next;

	for (i = 0; i < connections; i++)
		callers[i].fd = dial(address);
	if (end.fixed != NULL)
		mb_fixed_begin(end.fixed);
	for (i = first = 0; i < threads; i++, first = next) {
		next = connections * (i + 1) / threads;
		loads[i].callers = callers + first;
		loads[i].count = next - first;
		load_start(&loads[i]);
	}
}

static void
loads_end(struct load *loads, int threads, struct caller *callers, int connections)
{
	int i;

	/* Relaxed: see load_run. */
	atomic_store_explicit(&end.ending, true, memory_order_relaxed);
	for (i = 0; i < threads; i++) {
		pthread_join(loads[i].thread, NULL);
		close(loads[i].epoll);
	}
	for (i = 0; i < connections; i++)
		close(callers[i].fd);
}

static void
run_once(void *ctx, struct mb_sample *out)
{
	const struct run *run = ctx;
	const struct mb_echo *echo = run->echo;
	uint64_t connections = (uint64_t)echo->connections;
	struct caller *callers = aligned_alloc(_Alignof(struct caller),
	    sizeof(*callers) * connections);
	struct load *loads = calloc((size_t)echo->load_threads, sizeof(*loads));
	struct sockaddr_in address;
	struct server server;
	int lfd = listener(&address);

	if (loads == NULL || callers == NULL)
		mb_fail("malloc", ENOMEM);
	memset(callers, 0, sizeof(*callers) * connections);
	if (echo->opt->events > 0) {
		end.limit = (echo->opt->events + connections - 1) / connections;
		end.fixed = mb_fixed_new(echo->connections);
	}
	server_start(&server, run->serve, lfd);
	close(lfd);
	loads_start(loads, echo->load_threads, callers, echo->connections, &address);
	out->cores = echo->cores;
	measure(echo, &server, callers, out);
	loads_end(loads, echo->load_threads, callers, echo->connections);
	server_end(&server);
	if (end.fixed != NULL)
		mb_fixed_free(end.fixed);
	free(callers);
	free(loads);
}

/* ---- the bare loop ------------------------------------------------------------------------ */

static struct {
	int threads;
	int *epolls;
	int lfd, end_fd;
	int accepted;
} bare;

static void
bare_accept(void)
{
	int fd;

	while ((fd = accept4(bare.lfd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		epoll_add(bare.epolls[bare.accepted++ % bare.threads], fd, (void *)(intptr_t)fd);
}

static void
bare_echo(int fd)
{
	char buffer[4096];
	ssize_t n = recv(fd, buffer, sizeof(buffer), 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0 || send(fd, buffer, (size_t)n, MSG_NOSIGNAL) != n)
		close(fd);
}

static void *
bare_loop(void *arg)
{
	int epoll = *(int *)arg, n, i, fd;
	struct epoll_event ready[READY_MAX];

	for (;;) {
		n = epoll_wait(epoll, ready, READY_MAX, -1);
		for (i = 0; i < n; i++) {
			fd = (int)(intptr_t)ready[i].data.ptr;
			if (fd == bare.lfd)
				bare_accept();
			else if (fd == bare.end_fd)
				_exit(0); /* with it the other threads, wherever they are */
			else
				bare_echo(fd);
		}
	}
	return NULL;
}

static void
bare_serve(int lfd, int end_fd)
{
	pthread_t thread;
	int i, err;

	bare.lfd = lfd;
	bare.end_fd = end_fd;
	bare.epolls = calloc((size_t)bare.threads, sizeof(*bare.epolls));
	if (bare.epolls == NULL)
		mb_fail("calloc", errno);
	for (i = 0; i < bare.threads; i++) {
		bare.epolls[i] = epoll_create1(EPOLL_CLOEXEC);
		if (bare.epolls[i] < 0)
			mb_fail("epoll_create1", errno);
	}
	epoll_add(bare.epolls[0], lfd, (void *)(intptr_t)lfd);
	epoll_add(bare.epolls[0], end_fd, (void *)(intptr_t)end_fd);
	for (i = 1; i < bare.threads; i++) {
		err = pthread_create(&thread, NULL, bare_loop, &bare.epolls[i]);
		if (err != 0)
			mb_fail("pthread_create", err);
	}
	bare_loop(&bare.epolls[0]);
}

/* ---- the benchmark ------------------------------------------------------------------------ */

void
mb_echo_bench(const struct mb_echo *echo, const char *variant)
{
	struct run runs[] = {{echo, echo->serve}, {echo, bare_serve}};
	const char *peers[] = {"mely", "bare-epoll"};
	struct mb_series series[2];
	struct mb_sample sample;
	int i, r, count = echo->bare ? 2 : 1;

	bare.threads = echo->cores;
	for (i = 0; i < count; i++)
		mb_series_init(&series[i], echo->name, peers[i], "us CPU/request",
		    echo->connections, echo->opt->runs);
	series[0].variant = variant;
	if (echo->opt->events > 0)
		series[0].variant = series[count - 1].variant = "fixed work";
	for (r = 0; r < echo->opt->runs; r++) {
		for (i = 0; i < count; i++) {
			mb_child_run(run_once, &runs[i], echo->opt->seconds, false, &sample, 1);
			mb_series_add(&series[i], &sample);
		}
	}
	if (echo->bare)
		series[0].ratio = mb_series_median(&series[0]) / mb_series_median(&series[1]);
	for (i = 0; i < count; i++)
		mb_series_report(&series[i], echo->opt->json);
}
