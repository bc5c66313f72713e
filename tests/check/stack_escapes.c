/* SPDX-License-Identifier: MIT */
/*
 * Fault: a handler passes a variable on its stack to another color, which writes to it while the
 * handler may still read it, or has ended.
 * Twin: it passes a block of the heap, and reads it when it gets it back.
 * expect: on_ask on_answer stack of color 1 (asker)
 */
#include "fault.h"

static struct mely_color *asker, *answerer;
static long sum;

#ifdef FIXED
static void
on_answered(void *arg)
{
	sum += *(long *)arg;
	free(arg);
	done();
}

static struct mely_handler answered = MELY_HANDLER(on_answered);
#endif

static void
on_answer(void *arg)
{
	*(long *)arg = 42;
#ifdef FIXED
	MUST(mely_post(asker, &answered, arg));
#endif
	done();
}

static struct mely_handler answer = MELY_HANDLER(on_answer);

static void
on_ask(void *arg)
{
#ifdef FIXED
	long *number = malloc(sizeof *number);

	if (number == NULL)
		exit(2);
#else
	/* Its first word lies so deep that nothing else is there after the handler has ended.
	 * volatile: the compiler must not know that it is the handler's own. */
	long numbers[8192], *volatile number = numbers;
#endif
	(void)arg;
	*number = 1;
	MUST(mely_post(answerer, &answer, number));
#ifndef FIXED
	sum += *number;
	done();
#endif
}

static struct mely_handler ask = MELY_HANDLER(on_ask);

int
main(void)
{
	begin(2);
	asker = color(1, "asker");
	answerer = color(2, "answerer");
	MUST(mely_post(asker, &ask, NULL));
	return run();
}
