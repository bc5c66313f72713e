/* SPDX-License-Identifier: MIT */
/*
 * text.h: memory that grows while it is written, for texts and for blocks of records that refer to
 * each other by offset; and writing it to a descriptor. A writer need not check each call: when
 * memory runs out, text->failed stays set and later calls do nothing. One thread per text.
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
	bool failed;     /* no memory; data is NULL */
};

/* Free the data and set failed. */
void melyint_text_fail(struct melyint_text *text);

/* Append, like printf. */
void melyint_text_add(struct melyint_text *text, const char *format, ...) MELY_PRINTF(2, 3);

/* Append n zero bytes at a multiple of align, a power of two, and return their offset; 0 when
 * memory has run out. Their address is valid until the next call. */
size_t melyint_text_reserve(struct melyint_text *text, size_t n, size_t align);

/* The address of an offset that reserve returned; NULL when there was no memory. */
MELY_INLINE void *
melyint_text_at(struct melyint_text *text, size_t offset)
{
	return text->failed ? NULL : text->data + offset;
}

/* Bytes of the UTF-8 character at this place, 1 for the zero at the end; 0: not a character. */
unsigned melyint_text_utf8(const char *at);

/*
 * Write all bytes to fd, which may have no reader, in pieces that a pipe takes without blocking.
 * 0; -ETIMEDOUT when that takes longer than patience_ns (a part may have been written); or another
 * negative errno. Any thread.
 */
int melyint_put(const char *bytes, size_t length, int fd, uint64_t patience_ns);

#endif
