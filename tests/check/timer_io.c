/* SPDX-License-Identifier: MIT */
/*
 * Fault: a connection counts its input in its color; the timer that finds idle connections has
 * another color and resets the count.
 * Twin: the timer has the connection's color.
 * expect: on_input on_tick conn
 */
#include "fault.h"

static struct connection {
	struct mely_color *color;
	int fd, bytes, ticks;
	mely_watch input, timer;
} conn;

static void
on_input(void *arg)
{
	char c;

	(void)arg;
	if (read(conn.fd, &c, 1) != 1)
		return;
	conn.bytes++;
	if (c == 'z') {
		mely_watch_stop(rt, conn.input, NULL, NULL);
		done();
	}
}

static void
on_tick(void *arg)
{
	int *ticks = arg;

	conn.bytes = 0;
	if (++*ticks == 3) {
		mely_watch_stop(rt, conn.timer, NULL, NULL);
		done();
	}
}

static struct mely_handler input = MELY_HANDLER(on_input);
static struct mely_handler tick = MELY_HANDLER(on_tick);

int
main(void)
{
	struct mely_color *timers;
	int ends[2];

	begin(2);
	if (pipe(ends) != 0 || write(ends[1], "abcdefgz", 8) != 8)
		return 2;
	conn.fd = ends[0];
	conn.color = color(7, "connection");
#ifdef FIXED
	timers = conn.color;
#else
	timers = color(8, "timers");
#endif
	MUST(mely_fd_watch(conn.color, conn.fd, MELY_FD_READ, &input, NULL, &conn.input));
	MUST(mely_timer_start(timers, 2000000, 2000000, 0, &tick, &conn.ticks, &conn.timer));
	return run();
}
