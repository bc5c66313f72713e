/* SPDX-License-Identifier: MIT */
/*
 * link.c: requests and answers over a Unix socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "link.h"

int
link_open(struct link *link, const char *path)
{
	/* connect waits that long if the backlog is full */
	const struct timeval limit = {LINK_PATIENCE_MS / 1000, 0};
	struct sockaddr_un at;
	int error;

	if (strlen(path) >= sizeof at.sun_path)
		return -ENAMETOOLONG;
	link->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (link->fd < 0)
		return -errno;
	memset(&at, 0, sizeof at);
	at.sun_family = AF_UNIX;
	memcpy(at.sun_path, path, strlen(path));
	if (setsockopt(link->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0 ||
	    connect(link->fd, (struct sockaddr *)&at, sizeof at) != 0 ||
	    fcntl(link->fd, F_SETFL, O_NONBLOCK) != 0) {
		error = errno == EAGAIN ? -ETIMEDOUT : -errno;
		link_close(link);
		return error;
	}
	link->patience_ms = LINK_PATIENCE_MS;
	if (path != link->path)
		snprintf(link->path, sizeof link->path, "%s", path);
	return 0;
}

void
link_close(struct link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
}

static int
await(const struct link *link, short events)
{
	struct pollfd wait = {link->fd, events, 0};

	for (;;) {
		int n = poll(&wait, 1, link->patience_ms);

		if (n > 0)
			return 0;
		if (n == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

static int
send_all(const struct link *link, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = send(link->fd, bytes, length, MSG_NOSIGNAL);

		if (n >= 0) {
			bytes += n;
			length -= (size_t)n;
		} else if (errno == EAGAIN) {
			int error = await(link, POLLOUT);

			if (error != 0)
				return error;
		} else if (errno == EPIPE) {
			return -ECONNRESET;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

static int
receive_all(const struct link *link, char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = recv(link->fd, bytes, length, 0);

		if (n > 0) {
			bytes += n;
			length -= (size_t)n;
		} else if (n == 0) {
			return -ECONNRESET;
		} else if (errno == EAGAIN) {
			int error = await(link, POLLIN);

			if (error != 0)
				return error;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

int
link_ask(struct link *link, const char *request, char **answer, size_t *length)
{
	char head[LINK_HEAD];
	bool ok;
	int error;

	*answer = NULL;
	error = send_all(link, request, strlen(request));
	/* A program that refuses us may have sent the reason before it closed. */
	if (error == 0 || error == -ECONNRESET)
		error = receive_all(link, head, sizeof head);
	if (error != 0)
		return error;
	if (!link_head(head, &ok, length))
		return -EPROTO;
	*answer = malloc(*length + 1);
	if (*answer == NULL)
		return -ENOMEM;
	error = receive_all(link, *answer, *length);
	if (error != 0) {
		free(*answer);
		*answer = NULL;
		return error;
	}
	(*answer)[*length] = '\0';
	return ok ? 0 : -EREMOTEIO;
}

int
link_look(struct link *link, const char *request, struct mely_stats **stats)
{
	char *answer;
	size_t length;
	int error = link_ask(link, request, &answer, &length);

	/* malloc aligns enough for the structure */
	if (error == 0)
		error = mely_stats_check(answer, length);
	if (error == -EINVAL)
		error = -EPROTO;
	if (error != 0) {
		free(answer);
		return error;
	}
	*stats = (struct mely_stats *)(void *)answer;
	return 0;
}
