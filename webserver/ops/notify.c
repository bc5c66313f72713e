/* SPDX-License-Identifier: MIT */
/*
 * notify.c: datagrams to the socket that NOTIFY_SOCKET names.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/assertion.h"
#include "ops/notify.h"

#define MESSAGE_MAX 1024

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

void
sws_notify_fini(struct sws_notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

void
sws_notify(const struct sws_notify *n, const char *format, ...)
{
	char text[MESSAGE_MAX];
	va_list args;
	int len;

	if (n->fd < 0)
		return;
	va_start(args, format);
	len = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	SWS_ASSERT(len > 0 && len < MESSAGE_MAX);
	(void)!send(n->fd, text, (size_t)len, MSG_NOSIGNAL);
}
