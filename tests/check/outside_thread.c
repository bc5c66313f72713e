/* SPDX-License-Identifier: MIT */
/*
 * Fault: a thread that is not a core posts a message and keeps writing to it.
 * Twin: the thread writes first, then posts.
 * expect: on_message sender heap
 */
#include <pthread.h>
#include "fault.h"

struct message {
	int length;
	char text[24];
};

static int received;

static void
on_message(void *arg)
{
	struct message *message = arg;

	received += message->length;
	take_turn(1);
	done();
}

static struct mely_handler deliver = MELY_HANDLER(on_message);

static void *
sender(void *arg)
{
	struct message *message = arg;

#ifdef FIXED
	message->length = 5;
#endif
	MUST(mely_post_id(rt, 1, &deliver, message));
#ifndef FIXED
	while (!my_turn(1))
		;
	message->length = 5;
#endif
	done();
	return NULL;
}

int
main(void)
{
	struct message *message = calloc(1, sizeof *message);
	pthread_t thread;

	if (message == NULL)
		return 2;
	begin(2);
	color(1, "inbox");
	if (pthread_create(&thread, NULL, sender, message) != 0)
		return 2;
	run();
	pthread_join(thread, NULL);
	free(message);
	return 0;
}
