/* SPDX-License-Identifier: MIT */
/*
 * out.c: see look/trace/out.h.
 */
#include "look/trace/out.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

void
melyint_out_init(struct melyint_out *out, int fd)
{
	out->fd = fd;
	out->error = 0;
	out->used = 0;
}

int
melyint_out_flush(struct melyint_out *out)
{
	size_t done = 0;

	while (out->error == 0 && done < out->used) {
		ssize_t n = write(out->fd, out->buffer + done, out->used - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0)
			out->error = -EIO;
		else if (errno != EINTR)
			out->error = -errno;
	}
	out->used = 0;
	return out->error;
}

static void
put(struct melyint_out *out, const char *bytes, size_t size)
{
	while (size > 0) {
		size_t room = sizeof out->buffer - out->used;
		size_t part = size < room ? size : room;

		memcpy(out->buffer + out->used, bytes, part);
		out->used += part;
		bytes += part;
		size -= part;
		if (out->used == sizeof out->buffer)
			(void)melyint_out_flush(out); /* kept in out->error */
	}
}

void
melyint_out_text(struct melyint_out *out, const char *text)
{
	put(out, text, strlen(text));
}

void
melyint_out_number(struct melyint_out *out, uint64_t number)
{
	char digits[20];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number != 0);
	put(out, digits + at, sizeof digits - at);
}

void
melyint_out_hex(struct melyint_out *out, uint64_t number)
{
	char digits[18];
	size_t at = sizeof digits;

	do {
		digits[--at] = "0123456789abcdef"[number & 15];
		number >>= 4;
	} while (number != 0);
	digits[--at] = 'x';
	digits[--at] = '0';
	put(out, digits + at, sizeof digits - at);
}

void
melyint_out_us(struct melyint_out *out, uint64_t ns)
{
	char fraction[4] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10),
	    (char)('0' + ns % 10)};

	melyint_out_number(out, ns / 1000);
	put(out, fraction, sizeof fraction);
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Bytes of the UTF-8 character that text, which ends with a 0, begins with; 0: it is none. */
static size_t
utf8_length(const unsigned char *text)
{
	/* The least code that needs so many bytes: what is longer than it has to be is none. */
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t code;
	size_t length, i;

	if (text[0] < 0x80)
		return 1;
	if (text[0] >= 0xf8 || text[0] < 0xc0)
		return 0;
	length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	code = text[0] & (0x7fu >> length);
	for (i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return length;
}

static void
put_escaped(struct melyint_out *out, unsigned char byte)
{
	char escape[6] = {'\\', 'u', '0', '0', "0123456789abcdef"[byte >> 4],
	    "0123456789abcdef"[byte & 15]};

	if (byte == '"' || byte == '\\') {
		escape[1] = (char)byte;
		put(out, escape, 2);
	} else {
		put(out, escape, sizeof escape);
	}
}

void
melyint_out_string(struct melyint_out *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	put(out, "\"", 1);
	while (*at != '\0') {
		size_t length = utf8_length(at);

		if (length == 0) {
			put(out, "\xef\xbf\xbd", 3);
			at++;
			continue;
		}
		if (*at < 0x20 || *at == '"' || *at == '\\' || *at == 0x7f)
			put_escaped(out, *at);
		else
			put(out, (const char *)at, length);
		at += length;
	}
	put(out, "\"", 1);
}
