/* SPDX-License-Identifier: MIT */
/*
 * tally.c: counting for the statistics. The core's own thread alone writes; any thread reads what
 * is atomic.
 *
 * NOTE(tally)
 *   A. Events. The core knows the number of the handler that it entered last, and the place of that
 *      handler's count. While consecutive events have one number, it only writes how many events of
 *      the batch have begun. When the number changes, and when the batch ends, it adds the row to
 *      the count. So counts are exact at the end of a batch.
 *   B. Times. In one batch of MELYINT_SAMPLE_EVERY, and at least one a millisecond, the core
 *      measures the events (NOTE(measure)), as it does events whose handler's time is unknown. The
 *      samples go into the handler's histogram, also where the handler is annotated. Batches right
 *      after a steal are left out: far more of them are measured, and they are slower.
 *   C. Stamps. Every event that waits in a color-queue has a stamp in ticks, which gives its age.
 *      Usually that is the beginning of the batch that posted it, or the core's last reading of the
 *      clock since then; for an event that a color posted to itself, it is the end of that batch.
 *      One post in MELYINT_STAMP_EVERY, and at least one a millisecond, has an exact stamp and a
 *      flag that sends it to its handler on the slow path, where the delay is recorded. So does
 *      the first event that a sampled batch leaves to its own color. Threads that are not cores
 *      stamp exactly.
 *   D. Activities. The word since holds when the current activity began, with the activity in its
 *      low bits; spent sums the earlier ones. A change first sets the word to 0, then adds, then
 *      stores the new word. With acquire and release, a reader that sees the word unchanged before
 *      and after it reads the sums has read a consistent pair. Only slow paths change the activity:
 *      from one batch to the next the core stays busy.
 */
#include "core/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "queue/evq.h"

enum { DOING_BITS = 7 }; /* the low bits of since */

void
melyint_tallies_init(struct melyint_tallies *t)
{
	memset(t, 0, sizeof *t);
	melyint_stable_init(&t->tallies, sizeof(struct melyint_tally));
	t->now = &t->spare;
	t->number = MELYINT_NO_HANDLER;
	t->stamp_in = 1;
	/* relaxed, both: no other thread knows it yet. Away since tick 0, nearly. */
	MELY_STORE(&t->handler, MELYINT_NO_HANDLER, relaxed);
	MELY_STORE(&t->since, DOING_BITS + 1, relaxed);
}

void
melyint_tallies_fini(struct melyint_tallies *t)
{
	uint32_t number;

	for (number = 0; number < MELYINT_HANDLERS; number++) {
		struct melyint_tally *tally = melyint_stable_at(&t->tallies, number);

		if (tally == NULL)
			continue;
		/* relaxed, both: no other thread uses it any more */
		free(MELY_LOAD(&tally->time, relaxed));
		free(MELY_LOAD(&tally->delay, relaxed));
	}
	free(MELY_LOAD(&t->spare.time, relaxed));
	free(MELY_LOAD(&t->spare.delay, relaxed));
	melyint_stable_fini(&t->tallies);
}

/* ---- events: A of NOTE(tally) ------------------------------------------------------------- */

void
melyint_tally_change(struct melyint_tallies *t, struct mely_handler *handler, uint32_t ran)
{
	uint32_t number = melyint_handler_number(handler);

	MELY_COUNT(&t->now->count, ran - t->counted);
	t->counted = ran;
	t->number = number;
	t->now = melyint_stable_reach(&t->tallies, number);
	if (MELY_UNLIKELY(t->now == NULL))
		t->now = &t->spare;
	MELY_STORE(&t->handler, number, relaxed); /* a name for other threads */
}

const struct melyint_tally *
melyint_tally_of(struct melyint_tallies *t, uint32_t number)
{
	return melyint_stable_at(&t->tallies, number);
}

uint64_t
melyint_tally_events(struct melyint_tallies *t)
{
	uint32_t end = melyint_handlers_end(), number;
	uint64_t sum = MELY_LOAD(&t->spare.count, relaxed); /* relaxed, all: counts */

	for (number = 1; number <= end; number++) {
		const struct melyint_tally *tally =
		    melyint_tally_of(t, number < end ? number : MELYINT_HANDLER_OTHER);

		if (tally != NULL)
			sum += MELY_LOAD(&tally->count, relaxed);
	}
	return sum;
}

/* ---- times and delays: B and C of NOTE(tally) ---------------------------------------------- */

static void
enter(_Atomic(struct melyint_hist *) *where, uint64_t ns)
{
	struct melyint_hist *hist = MELY_LOAD(where, relaxed); /* ours */

	if (hist == NULL) {
		hist = calloc(1, sizeof *hist);
		if (hist == NULL)
			return; /* one sample less */
		/* release: pairs with the acquire of readers: zeros come before samples */
		MELY_STORE(where, hist, release);
	}
	melyint_hist_add(hist, ns);
}

void
melyint_tally_time(struct melyint_tallies *t, uint64_t ns)
{
	enter(&t->now->time, ns);
}

void
melyint_tally_delay(struct melyint_tallies *t, uint64_t stamp)
{
	uint64_t now = melyint_ticks();

	/* The counters of two processors may differ a little. */
	enter(&t->now->delay, now > stamp ? melyint_ticks_to_ns(now - stamp) : 0);
}

void
melyint_stamp_exactly(struct melyint_tallies *t, struct mely_event *ev)
{
	t->stamp_in = MELYINT_STAMP_EVERY;
	t->clock_ticks = ev->_stamp = melyint_ticks();
	ev->_flags |= MELYINT_EV_STAMPED;
}

void
melyint_stamp_outside(struct mely_event *ev, uint64_t n)
{
	ev->_stamp = melyint_ticks();
	if (n % MELYINT_STAMP_EVERY == 0)
		ev->_flags |= MELYINT_EV_STAMPED;
}

/* ---- what it does: D of NOTE(tally) -------------------------------------------------------- */

unsigned
melyint_doing(struct melyint_tallies *t, unsigned doing, uint64_t now_ticks)
{
	uint64_t since = MELY_LOAD(&t->since, relaxed); /* ours */
	uint64_t began = since & ~(uint64_t)DOING_BITS;
	unsigned was = (unsigned)(since & DOING_BITS);

	now_ticks &= ~(uint64_t)DOING_BITS;
	MELY_STORE(&t->since, 0, relaxed); /* before the release below */
	/* release: pairs with the acquire of a reader, which then sees the 0 or a later word */
	if (now_ticks > began)
		MELY_STORE(&t->spent[was],
		    MELY_LOAD(&t->spent[was], relaxed) + (now_ticks - began), release);
	/* release: pairs with the acquire of a reader, which then sees the sum */
	MELY_STORE(&t->since, now_ticks | doing, release);
	return was;
}

unsigned
melyint_doing_read(const struct melyint_tallies *t, uint64_t now_ticks,
    uint64_t spent[MELYINT_DOINGS])
{
	uint64_t since, began;
	unsigned doing;

	do {
		/* acquire, all but the last: as above */
		since = MELY_LOAD(&t->since, acquire);
		for (doing = 0; doing < MELYINT_DOINGS; doing++)
			spent[doing] = MELY_LOAD(&t->spent[doing], acquire);
		if (since == 0)
			melyint_cpu_relax();
	} while (since == 0 || MELY_LOAD(&t->since, relaxed) != since);
	began = since & ~(uint64_t)DOING_BITS;
	doing = (unsigned)(since & DOING_BITS);
	if (now_ticks > began)
		spent[doing] += now_ticks - began;
	return doing;
}

void
melyint_tallies_rest(struct melyint_tallies *t)
{
	t->counted = 0;
	t->now = &t->spare;
	t->number = MELYINT_NO_HANDLER;
	MELY_STORE(&t->handler, MELYINT_NO_HANDLER, relaxed); /* one thread */
	melyint_lock_init(&t->tallies.lock);
	melyint_doing(t, MELY_STATS_AWAY, melyint_ticks());
}
