/* SPDX-License-Identifier: MIT */
/*
 * text.c: growing a text by doubling.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "base/text.h"

bool
sws_text_reserve(struct sws_text *text, size_t more)
{
	size_t room = text->room > 0 ? text->room : 4096;
	char *bytes;

	if (text->failed)
		return false;
	if (text->room - text->len >= more)
		return true;
	while (room - text->len < more)
		room *= 2;
	bytes = realloc(text->bytes, room);
	if (bytes == NULL) {
		text->failed = true;
		return false;
	}
	text->bytes = bytes;
	text->room = room;
	return true;
}

void
sws_text_add(struct sws_text *text, const char *bytes, size_t len)
{
	if (!sws_text_reserve(text, len))
		return;
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
}

void
sws_text_format(struct sws_text *text, const char *format, ...)
{
	va_list args;
	int n;

	if (!sws_text_reserve(text, 256))
		return;
	va_start(args, format);
	n = vsnprintf(text->bytes + text->len, text->room - text->len, format, args);
	va_end(args);
	SWS_ASSERT(n >= 0);
	if ((size_t)n >= text->room - text->len) {
		if (!sws_text_reserve(text, (size_t)n + 1))
			return;
		va_start(args, format);
		n = vsnprintf(text->bytes + text->len, text->room - text->len, format, args);
		va_end(args);
	}
	text->len += (size_t)n;
}

void
sws_text_free(struct sws_text *text)
{
	free(text->bytes);
	*text = (struct sws_text){.bytes = NULL};
}
