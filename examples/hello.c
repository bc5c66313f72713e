/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <mely/mely.h>

static void
greet(void *arg)
{
	int *n = arg; /* events of one color take turns: no lock */

	printf("hello %d\n", ++*n);
	if (*n == 10)
		mely_stop(mely_current_runtime(), MELY_STOP_DRAIN);
}

int
main(void)
{
	static struct mely_handler greeter = MELY_HANDLER(greet);
	struct mely_runtime *rt;
	int i, n = 0;

	if (mely_runtime_new(&rt, NULL) != 0)
		return 1;
	for (i = 0; i < 10; i++)
		mely_post_id(rt, 7, &greeter, &n); /* 7 is the color */
	if (mely_run(rt) != 0)
		return 1;
	return mely_runtime_free(rt);
}
