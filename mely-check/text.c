/* SPDX-License-Identifier: MIT */
/* text.c: memory and strings. One thread. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* All memory handed out, so that a leak checker does not take it for lost. */
static struct block {
	struct block *next;
} *blocks;

void *
text_need(void *memory)
{
	if (memory != NULL)
		return memory;
	fprintf(stderr, "mely-check: out of memory\n");
	exit(2);
}

void *
text_alloc(size_t size)
{
	struct block *block = text_need(calloc(1, sizeof *block + size));

	block->next = blocks;
	blocks = block;
	return block + 1;
}

void *
text_room(void *array, size_t used, size_t item_size)
{
	void *grown;

	/* The array is full only at 0, 4, 8, 16... */
	if (used != 0 && (used < 4 || (used & (used - 1)) != 0))
		return array;
	grown = text_alloc((used == 0 ? 4 : 2 * used) * item_size);
	if (used != 0)
		memcpy(grown, array, used * item_size);
	return grown;
}

char *
text_copy(const char *from, size_t length)
{
	char *copy = text_alloc(length + 1);

	memcpy(copy, from, length);
	return copy;
}

char *
text_format(const char *format, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = text_alloc((size_t)length + 1);
	va_start(args, format);
	vsnprintf(text, (size_t)length + 1, format, args);
	va_end(args);
	return text;
}

bool
text_begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

const char *
text_after(const char *text, const char *prefix)
{
	return text_begins(text, prefix) ? text + strlen(prefix) : NULL;
}

bool
text_equal(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}
