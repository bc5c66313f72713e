/* SPDX-License-Identifier: MIT */
/*
 * Fault: the read watcher and the write watcher of one socket have different colors, and both
 * move bytes in the same ring buffer.
 * Twin: both watchers have the connection's color.
 * expect: on_readable on_writable heap
 */
#include <sys/socket.h>
#include "fault.h"

enum { BYTES = 8 };

struct duplex {
	int fd, in, out;
	char ring[BYTES];
	mely_watch reader, writer;
};

static void
on_readable(void *arg)
{
	struct duplex *d = arg;

	if (d->in < BYTES && read(d->fd, &d->ring[d->in], 1) == 1)
		d->in++;
	if (d->in == BYTES) {
		mely_watch_stop(rt, d->reader, NULL, NULL);
		done();
	}
}

static void
on_writable(void *arg)
{
	struct duplex *d = arg;

	if (d->out < d->in && write(d->fd, &d->ring[d->out], 1) == 1)
		d->out++;
	if (d->out == BYTES) {
		mely_watch_stop(rt, d->writer, NULL, NULL);
		done();
	}
}

static struct mely_handler readable = MELY_HANDLER(on_readable);
static struct mely_handler writable = MELY_HANDLER(on_writable);

int
main(void)
{
	struct duplex *d = calloc(1, sizeof *d);
	struct mely_color *reading, *writing;
	int ends[2];

	if (d == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0 ||
	    write(ends[1], "12345678", BYTES) != BYTES)
		return 2;
	begin(2);
	d->fd = ends[0];
	reading = color(1, "reading");
#ifdef FIXED
	writing = reading;
#else
	writing = color(2, "writing");
#endif
	MUST(mely_fd_watch(reading, d->fd, MELY_FD_READ, &readable, d, &d->reader));
	MUST(mely_fd_watch(writing, d->fd, MELY_FD_WRITE, &writable, d, &d->writer));
	run();
	free(d);
	return 0;
}
