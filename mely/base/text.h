/* SPDX-License-Identifier: MIT */
/*
 * text.h: memory that grows while it is written: texts, and blocks of records that refer to each
 * other by offset. No errors on the way: who ran out of memory is told at the end. One thread.
 */
#ifndef MELYINT_BASE_TEXT_H
#define MELYINT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct melyint_text {
	char *data;      /* for free() */
	size_t length;   /* without the zero at the end */
	size_t room;
	bool failed;     /* no memory; data is gone */
};

/* There is no memory. */
void melyint_text_fail(struct melyint_text *text);

/* printf at the end. */
void melyint_text_add(struct melyint_text *text, const char *format, ...) MELY_PRINTF(2, 3);

/* n zero bytes at the end, at a multiple of align, a power of two. Where; 0 when there is no
 * memory. They stay where they are until the next call. */
size_t melyint_text_reserve(struct melyint_text *text, size_t n, size_t align);

/* The bytes at an offset of reserve's; NULL when there was no memory. */
MELY_INLINE void *
melyint_text_at(struct melyint_text *text, size_t offset)
{
	return text->failed ? NULL : text->data + offset;
}

/* Bytes of the UTF-8 character there, 1 for the zero at the end; 0: it is none. */
unsigned melyint_text_utf8(const char *at);

/* Bytes of the UTF-8 character there, 1 for the zero at the end; 0: it is none. */
unsigned melyint_text_utf8(const char *at);

#endif
