/* SPDX-License-Identifier: MIT */
/*
 * Fault: a parcel contains its own event. The sender sees that the event is no longer queued and
 * reuses the event and the parcel; but the handler may have just begun.
 * Twin: the receiver posts the parcel back.
 * expect: on_send on_receive post
 */
#include "fault.h"

enum { ROUNDS = 20 };

static struct parcel {
	struct mely_event event;
	int content;
} post;

static struct mely_color *sender, *receiver;
static int sent;

static void on_send(void *arg);
static struct mely_handler send_off = MELY_HANDLER(on_send);

static void
on_receive(void *arg)
{
	struct parcel *parcel = arg;

	if (parcel->content < 0)
		exit(2);
#ifdef FIXED
	MUST(mely_post(sender, &send_off, parcel));
#endif
}

static struct mely_handler receive = MELY_HANDLER(on_receive);

static void
on_send(void *arg)
{
	struct parcel *parcel = arg;

	if (sent == ROUNDS) {
		done();
		return;
	}
	if (!mely_event_pending(&parcel->event)) {
		parcel->content = sent++;
		MUST(mely_event_post(receiver, &parcel->event));
	}
#ifndef FIXED
	MUST(mely_post(sender, &send_off, parcel));
#endif
}

int
main(void)
{
	begin(1);
	sender = color(1, "sender");
	receiver = color(2, "receiver");
	mely_event_init(&post.event, &receive, &post);
	MUST(mely_post(sender, &send_off, &post));
	return run();
}
