/* SPDX-License-Identifier: MIT */
/*
 * Fault: all colors take requests from one free list and return them to it.
 * Twin: each color has its own free list.
 * expect: on_request on_request lists
 */
#include "fault.h"

enum { COLORS = 4, ROUNDS = 10 };

struct request {
	struct request *next;
};

static struct user {
	struct mely_color *color;
	struct request **list;
	int rounds;
} users[COLORS];

static struct request *lists[COLORS];

static struct request *
take(struct request **list)
{
	struct request *request = *list;

	if (request == NULL)
		return malloc(sizeof *request);
	*list = request->next;
	return request;
}

static void
give(struct request **list, struct request *request)
{
	request->next = *list;
	*list = request;
}

static void on_request(void *arg);
static struct mely_handler again = MELY_HANDLER(on_request);

static void
on_request(void *arg)
{
	struct user *user = arg;

	give(user->list, take(user->list));
	if (++user->rounds < ROUNDS)
		MUST(mely_post(user->color, &again, user));
	else
		done();
}

int
main(void)
{
	struct request *request;
	uint32_t i;

	begin(COLORS);
	for (i = 0; i < COLORS; i++) {
		users[i].color = color(i + 1, "user");
#ifdef FIXED
		users[i].list = &lists[i];
#else
		users[i].list = &lists[0];
#endif
		MUST(mely_post(users[i].color, &again, &users[i]));
	}
	run();
	for (i = 0; i < COLORS; i++) {
		while ((request = lists[i]) != NULL) {
			lists[i] = request->next;
			free(request);
		}
	}
	return 0;
}
