/* SPDX-License-Identifier: MIT */
/*
 * Fault: a reader passes its only buffer to a writer of another color, and fills it again while
 * the writer may still use it.
 * Twin: the writer returns the buffer, and only then does the reader fill it again.
 * expect: on_fill on_write buffer
 */
#include "fault.h"

enum { ROUNDS = 20 };

static char buffer[64];
static size_t written;
static int round_no;
static struct mely_color *reader, *writer;

static void on_fill(void *arg);
static struct mely_handler fill = MELY_HANDLER(on_fill);

static void
on_write(void *arg)
{
	const char *text = arg;
	size_t i;

	for (i = 0; i < sizeof buffer; i++)
		written += text[i] != '\0';
#ifdef FIXED
	MUST(mely_post(reader, &fill, NULL));
#endif
}

static struct mely_handler write_out = MELY_HANDLER(on_write);

static void
on_fill(void *arg)
{
	size_t i;

	(void)arg;
	if (round_no++ == ROUNDS) {
		done();
		return;
	}
	for (i = 0; i < sizeof buffer; i++)
		buffer[i] = (char)('a' + round_no);
	MUST(mely_post(writer, &write_out, buffer));
#ifndef FIXED
	MUST(mely_post(reader, &fill, NULL));
#endif
}

int
main(void)
{
	begin(1);
	reader = color(1, "reader");
	writer = color(2, "writer");
	MUST(mely_post(reader, &fill, NULL));
	return run();
}
