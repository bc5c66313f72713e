/* SPDX-License-Identifier: MIT */
/*
 * text.h: bytes that grow at their end. One thread at a time.
 */
#ifndef SWS_BASE_TEXT_H
#define SWS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/** Empty when it is zero. */
struct sws_text {
	char *bytes;
	size_t len, room;
	bool failed;             /**< there was no memory: something is missing */
};

/** Make room for more bytes. False: no memory. */
bool sws_text_reserve(struct sws_text *text, size_t more);

void sws_text_add(struct sws_text *text, const char *bytes, size_t len);
void sws_text_format(struct sws_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Forget the bytes, and keep the memory. */
static inline void
sws_text_clear(struct sws_text *text)
{
	text->len = 0;
	text->failed = false;
}

void sws_text_free(struct sws_text *text);

#endif
