/* SPDX-License-Identifier: MIT */
/*
 * http_bare.c: a lower bound for every web server: each thread has a listening socket
 * (SO_REUSEPORT) and an epoll loop that reads, counts one request for each empty line, and writes
 * a fixed answer for each. It does no parsing and has no files or deadlines.
 *
 *   http_bare [--port N] [--threads N] [--body BYTES] [--edge]
 *
 * --edge watches connections edge-triggered instead of level-triggered, as nginx does.
 */
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 512
#define BODY_MAX 65536
#define PIPELINE_MAX 64

static char *answers;      /* PIPELINE_MAX times the canned answer */
static size_t answer_len;
static int port = 8081;
static bool edge;

static void
fail(const char *what)
{
	perror(what);
	exit(1);
}

static void
make_answer(size_t body)
{
	char head[512];
	int n = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\n"
	    "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nServer: bare\r\n"
	    "Content-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n"
	    "Last-Modified: Thu, 01 Jan 1970 00:00:00 GMT\r\nETag: \"0123456789abcdef\"\r\n\r\n",
	    body);

	answer_len = (size_t)n + body;
	answers = malloc(PIPELINE_MAX * answer_len);
	if (answers == NULL)
		fail("malloc");
	memset(answers, 'x', PIPELINE_MAX * answer_len);
	for (size_t i = 0; i < PIPELINE_MAX; i++)
		memcpy(answers + i * answer_len, head, (size_t)n);
}

static int
listener(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0
	    || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0
	    || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0
	    || bind(fd, (struct sockaddr *)&addr, sizeof addr) != 0 || listen(fd, SOMAXCONN) != 0)
		fail("listen");
	return fd;
}

static void
accept_all(int ep, int lfd)
{
	int fd;

	while ((fd = accept4(lfd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct epoll_event ev = {
			.events = EPOLLIN | (edge ? EPOLLET | EPOLLRDHUP : 0), .data.fd = fd
		};

		if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) != 0)
			close(fd);
	}
}

static void
serve(int fd)
{
	char in[16384];
	ssize_t n = read(fd, in, sizeof in - 1);
	size_t requests = 0;
	const char *p;

	if (n <= 0) {
		if (n == 0 || errno != EAGAIN)
			close(fd);
		return;
	}
	in[n] = '\0';
	for (p = in; (p = strstr(p, "\r\n\r\n")) != NULL; p += 4)
		requests++;
	while (requests > 0) {
		size_t now = requests < PIPELINE_MAX ? requests : PIPELINE_MAX;

		if (write(fd, answers, now * answer_len) != (ssize_t)(now * answer_len)) {
			close(fd);
			return;
		}
		requests -= now;
	}
}

static void *
loop(void *arg)
{
	struct epoll_event events[EVENTS], ev = {.events = EPOLLIN};
	int lfd = *(int *)arg, ep = epoll_create1(EPOLL_CLOEXEC);

	ev.data.fd = lfd;
	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, lfd, &ev) != 0)
		fail("epoll");
	for (;;) {
		int n = epoll_wait(ep, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == lfd)
				accept_all(ep, lfd);
			else
				serve(events[i].data.fd);
		}
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{"port", required_argument, NULL, 'p'}, {"threads", required_argument, NULL, 't'},
		{"body", required_argument, NULL, 'b'}, {"edge", no_argument, NULL, 'e'},
		{NULL, 0, NULL, 0}
	};
	size_t body = 1024;
	int threads = 2, c, fds[256];
	pthread_t thread;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'p')
			port = atoi(optarg);
		else if (c == 't')
			threads = atoi(optarg);
		else if (c == 'b')
			body = strtoul(optarg, NULL, 10);
		else if (c == 'e')
			edge = true;
		else
			return 2;
	}
	if (threads < 1 || threads > 256 || body > BODY_MAX)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	make_answer(body);
	for (int i = 0; i < threads; i++)
		fds[i] = listener();
	printf("http_bare: port %d\n", port);
	fflush(stdout);
	for (int i = 1; i < threads; i++)
		if (pthread_create(&thread, NULL, loop, &fds[i]) != 0)
			fail("pthread_create");
	loop(&fds[0]);
	return 0;
}
