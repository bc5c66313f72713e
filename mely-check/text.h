/* SPDX-License-Identifier: MIT */
/*
 * text.h: text that lives until the program ends: reports are read once and shown once, so
 * nothing is freed before. Out of memory ends the program with a message.
 */
#ifndef MELY_CHECK_TEXT_H
#define MELY_CHECK_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* memory, unless it is NULL: that ends the program. */
void *text_need(void *memory);
/* Zeroed memory. */
void *text_alloc(size_t size);
/* array, which has `used` items, with room for one more; it grows by doubling. */
void *text_room(void *array, size_t used, size_t item_size);
char *text_copy(const char *from, size_t length);
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool text_begins(const char *text, const char *prefix);
/* The rest of text behind prefix, or NULL if text does not begin with it. */
const char *text_after(const char *text, const char *prefix);
/* Equal, where NULL equals NULL only. */
bool text_equal(const char *a, const char *b);

#endif
