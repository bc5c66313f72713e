/* SPDX-License-Identifier: MIT */
/*
 * notify.c: datagrams to the socket that NOTIFY_SOCKET names.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <mely/mely.h>

#include "base/assertion.h"
#include "base/policy.h"
#include "ops/notify.h"

/* Time until the next attempt when the service manager has no room. */
#define RETRY_NS UINT64_C(10000000)
/* How long the last messages wait for room. */
#define LAST_MS 1000

static void flush_fn(void *arg);

static struct mely_handler flush_handler = SWS_NOTIFY(flush_fn);

/* The descriptor of a socket that is connected to a path, or to "@NAME"; or a negative errno. */
static int
connect_to(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	size_t len = strlen(path);
	int fd, error;

	if ((path[0] != '/' && path[0] != '@') || len < 2 || len >= sizeof un.sun_path)
		return -EAFNOSUPPORT;
	memcpy(un.sun_path, path, len);
	if (path[0] == '@')
		un.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&un,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) == 0)
		return fd;
	error = errno;
	close(fd);
	return -error;
}

static uint64_t
read_watchdog(void)
{
	const char *pid = getenv("WATCHDOG_PID"), *usec = getenv("WATCHDOG_USEC");
	unsigned long long us = usec != NULL ? strtoull(usec, NULL, 10) : 0;

	/* Another process may have set them for itself. */
	if (pid != NULL && strtol(pid, NULL, 10) != getpid())
		us = 0;
	return us > 0 && us < UINT64_MAX / 1000 ? us * 1000 : 0;
}

void
sws_notify_init(struct sws_notify *n)
{
	const char *path = getenv("NOTIFY_SOCKET");

	*n = (struct sws_notify){.fd = -1};
	if (path == NULL)
		return;
	n->fd = connect_to(path);
	if (n->fd >= 0)
		n->watchdog_ns = read_watchdog();
	else
		fprintf(stderr, "sws: NOTIFY_SOCKET=%s: %s\n", path, strerror(-n->fd));
}

/* True: sent, or not to be sent at all. False: there is no room. */
static bool
send_text(const struct sws_notify *n, const char *text)
{
	return send(n->fd, text, strlen(text), MSG_NOSIGNAL) >= 0
	    || (errno != EAGAIN && errno != ENOBUFS);
}

/* After the runtime has ended there is time to wait for room. */
void
sws_notify_fini(struct sws_notify *n)
{
	struct pollfd room = {.fd = n->fd, .events = POLLOUT};

	SWS_ASSERT(mely_current_core() < 0);
	for (int i = 0; i < n->unsent_count; i++)
		while (!send_text(n, n->unsent[i]) && poll(&room, 1, LAST_MS) > 0)
			;
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

/* Send what waits, and set the timer if some of it still does. */
static void
flush_fn(void *arg)
{
	struct sws_notify *n = arg;
	mely_watch timer;
	int sent = 0;

	while (sent < n->unsent_count && send_text(n, n->unsent[sent]))
		sent++;
	n->unsent_count -= sent;
	memmove(n->unsent[0], n->unsent[sent], (size_t)n->unsent_count * sizeof n->unsent[0]);
	n->waits = n->unsent_count > 0 && mely_timer_start(mely_current_color(), RETRY_NS, 0, 0,
	    &flush_handler, n, &timer) == 0;
}

void
sws_notify(struct sws_notify *n, const char *format, ...)
{
	va_list args;
	int len;

	if (n->fd < 0)
		return;
	SWS_ASSERT(mely_current_color() != NULL);
	/* The oldest is the least of what a service manager that does not read would miss. */
	if (n->unsent_count == SWS_NOTIFY_UNSENT)
		memmove(n->unsent[0], n->unsent[1],
		    (size_t)--n->unsent_count * sizeof n->unsent[0]);
	va_start(args, format);
	len = vsnprintf(n->unsent[n->unsent_count++], SWS_NOTIFY_MAX, format, args);
	va_end(args);
	SWS_ASSERT(len > 0 && len < SWS_NOTIFY_MAX);
	if (!n->waits)
		flush_fn(n);
}

void
sws_notify_alive(struct sws_notify *n)
{
	if (n->fd >= 0 && n->unsent_count == 0)
		(void)send_text(n, "WATCHDOG=1");
}
