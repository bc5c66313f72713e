/* SPDX-License-Identifier: MIT */
/*
 * Fault: one color writes a number and is idle ever after; many other colors run; a new color
 * reads the number. The time between them does not order the accesses.
 * Twin: the writer posts to the first of the many, each posts to the next, the last to the reader.
 * expect: on_write on_read number
 */
#include "fault.h"

enum { PASSERS = 100 };

static int number;

static void on_pass(void *arg);
static struct mely_handler pass = MELY_HANDLER(on_pass);

static void
on_read(void *arg)
{
	(void)arg;
	if (number < 0)
		exit(2);
	done();
}

static struct mely_handler read_it = MELY_HANDLER(on_read);

/* Each color posts to the next, and the last one to the reader. */
static void
on_pass(void *arg)
{
	intptr_t n = (intptr_t)arg;

	if (n == 0 && !my_turn(1))
		MUST(mely_post_id(rt, 10, &pass, arg));
	else if (n < PASSERS)
		MUST(mely_post_id(rt, (uint32_t)n + 11, &pass, (void *)(n + 1)));
	else
		MUST(mely_post_id(rt, 2, &read_it, NULL));
}

static void
on_write(void *arg)
{
	(void)arg;
	number++;
	take_turn(1);
#ifdef FIXED
	MUST(mely_post_id(rt, 10, &pass, NULL));
#endif
	done();
}

static struct mely_handler write_it = MELY_HANDLER(on_write);

int
main(void)
{
	begin(2);
	MUST(mely_post(color(1, "writer"), &write_it, NULL));
#ifndef FIXED
	MUST(mely_post_id(rt, 10, &pass, NULL));
#endif
	return run();
}
