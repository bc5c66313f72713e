/* SPDX-License-Identifier: MIT */
/*
 * Fault: the event that reports that a color has drained to half its high-water mark is posted to
 * the consumer's color, and restarts the producer from there.
 * Twin: the drained event is posted to the producer's color.
 * expect: on_produce on_drained state
 */
#include "fault.h"

enum { ITEMS = 20, MARK = 4 };

static struct {
	int made, stopped;
} state;
static int consumed;
static struct mely_color *producer, *consumer;

static void
on_consume(void *arg)
{
	(void)arg;
	if (++consumed == ITEMS)
		done();
}

static void on_produce(void *arg);
static struct mely_handler consume = MELY_HANDLER(on_consume);
static struct mely_handler produce = MELY_HANDLER(on_produce);

static void
on_produce(void *arg)
{
	(void)arg;
	while (!state.stopped && state.made < ITEMS) {
		if (mely_post(consumer, &consume, NULL) == -EAGAIN) {
			state.stopped = 1;
			return;
		}
		state.made++;
	}
	if (state.made == ITEMS)
		done();
}

static void
on_drained(void *arg)
{
	(void)arg;
	state.stopped = 0;
	MUST(mely_post(producer, &produce, NULL));
}

static struct mely_handler drained = MELY_HANDLER(on_drained);

int
main(void)
{
	struct mely_event ev = MELY_EVENT(&drained, NULL);

	begin(2);
	producer = color(1, "producer");
	consumer = color(2, "consumer");
#ifdef FIXED
	MUST(mely_color_set_high_water(consumer, MARK, producer, &ev));
#else
	MUST(mely_color_set_high_water(consumer, MARK, consumer, &ev));
#endif
	MUST(mely_post(producer, &produce, NULL));
	return run();
}
