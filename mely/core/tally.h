/* SPDX-License-Identifier: MIT */
/*
 * tally.h: what a core counts for the statistics: events by handler, samples of times and delays,
 * and how the core spends its time. Part of core.h. The core's own thread alone writes; any thread
 * reads. The protocol is NOTE(tally) in tally.c.
 */
#ifndef MELYINT_CORE_TALLY_H
#define MELYINT_CORE_TALLY_H

#include "core/handlers.h"
#include "base/hist.h"
#include "base/stable.h"

enum {
	MELYINT_STAMP_EVERY = 61, /* posts to other colors; a prime */
	MELYINT_DOINGS = MELY_STATS_SLEEPING + 1
};

/* Of one handler on one core. */
struct melyint_tally {
	_Atomic uint64_t count;
	_Atomic(struct melyint_hist *) time;  /* made at the first sample */
	_Atomic(struct melyint_hist *) delay;
};

/* What a core reports of its running batch to a census: D of NOTE(census). The owner writes, any
 * thread reads. */
struct melyint_answer {
	_Atomic uint32_t to;     /* the census that this answers */
	_Atomic uint32_t events; /* waiting events of the batch, as far as they were counted */
	_Atomic bool more;       /* more events wait than were counted */
	_Atomic uint64_t stamp;  /* of the first waiting event; 0: none waits */
	_Atomic(const struct mely_color *) color;
};

/* The owner writes; any thread reads what is atomic. */
struct melyint_tallies {
	struct melyint_tally *now;     /* of the handler that was entered last */
	uint32_t number;               /* its number */
	uint32_t counted;              /* events of this batch that are in counts */
	uint32_t stamp_in;             /* posts until one is stamped exactly */
	uint64_t clock_ticks;          /* when it last read the clock between two turns */
	_Atomic uint32_t handler;      /* number, for other threads */
	_Atomic uint32_t begun;        /* events of this batch that have begun */
	_Atomic uint64_t since;        /* D of NOTE(tally) */
	_Atomic uint64_t spent[MELYINT_DOINGS]; /* ticks */
	struct melyint_answer answer;
	struct melyint_stable tallies; /* struct melyint_tally by number */
	struct melyint_tally spare;    /* of handlers without memory for their own */
};

void melyint_tallies_init(struct melyint_tallies *t);
void melyint_tallies_fini(struct melyint_tallies *t);
/* In the child of a fork, by one thread: nothing runs. */
void melyint_tallies_rest(struct melyint_tallies *t);

/* Owner, before it enters a handler with another number than the last: ran events of the batch
 * have run. */
void melyint_tally_change(struct melyint_tallies *t, struct mely_handler *handler, uint32_t ran);

/* Owner: the batch has ended. */
MELY_INLINE void
melyint_tally_flush(struct melyint_tallies *t, uint32_t ran)
{
	MELY_COUNT(&t->now->count, ran - t->counted);
	t->counted = 0;
}

/* Owner: record the time that an event of the current handler took, and the delay of an event with
 * this stamp whose handler is entered now. */
void melyint_tally_time(struct melyint_tallies *t, uint64_t ns);
void melyint_tally_delay(struct melyint_tallies *t, uint64_t stamp);

/* Owner: begin another activity. Returns the one before. */
unsigned melyint_doing(struct melyint_tallies *t, unsigned doing, uint64_t now_ticks);

/* The activity at now_ticks, and the ticks spent on each. Any thread. */
unsigned melyint_doing_read(const struct melyint_tallies *t, uint64_t now_ticks,
    uint64_t spent[MELYINT_DOINGS]);

/* The tally of a handler, or NULL; the number of all events. Any thread. */
const struct melyint_tally *melyint_tally_of(struct melyint_tallies *t, uint32_t number);
uint64_t melyint_tally_events(struct melyint_tallies *t);

/* C of NOTE(tally): exact stamps, by a core; by another thread, for the n'th post from outside. */
void melyint_stamp_exactly(struct melyint_tallies *t, struct mely_event *ev);
void melyint_stamp_outside(struct mely_event *ev, uint64_t n);

/* C of NOTE(tally): stamp an event for another color. Owner; its last turn began at turn_ticks. */
MELY_INLINE void
melyint_stamp(struct melyint_tallies *t, uint64_t turn_ticks, struct mely_event *ev)
{
	if (MELY_UNLIKELY(--t->stamp_in == 0)) {
		melyint_stamp_exactly(t, ev);
		return;
	}
	ev->_stamp = turn_ticks > t->clock_ticks ? turn_ticks : t->clock_ticks;
}

#endif
