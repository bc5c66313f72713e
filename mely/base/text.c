/* SPDX-License-Identifier: MIT */
/*
 * text.c: growing texts, and writing to a descriptor without waiting forever. One thread per text;
 * no other state.
 */
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { ROOM_MIN = 4096 };

void
melyint_text_fail(struct melyint_text *text)
{
	free(text->data);
	text->data = NULL;
	text->failed = true;
}

/* Room for n more bytes and a zero. */
static bool
grow(struct melyint_text *text, size_t n)
{
	size_t room = text->room != 0 ? text->room : ROOM_MIN;
	char *data;

	if (text->failed)
		return false;
	while (room - text->length <= n)
		room *= 2;
	if (room == text->room)
		return true;
	data = realloc(text->data, room);
	if (data == NULL) {
		melyint_text_fail(text);
		return false;
	}
	text->data = data;
	text->room = room;
	return true;
}

void
melyint_text_add(struct melyint_text *text, const char *format, ...)
{
	va_list args;
	int n;

	if (!grow(text, 0))
		return;
	va_start(args, format);
	n = vsnprintf(text->data + text->length, text->room - text->length, format, args);
	va_end(args);
	if (n < 0 || !grow(text, (size_t)n))
		return;
	va_start(args, format);
	n = vsnprintf(text->data + text->length, text->room - text->length, format, args);
	va_end(args);
	text->length += (size_t)n;
}

size_t
melyint_text_reserve(struct melyint_text *text, size_t n, size_t align)
{
	size_t at = (text->length + align - 1) & ~(align - 1);

	if (!grow(text, at - text->length + n))
		return 0;
	memset(text->data + text->length, 0, at - text->length + n + 1);
	text->length = at + n;
	return at;
}

unsigned
melyint_text_utf8(const char *at)
{
	const unsigned char *s = (const unsigned char *)at;
	unsigned length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 :
	    s[0] < 0xf5 ? 4 : 0;
	unsigned i;

	for (i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* An overlong form, half of a surrogate pair, or beyond U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

/* ---- writing out ----------------------------------------------------------------------------- */

/* Wait until fd can take bytes: 1, 0 when the time runs out first, or an error. */
static int
await_room(int fd, uint64_t until_ns)
{
	if (fd < 0) /* poll would ignore it and wait */
		return -EBADF;
	for (;;) {
		struct pollfd ready = {fd, POLLOUT, 0};
		uint64_t now = melyint_now_ns(), left = now < until_ns ? until_ns - now : 0;
		struct timespec limit = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
		int found = ppoll(&ready, 1, &limit, NULL);

		if (found >= 0)
			return found;
		if (errno != EINTR)
			return -errno;
	}
}

int
melyint_put(const char *bytes, size_t length, int fd, uint64_t patience_ns)
{
	uint64_t until_ns = melyint_now_ns() + patience_ns;

	while (length > 0) {
		int room = await_room(fd, until_ns);
		/* A pipe that polls as writable takes PIPE_BUF at once. */
		ssize_t n;

		if (room <= 0)
			return room == 0 ? -ETIMEDOUT : room;
		n = write(fd, bytes, length < PIPE_BUF ? length : PIPE_BUF);
		if (n >= 0) {
			bytes += n;
			length -= (size_t)n;
		} else if (errno != EINTR && errno != EAGAIN) {
			return -errno;
		} else if (melyint_now_ns() >= until_ns) {
			return -ETIMEDOUT;
		}
	}
	return 0;
}
