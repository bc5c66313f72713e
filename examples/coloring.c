/* SPDX-License-Identifier: MIT */
/*
 * coloring.c: one program colored in three ways. Clients request pages; handlers read each request,
 * make the page and update the totals.
 *
 *     coloring 0    every event has color 0: right, and on one core
 *     coloring 1    each client has a color, but all of them touch the totals: a fault
 *     coloring 2    each client has a color, and so have the totals: right, and on all cores
 *
 * A second argument sets the number of requests of each client, for a longer run.
 * docs/coloring.md explains the program step by step.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <mely/mely.h>

enum { CLIENTS = 12, READING_NS = 4000, MAKING_NS = 30000 };

struct client {
	struct mely_color *color; /* every event that touches this struct has this color */
	int number, requests;
	char page[256];
};

/* The totals of all clients. */
static struct {
	struct mely_color *color;
	long pages, bytes;
} totals;

static struct client clients[CLIENTS];
static struct mely_join gone;
static int step = 2, requests = 16;

static void on_request(void *arg);
static void on_page(void *arg);
static void on_totals(void *arg);
static struct mely_handler request = {.fn = on_request, .name = "request"};
static struct mely_handler page = {.fn = on_page, .name = "page"};
static struct mely_handler add = {.fn = on_totals, .name = "totals"};

/* Simulate ns nanoseconds of work. */
static void
work(long ns)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000000L + now.tv_nsec - from.tv_nsec < ns);
}

static void
on_request(void *arg)
{
	struct client *client = arg;

	work(READING_NS);
	client->requests++;
	mely_post(client->color, &page, client);
}

static void
on_page(void *arg)
{
	struct client *client = arg;

	/* Some clients request more than others. */
	work(MAKING_NS * (1 + client->number % 3));
	snprintf(client->page, sizeof client->page, "page %d for client %d", client->requests,
	    client->number);
	if (step == 1)
		on_totals(client); /* the fault: other clients do so, too, at any time */
	else
		mely_post(totals.color, &add, client);
}

static void
on_totals(void *arg)
{
	struct client *client = arg;

	totals.pages++;
	totals.bytes += (long)strlen(client->page);
	/* The client has waited for its page; now it sends the next request. */
	if (client->requests < requests)
		mely_post(client->color, &request, client);
	else
		mely_join_done(&gone);
}

static void
on_end(void *arg)
{
	(void)arg;
	mely_stop(mely_current_runtime(), MELY_STOP_DRAIN);
}

static struct mely_handler end = MELY_HANDLER(on_end);

int
main(int argc, char **argv)
{
	struct mely_event ending = MELY_EVENT(&end, NULL);
	struct mely_runtime *rt;
	char name[32];
	int i, own;

	if (argc > 1)
		step = atoi(argv[1]);
	if (argc > 2)
		requests = atoi(argv[2]);
	if (argc > 3 || step < 0 || step > 2 || requests < 1) {
		fprintf(stderr, "usage: coloring [0 | 1 | 2 [REQUESTS]]\n");
		return 2;
	}
	own = step > 0; /* one color each */
	if (mely_runtime_new(&rt, NULL) != 0 ||
	    mely_color_of_id(rt, (uint32_t)own, &totals.color) != 0)
		return 1;
	for (i = 0; i < CLIENTS; i++) {
		clients[i].number = i;
		if (mely_color_of_id(rt, own ? 100 + (uint32_t)i : 0, &clients[i].color) != 0)
			return 1;
		snprintf(name, sizeof name, "client %d", i);
		if (own && mely_color_set_name(clients[i].color, name) != 0)
			return 1;
		mely_post(clients[i].color, &request, &clients[i]);
	}
	if (own && mely_color_set_name(totals.color, "totals") != 0)
		return 1;
	if (mely_join_init(&gone, CLIENTS, totals.color, &ending) != 0)
		return 1;
	if (mely_run(rt) != 0)
		return 1;
	printf("%ld pages, %ld bytes\n", totals.pages, totals.bytes);
	return mely_runtime_free(rt);
}
