/* SPDX-License-Identifier: MIT */
/*
 * listen.h: the command lines and the listening socket of the echo servers, in both dialects.
 */
#ifndef EXAMPLES_LISTEN_H
#define EXAMPLES_LISTEN_H

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { PORT_MAX = 65535, COUNT_MAX = 1000000000 };

/* Parse the argument named what: digits only, not above most. */
static inline int
number_argument(const char *program, const char *what, const char *text, int most)
{
	const char *at = text;
	int number = 0;

	while (isdigit((unsigned char)*at) && number <= most / 10 &&
	    number * 10 <= most - (*at - '0'))
		number = number * 10 + (*at++ - '0');
	if (at == text || *at != '\0') {
		fprintf(stderr, "%s: %s: '%s' is not a number between 0 and %d\n", program, what,
		    text, most);
		exit(1);
	}
	return number;
}

/* Listen on a port of 127.0.0.1 (0 selects a free one), and print the port. */
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
