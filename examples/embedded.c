/* SPDX-License-Identifier: MIT */
/*
 * embedded.c: events and colors inside the program's own structs, so that the library allocates
 * nothing: parcels travel through a ring of stations. A parcel contains its event; the last station
 * frees it, and at the end each station releases its color.
 */
#include <stdio.h>
#include <stdlib.h>
#include <mely/mely.h>

enum { STATIONS = 8, PARCELS = 100, STOPS = 1000 };

struct station {
	struct mely_color color; /* 64 bytes, aligned to 64 */
	long seen;
};

struct parcel {
	struct mely_event event;
	int at, stops;
};

static struct station stations[STATIONS];
static struct mely_join delivered;

static void
on_parcel(void *arg)
{
	struct parcel *parcel = arg;

	/* The event is ours again: we can post it to the next station, or free it. */
	stations[parcel->at].seen++;
	if (++parcel->stops < STOPS) {
		parcel->at = (parcel->at + 1) % STATIONS;
		mely_event_post(&stations[parcel->at].color, &parcel->event);
	} else {
		free(parcel);
		mely_join_done(&delivered);
	}
}

static struct mely_handler travel = MELY_HANDLER(on_parcel);

static void
on_delivered(void *arg)
{
	long seen = 0;
	int i;

	(void)arg;
	for (i = 0; i < STATIONS; i++)
		seen += stations[i].seen;
	printf("%d parcels were seen %ld times\n", PARCELS, seen);
	mely_stop(mely_current_runtime(), MELY_STOP_DRAIN);
}

static struct mely_handler all_delivered = MELY_HANDLER(on_delivered);

static void
on_closed(void *arg)
{
	(void)arg; /* from here on the station could be freed */
}

int
main(void)
{
	struct mely_event end = MELY_EVENT(&all_delivered, NULL);
	struct mely_runtime *rt;
	struct mely_color *office;
	int i;

	if (mely_runtime_new(&rt, NULL) != 0 || mely_color_of_id(rt, 0, &office) != 0 ||
	    mely_join_init(&delivered, PARCELS, office, &end) != 0)
		return 1;
	for (i = 0; i < STATIONS; i++)
		if (mely_color_init(&stations[i].color, rt) != 0)
			return 1;
	for (i = 0; i < PARCELS; i++) {
		struct parcel *parcel = malloc(sizeof *parcel);

		if (parcel == NULL)
			return 1;
		mely_event_init(&parcel->event, &travel, parcel);
		parcel->at = i % STATIONS;
		parcel->stops = 0;
		mely_event_post(&stations[parcel->at].color, &parcel->event);
	}
	if (mely_run(rt) != 0)
		return 1;
	for (i = 0; i < STATIONS; i++)
		mely_color_release(&stations[i].color, on_closed, NULL);
	return mely_runtime_free(rt);
}
