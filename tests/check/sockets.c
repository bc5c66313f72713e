/* SPDX-License-Identifier: MIT */
/*
 * Fault: two connections, each with its own color, share the time of the last request. The first
 * sets it and then writes to its socket; the second reads its socket and then the time. The two
 * sockets are not connected, so they order nothing.
 * Twin: each connection has its own time.
 * expect: on_reply on_request last
 */
#include <sys/socket.h>
#include "fault.h"

static long last[2];
static int first[2], second[2];
static mely_watch reader;

static void
on_reply(void *arg)
{
	(void)arg;
	last[0] = 1;
	if (write(first[0], "reply", 5) != 5)
		exit(2);
	/* The other connection must read only after this, in time. */
	take_turn(1);
	done();
}

static void
on_request(void *arg)
{
	char c;

	(void)arg;
	if (!my_turn(1) || read(second[0], &c, 1) != 1)
		return;
#ifdef FIXED
	last[1] = 2;
#else
	last[0] = 2;
#endif
	mely_watch_stop(rt, reader, NULL, NULL);
	done();
}

static struct mely_handler reply = MELY_HANDLER(on_reply);
static struct mely_handler request = MELY_HANDLER(on_request);

int
main(void)
{
	begin(2);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, first) != 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, second) != 0 ||
	    write(second[1], "q", 1) != 1)
		return 2;
	MUST(mely_fd_watch(color(2, "second connection"), second[0], MELY_FD_READ, &request, NULL,
	    &reader));
	MUST(mely_post(color(1, "first connection"), &reply, NULL));
	run();
	return last[0] == 0;
}
