/* SPDX-License-Identifier: MIT */
/*
 * listen.h: where the servers of this folder, of either dialect, listen.
 */
#ifndef EXAMPLES_LISTEN_H
#define EXAMPLES_LISTEN_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A socket that listens at this port of 127.0.0.1, or at a free one; says which. */
static inline int
listen_on(const char *server, int port)
{
	sockaddr_in address = sockaddr_in();
	socklen_t length = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;

	address.sin_family = AF_INET;
	address.sin_port = htons(port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (fd < 0 || bind(fd, (sockaddr *)&address, sizeof address) < 0 || listen(fd, 1000) < 0) {
		fprintf(stderr, "%s: port %d: %s\n", server, port, strerror(errno));
		exit(1);
	}
	getsockname(fd, (sockaddr *)&address, &length);
	printf("%s on 127.0.0.1:%d\n", server, ntohs(address.sin_port));
	fflush(stdout);
	return fd;
}

#endif
