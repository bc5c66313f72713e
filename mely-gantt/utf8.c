/* SPDX-License-Identifier: MIT */
/* utf8.c: valid UTF-8 out of any bytes. */
#include "utf8.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd";

/* Bytes of the UTF-8 character at the start of text, of which size bytes exist; 0: not valid. */
static size_t
character(const unsigned char *text, size_t size)
{
	/* The least code that needs that number of bytes; longer encodings of it are invalid. */
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t code;
	size_t length, i;

	assert(size > 0);
	if (text[0] < 0x80)
		return 1;
	if (text[0] >= 0xf8 || text[0] < 0xc0)
		return 0;
	length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	if (length > size)
		return 0;
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

char *
utf8_clean(const char *text, size_t size)
{
	size_t length = strnlen(text, size), at = 0;
	char *clean = malloc(length * (sizeof replacement - 1) + 1), *to = clean;

	if (clean == NULL)
		return NULL;
	while (at < length) {
		size_t bytes = character((const unsigned char *)text + at, length - at);

		if (bytes == 0) {
			memcpy(to, replacement, sizeof replacement - 1);
			to += sizeof replacement - 1;
			at++;
			continue;
		}
		memcpy(to, text + at, bytes);
		to += bytes;
		at += bytes;
	}
	*to = '\0';
	return clean;
}
