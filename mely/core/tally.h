/* SPDX-License-Identifier: MIT */
/*
 * tally.h: what a core keeps for the statistics: events by handler, samples of times and delays,
 * and what it spends its own time on. Part of core.h.
 *
 * NOTE(tally)
 *   A. Events. The core knows the number of the handler that it entered last, and where that one's
 *      count is. While the handlers' numbers stay the same it only writes how many events of the
 *      batch have begun; when they change, and when the batch ends, the row goes into the count. So
 *      counts are exact, at batch ends.
 *   B. Times. In one batch of MELYINT_SAMPLE_EVERY, one a millisecond at least (tick), its
 *      events are called by way of the probe (NOTE(measure)), which also does so for the events
 *      whose handler is not known; what it finds goes into the handler's histogram, annotated or
 *      not. Batches right after a steal are left out: far more of them are measured, and they are
 *      slower.
 *   C. Stamps. Every event that waits in a color-queue has a stamp in ticks, which tells its age.
 *      Mostly that is when the batch began that posted it, or the last time that the core has
 *      looked at the clock since; for what a color posted to itself, when that batch ended. One
 *      post in MELYINT_STAMP_EVERY, and one a millisecond at least, has an exact stamp and a flag
 *      that takes it through the slow way into its handler, where its delay is entered. So does the
 *      first event that a sampled batch leaves to its own color. Threads that are no cores stamp
 *      exactly.
 *   D. What the core does. The word since holds when it began, and what, in its low bits; what was
 *      done before is summed in spent. A change first makes the word 0, then adds, then stores it
 *      anew: with acquire and release a reader that sees the word unchanged around its looks at the
 *      sums has seen a pair that belongs together. Changes are on slow ways only: from one batch to
 *      the next the core stays busy.
 * Everything is written by the core's own thread, and by nobody else.
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

/* What a core says of the batch that it runs, to who looks: D of NOTE(census). Owner, and read by
 * anyone. */
struct melyint_answer {
	_Atomic uint32_t to;     /* to which look */
	_Atomic uint32_t events; /* of the batch that wait, as far as they were counted */
	_Atomic bool more;       /* there are more of them */
	_Atomic uint64_t stamp;  /* of the first of them; 0: there is none */
	_Atomic(const struct mely_color *) color;
};

/* Owner, and read by anyone where atomic. */
struct melyint_tallies {
	struct melyint_tally *now;     /* of the handler that was entered last */
	uint32_t number;               /* its number */
	uint32_t counted;              /* events of this batch that are in counts */
	uint32_t stamp_in;             /* posts until one is stamped exactly */
	uint64_t clock_ticks;          /* when it last looked at the clock between two turns */
	_Atomic uint32_t handler;      /* number of that handler, once more, for others */
	_Atomic uint32_t begun;        /* events of this batch that have begun */
	_Atomic uint64_t since;        /* D of NOTE(tally) */
	_Atomic uint64_t spent[MELYINT_DOINGS]; /* ticks */
	struct melyint_answer answer;
	struct melyint_stable tallies; /* struct melyint_tally by number */
	struct melyint_tally spare;    /* of handlers for whom there was no memory */
};

void melyint_tallies_init(struct melyint_tallies *t);
void melyint_tallies_fini(struct melyint_tallies *t);
/* In the child of a fork, by one thread: nothing runs any more. */
void melyint_tallies_rest(struct melyint_tallies *t);

/* Owner, before it enters a handler with another number than the last: ran events of the batch
 * have run. */
void melyint_tally_change(struct melyint_tallies *t, struct mely_handler *handler, uint32_t ran);

/* Owner: the batch is over. */
MELY_INLINE void
melyint_tally_flush(struct melyint_tallies *t, uint32_t ran)
{
	MELY_COUNT(&t->now->count, ran - t->counted);
	t->counted = 0;
}

/* Owner: an event of the handler entered last has taken so long; one of it that is about to be
 * entered has this stamp. */
void melyint_tally_time(struct melyint_tallies *t, uint64_t ns);
void melyint_tally_delay(struct melyint_tallies *t, uint64_t stamp);

/* Owner: from now on it does something else. Returns what it did. */
unsigned melyint_doing(struct melyint_tallies *t, unsigned doing, uint64_t now_ticks);

/* What the core does at now_ticks, and the ticks spent on each. Any thread. */
unsigned melyint_doing_read(const struct melyint_tallies *t, uint64_t now_ticks,
    uint64_t spent[MELYINT_DOINGS]);

/* What is known of a handler, or NULL; all events. Any thread. */
const struct melyint_tally *melyint_tally_of(struct melyint_tallies *t, uint32_t number);
uint64_t melyint_tally_events(struct melyint_tallies *t);

/* C of NOTE(tally): exact stamps. By a core; by a thread that is none, and the n'th to post. */
void melyint_stamp_exactly(struct melyint_tallies *t, struct mely_event *ev);
void melyint_stamp_outside(struct mely_event *ev, uint64_t n);

/* C of NOTE(tally): ev is on its way to another color. Owner; its last turn began at turn_ticks. */
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
