/* SPDX-License-Identifier: MIT */
/*
 * missing-color.c: a chat room in memory, colored almost right. Each guest has a color, and so
 * has the room. A line that a guest says is an event of the room, which posts it to all guests of
 * the room. But a guest that leaves takes itself off the room's list in its own color.
 *
 *     missing-color             one color is missing
 *     missing-color --colored   a guest that leaves asks the room to take it off the list
 *
 * Both print the same nearly always, and on one core always, so a test would pass. The color
 * checker finds the fault, even with MELY_CORES=1:
 *
 *     mely-check examples/missing-color
 *
 * It names on_leave in the color of the guest, on_line in that of the room, and room.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mely/mely.h>

enum { GUESTS = 5, LINES = 10 };

struct guest {
	struct mely_color *color;
	int number;
	int said, heard;
};

/* A line that a guest has said, on its way. */
struct line {
	struct guest *from;
	int number;
};

/* Only events of room.color should touch it. */
static struct room {
	struct mely_color *color;
	struct guest *present[GUESTS];
	int guests, lines;
} room;

static struct guest guests[GUESTS];
static struct mely_join gone;
static int colored;

/* ---- the guest's color ---------------------------------------------------------------------- */

static void
on_hear(void *arg)
{
	struct guest *guest = arg;

	guest->heard++;
}

static struct mely_handler hear = MELY_HANDLER(on_hear);

static void on_say(void *arg);
static void on_line(void *arg);
static void on_leave(void *arg);
static struct mely_handler say = MELY_HANDLER(on_say);
static struct mely_handler say_to_all = MELY_HANDLER(on_line);
static struct mely_handler leave = MELY_HANDLER(on_leave);

static void
on_say(void *arg)
{
	struct guest *guest = arg;
	struct line *line;

	if (guest->said == LINES) {
		/* The room's list is about to change, so this should go to room.color. */
		mely_post(colored ? room.color : guest->color, &leave, guest);
		return;
	}
	line = malloc(sizeof *line);
	if (line == NULL)
		abort();
	line->from = guest;
	line->number = ++guest->said;
	/* The line is the room's from here on. */
	mely_post(room.color, &say_to_all, line);
	mely_post(guest->color, &say, guest);
}

/* ---- the room's color ----------------------------------------------------------------------- */

static void
on_line(void *arg)
{
	struct line *line = arg;
	int i;

	room.lines++;
	for (i = 0; i < GUESTS; i++)
		if (room.present[i] != NULL && room.present[i] != line->from)
			mely_post(room.present[i]->color, &hear, room.present[i]);
	free(line);
}

/* Without --colored this runs in the guest's color: the fault. */
static void
on_leave(void *arg)
{
	struct guest *guest = arg;

	room.present[guest->number] = NULL;
	room.guests--;
	mely_join_done(&gone);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void
on_closing(void *arg)
{
	(void)arg;
	/* Lines that are still on their way to the room are said during the drain. */
	mely_stop(mely_current_runtime(), MELY_STOP_DRAIN);
}

static struct mely_handler closing = MELY_HANDLER(on_closing);

static void
guests_come(struct mely_runtime *rt)
{
	char name[32];
	int i;

	for (i = 0; i < GUESTS; i++) {
		guests[i].number = i;
		snprintf(name, sizeof name, "guest %d", i);
		if (mely_color_of_id(rt, 100 + (uint32_t)i, &guests[i].color) != 0 ||
		    mely_color_set_name(guests[i].color, name) != 0)
			abort();
		room.present[i] = &guests[i];
	}
	room.guests = GUESTS;
	for (i = 0; i < GUESTS; i++)
		mely_post(guests[i].color, &say, &guests[i]);
}

int
main(int argc, char **argv)
{
	struct mely_event end = MELY_EVENT(&closing, NULL);
	struct mely_color *door;
	struct mely_runtime *rt;

	colored = argc == 2 && strcmp(argv[1], "--colored") == 0;
	if (argc > 1 && !colored) {
		fprintf(stderr, "usage: missing-color [--colored]\n");
		return 2;
	}
	if (mely_runtime_new(&rt, NULL) != 0 || mely_color_of_id(rt, 0, &door) != 0 ||
	    mely_color_of_id(rt, 1, &room.color) != 0 ||
	    mely_color_set_name(room.color, "room") != 0 ||
	    mely_join_init(&gone, GUESTS, door, &end) != 0)
		return 1;
	guests_come(rt);
	if (mely_run(rt) != 0)
		return 1;
	printf("%d guests said %d lines\n", GUESTS, room.lines);
	return mely_runtime_free(rt);
}
