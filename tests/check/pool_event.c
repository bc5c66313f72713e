/* SPDX-License-Identifier: MIT */
/*
 * Fault: A posts to B; then C posts to D, and its event reuses the same memory from the pool. A
 * and D share a number. The event's way through the pool does not order them.
 * Twin: B posts to D, instead of C.
 * expect: on_a on_d number
 */
#include "fault.h"

static int number;
static struct mely_color *color_b, *color_c, *color_d;

static void
on_d(void *arg)
{
	(void)arg;
	number++;
	done();
}

static struct mely_handler d = MELY_HANDLER(on_d);

static void
on_b(void *arg)
{
	(void)arg;
	take_turn(1);
#ifdef FIXED
	MUST(mely_post(color_d, &d, NULL));
#endif
	done();
}

static struct mely_handler b = MELY_HANDLER(on_b);

static void
on_a(void *arg)
{
	(void)arg;
	number++;
	MUST(mely_post(color_b, &b, NULL));
}

static void on_c(void *arg);
static struct mely_handler a = MELY_HANDLER(on_a);
static struct mely_handler c = MELY_HANDLER(on_c);

static void
on_c(void *arg)
{
	(void)arg;
	if (!my_turn(1)) {
		MUST(mely_post(color_c, &c, NULL));
		return;
	}
#ifndef FIXED
	MUST(mely_post(color_d, &d, NULL));
#endif
	done();
}

int
main(void)
{
	begin(3);
	color_b = color(2, "B");
	color_c = color(3, "C");
	color_d = color(4, "D");
	MUST(mely_post(color(1, "A"), &a, NULL));
	MUST(mely_post(color_c, &c, NULL));
	return run();
}
