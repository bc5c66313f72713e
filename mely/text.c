/* SPDX-License-Identifier: MIT */
/*
 * text.c: see text.h.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "text.h"

enum { FIRST_SIZE = 4096 };

void
melyint_text_init(struct melyint_text *text, size_t most)
{
	memset(text, 0, sizeof *text);
	text->most = most;
}

void
melyint_text_free(struct melyint_text *text)
{
	free(text->bytes);
	memset(text, 0, sizeof *text);
}

/* Room for so many bytes and a NUL. */
static bool
reserve(struct melyint_text *text, size_t more)
{
	size_t size = text->size != 0 ? text->size : FIRST_SIZE;
	char *bytes;

	if (text->cut || more > text->most - text->length) {
		text->cut = true;
		return false;
	}
	while (size <= text->length + more)
		size *= 2;
	if (size == text->size)
		return true;
	bytes = realloc(text->bytes, size);
	if (bytes == NULL) {
		text->cut = true;
		return false;
	}
	text->bytes = bytes;
	text->size = size;
	return true;
}

void
melyint_text_add_bytes(struct melyint_text *text, const char *bytes, size_t length)
{
	if (!reserve(text, length))
		return;
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
	text->bytes[text->length] = '\0';
}

void
melyint_text_add(struct melyint_text *text, const char *format, ...)
{
	char line[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof line, format, args);
	va_end(args);
	if (n > 0)
		melyint_text_add_bytes(text, line,
		    (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

void
melyint_text_add_name(struct melyint_text *text, const char *name)
{
	char line[256];
	size_t n = 0;

	for (; *name != '\0' && n < sizeof line; name++)
		line[n++] = (unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name;
	melyint_text_add_bytes(text, line, n);
}

/* Can fd take something? 1, 0 when the time is over first, or an error. */
static int
await_room(int fd, uint64_t until_ns)
{
	for (;;) {
		struct pollfd ready = {fd, POLLOUT, 0};
		uint64_t now = melyint_now_ns();
		int ms = now < until_ns ? (int)((until_ns - now) / 1000000 + 1) : 0;
		int found = poll(&ready, 1, ms);

		if (found >= 0)
			return found;
		if (errno != EINTR)
			return -errno;
	}
}

int
melyint_text_write(const char *bytes, size_t length, int fd, uint64_t until_ns)
{
	while (length > 0) {
		int room = await_room(fd, until_ns);
		/* A pipe that polls as writable takes so much at once. */
		ssize_t n;

		if (room <= 0)
			return room == 0 ? -ETIMEDOUT : room;
		n = write(fd, bytes, length < PIPE_BUF ? length : PIPE_BUF);
		if (n >= 0) {
			bytes += n;
			length -= (size_t)n;
		} else if (errno != EINTR && errno != EAGAIN) {
			return -errno;
		}
	}
	return 0;
}
