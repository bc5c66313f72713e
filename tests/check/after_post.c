/* SPDX-License-Identifier: MIT */
/*
 * Fault: the sender posts a message to another color, and only then marks it as sent.
 * Twin: the sender marks the message before the post.
 * expect: on_send on_deliver heap
 */
#include "fault.h"

struct message {
	int number, sent;
};

static struct mely_color *outbox, *inbox;
static int delivered;

static void
on_deliver(void *arg)
{
	struct message *message = arg;

	delivered += message->sent;
	done();
}

static struct mely_handler deliver = MELY_HANDLER(on_deliver);

static void
on_send(void *arg)
{
	struct message *message = arg;

#ifdef FIXED
	message->sent = 1;
#endif
	MUST(mely_post(inbox, &deliver, message));
#ifndef FIXED
	message->sent = 1;
#endif
}

static struct mely_handler send_off = MELY_HANDLER(on_send);

int
main(void)
{
	struct message *message = calloc(1, sizeof *message);
	int status;

	if (message == NULL)
		return 2;
	begin(1);
	outbox = color(1, "outbox");
	inbox = color(2, "inbox");
	MUST(mely_post(outbox, &send_off, message));
	status = run();
	free(message);
	return status;
}
