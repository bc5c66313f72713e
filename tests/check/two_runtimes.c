/* SPDX-License-Identifier: MIT */
/*
 * Fault: two runtimes in one process, and "color 1" in both: the same number, but not the same
 * color.
 * Twin: the second runtime posts to the first one's color.
 * expect: on_left on_right balance
 */
#include <pthread.h>
#include "fault.h"

static long balance;
static struct mely_runtime *other;

static void
on_left(void *arg)
{
	(void)arg;
	balance++;
	done();
}

static void
on_right(void *arg)
{
	(void)arg;
	balance--;
	done();
}

static struct mely_handler left = MELY_HANDLER(on_left);
static struct mely_handler right = MELY_HANDLER(on_right);

static void
on_other(void *arg)
{
	(void)arg;
#ifdef FIXED
	MUST(mely_post_id(rt, 1, &right, NULL));
#else
	MUST(mely_post_id(other, 1, &right, NULL));
#endif
	mely_stop(other, MELY_STOP_DRAIN);
}

static struct mely_handler other_start = MELY_HANDLER(on_other);

static void *
run_other(void *arg)
{
	(void)arg;
	MUST(mely_run(other));
	return NULL;
}

int
main(void)
{
	pthread_t thread;

	begin(2);
	MUST(mely_runtime_new(&other, NULL));
	MUST(mely_post_id(rt, 1, &left, NULL));
	MUST(mely_post_id(other, 2, &other_start, NULL));
	if (pthread_create(&thread, NULL, run_other, NULL) != 0)
		return 2;
	MUST(mely_run(rt));
	/* Before the free: its post to rt may not have returned yet. */
	pthread_join(thread, NULL);
	MUST(mely_runtime_free(rt));
	MUST(mely_runtime_free(other));
	return 0;
}
