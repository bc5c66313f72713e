/* SPDX-License-Identifier: MIT */
/*
 * message.c: messages between a master and its slaves.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "load/message.h"

#define LINE_MAX_LEN 40

static bool
send_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

bool
load_message_send(int fd, const char *name, const char *text, size_t len)
{
	char line[LINE_MAX_LEN];
	int n = snprintf(line, sizeof line, "%s %zu\n", name, len);

	return send_all(fd, line, (size_t)n) && send_all(fd, text, len);
}

static bool
receive_all(int fd, char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = recv(fd, text, len, MSG_WAITALL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

bool
load_message_receive(int fd, struct load_message *m)
{
	char line[LINE_MAX_LEN];
	size_t at = 0;
	int end = 0;

	memset(m, 0, sizeof *m);
	do {
		if (at == sizeof line - 1 || !receive_all(fd, &line[at], 1))
			return false;
	} while (line[at++] != '\n');
	line[at] = '\0';
	if (sscanf(line, "%15[a-z] %zu%n", m->name, &m->len, &end) != 2 || line[end] != '\n'
	    || m->len > LOAD_MESSAGE_MAX)
		return false;
	m->text = malloc(m->len + 1);
	if (m->text == NULL || !receive_all(fd, m->text, m->len)) {
		load_message_fini(m);
		return false;
	}
	m->text[m->len] = '\0';
	return true;
}

bool
load_message_expect(int fd, const char *name, struct load_message *m)
{
	if (!load_message_receive(fd, m))
		return false;
	if (strcmp(m->name, name) == 0)
		return true;
	load_message_fini(m);
	return false;
}

void
load_message_fini(struct load_message *m)
{
	free(m->text);
	m->text = NULL;
	m->len = 0;
}
