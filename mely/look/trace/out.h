/* SPDX-License-Identifier: MIT */
/*
 * out.h: text into a file, by ways that are open to a signal handler: write(2) from a buffer
 * that is there already. One thread at a time.
 */
#ifndef MELYINT_LOOK_TRACE_OUT_H
#define MELYINT_LOOK_TRACE_OUT_H

#include <stddef.h>
#include <stdint.h>

enum { MELYINT_OUT_BUFFER = 1 << 16 };

struct melyint_out {
	int fd;
	int error;    /* the first one, negative; after it nothing is written */
	size_t used;
	char buffer[MELYINT_OUT_BUFFER];
};

void melyint_out_init(struct melyint_out *out, int fd);
/* Write what is left. 0, or the first error. */
int melyint_out_flush(struct melyint_out *out);

void melyint_out_text(struct melyint_out *out, const char *text);
void melyint_out_number(struct melyint_out *out, uint64_t number);
void melyint_out_hex(struct melyint_out *out, uint64_t number);
/* Nanoseconds as microseconds with three decimals. */
void melyint_out_us(struct melyint_out *out, uint64_t ns);
/* A JSON string with its quotes; what is not UTF-8 becomes U+FFFD. */
void melyint_out_string(struct melyint_out *out, const char *text);

#endif
