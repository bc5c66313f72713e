/* SPDX-License-Identifier: MIT */
/*
 * text.h: a text that grows up to a limit. What does not fit is left out, and remembered, so that
 * those who append need not look each time.
 */
#ifndef MELYINT_TEXT_H
#define MELYINT_TEXT_H

#include <stdbool.h>

#include "compiler.h"

struct melyint_text {
	char *bytes;       /* malloc */
	size_t length;
	size_t size;       /* allocated */
	size_t most;       /* length never exceeds it */
	bool cut;          /* something did not fit, or there was no memory */
};

void melyint_text_init(struct melyint_text *text, size_t most);
void melyint_text_free(struct melyint_text *text);
void melyint_text_add(struct melyint_text *text, const char *format, ...) MELY_PRINTF(2, 3);
void melyint_text_add_bytes(struct melyint_text *text, const char *bytes, size_t length);
/* A name of the program's, on one line whatever it holds. */
void melyint_text_add_name(struct melyint_text *text, const char *name);

/* All of it to fd, in pieces that a pipe takes without blocking, once fd can take them; gives up
 * when that is not done by until_ns, on the monotonic clock. 0, -ETIMEDOUT, or what the system
 * said. */
int melyint_text_write(const char *bytes, size_t length, int fd, uint64_t until_ns);

#endif
