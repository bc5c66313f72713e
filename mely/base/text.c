/* SPDX-License-Identifier: MIT */
/* text.c: see text.h. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	/* Longer than need be, a half of a pair, beyond the last one. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}
