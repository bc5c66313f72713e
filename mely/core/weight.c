/* SPDX-License-Identifier: MIT */
/*
 * weight.c: weighing events and measuring handlers. Any thread that holds an event of the handler;
 * the sample of a core belongs to the core's thread.
 *
 * The paper asks the programmer for times and penalties (section 3). This file finds out what the
 * programmer did not write down.
 *
 * NOTE(weight)
 *   A. An event is weighed when it enters a color-queue, under the lock of the color's owner, and
 *      keeps the weight that it was counted with. Exactly that weight is subtracted later, however
 *      much the averages and the switches change in between. The weight is in ev->_time, which
 *      is 0 until then. An embedded event with its own time keeps the time there, because the time
 *      outlasts the post; its flags hold the shift by which the weight was divided.
 *   B. What a handler posts to its own color is weighed only when it outlasts the batch, in the
 *      turn that puts it into the color-queue.
 *   C. The batch sums the weights of the heads and tails that it ran or dropped. The turn that puts
 *      the batch back subtracts the sum from the color (sched/turn.c).
 *   D. The handler caches the weight of its ordinary event, once for each meaning that
 *      rt->switches.weighing can have. So a changed switch invalidates nothing, and runtimes with
 *      different switches may share the handler.
 *   E. The sum of an idle color is 0; developer builds assert it.
 *
 * NOTE(measure)
 *   A. Measured are one batch in MELYINT_SAMPLE_EVERY, the first batch after some of the steals,
 *      and each event that is weighed before its handler's time is known. Their functions are
 *      called through melyint_sample_run, so that other events pay nothing. The statistics take
 *      their times from these samples (NOTE(tally)), also for handlers that are never weighed.
 *   B. A handler belongs to the program again when the function of its last event is entered. So
 *      the core does not write the sample to the handler after the call. It leaves the sample in
 *      the runtime under the handler's number. A thread that next holds an event of that handler
 *      collects it before the function is entered: when the event is measured, or posted while the
 *      time is unknown. A sample that no thread collects is overwritten by another handler's.
 *      All cores read a handler with each of its events. So a core of more than eight leaves only
 *      one sample in several there, and the handler is written as often as with eight cores.
 *   C. "Away" is the first batch of a color after its steal; everything else counts as "home".
 *      The learned penalty is the rounded ratio of the two averages. Each sample from home lets it
 *      decay, so that a handler which is no longer stolen is tried again.
 */
#include "base/clock.h"
#include "core/core.h"
#include "core/handlers.h"
#include "core/weight.h"

enum {
	AVERAGE_SHIFT = 3,
	DECAY_SHIFT = 6,
	SPIKE_FACTOR = 16,   /* a preempted sample is cut to this many times the average ... */
	SPIKE_NS = 10000     /* ... and this */
};

/* These depend on the weighing alone, not on switches that may have changed since it was read: the
 * results are cached under the weighing (D of NOTE(weight)). */
static bool
wants_time(unsigned weighing, const struct mely_handler *handler)
{
	return handler->time_ns == 0 && melyint_weighs_measured(weighing);
}

static bool
wants_penalty(unsigned weighing, const struct mely_handler *handler)
{
	return handler->penalty == 0 && melyint_weighs_learned(weighing);
}

/* ---- averages -------------------------------------------------------------------------------- */

/* A moving average, 0 until the first sample; a spike counts for little. */
static uint32_t
averaged(uint32_t average, uint32_t ns)
{
	uint64_t most = (uint64_t)average * SPIKE_FACTOR + SPIKE_NS;
	int64_t sample = ns < most ? ns : (int64_t)most, next;

	if (average == 0)
		return ns;
	next = average + (sample - average) / (1 << AVERAGE_SHIFT);
	return next < 1 ? 1 : next < UINT32_MAX ? (uint32_t)next : UINT32_MAX;
}

static void
forget_weights(struct mely_handler *handler)
{
	int i;

	/* relaxed: the next post computes them again */
	for (i = 0; i < MELYINT_WEIGHINGS; i++)
		MELY_STORE(&handler->_weight[i], 0, relaxed);
}

void
melyint_sample_home(struct mely_handler *handler, uint32_t ns)
{
	/* relaxed, all: measurements; when two cores collect at once, one may lose a sample */
	uint32_t home = averaged(MELY_LOAD(&handler->_measured_ns, relaxed), ns);
	uint32_t away = MELY_LOAD(&handler->_away_ns, relaxed);

	MELY_STORE(&handler->_measured_ns, home, relaxed);
	if (away > home) {
		away -= (away - home + (1u << DECAY_SHIFT) - 1) >> DECAY_SHIFT;
		MELY_STORE(&handler->_away_ns, away, relaxed);
	}
	forget_weights(handler);
}

void
melyint_sample_away(struct mely_handler *handler, uint32_t ns)
{
	/* relaxed, both: as above */
	uint32_t away = MELY_LOAD(&handler->_away_ns, relaxed);

	MELY_STORE(&handler->_away_ns, averaged(away, ns), relaxed);
	forget_weights(handler);
}

/* ---- samples on their way: B of NOTE(measure) ------------------------------------------------ */

/* The key of a handler's sample: its number; for handlers that share the last number, bits of the
 * function's address. */
static uint32_t
key_of(struct mely_handler *handler)
{
	uint32_t number = melyint_handler_number(handler);

	if (MELY_UNLIKELY(number == MELYINT_HANDLER_OTHER))
		number = (uint32_t)((uintptr_t)handler->fn >> 4) | 1u << 31;
	return number;
}

/* Remove and return the sample under a key; 0: there is none. */
static uint32_t
take(_Atomic uint64_t *samples, uint32_t key)
{
	_Atomic uint64_t *sample = &samples[key % MELYINT_SAMPLES];
	uint64_t seen = MELY_LOAD(sample, relaxed); /* all in one word */

	if (seen >> 32 != key)
		return 0;
	/* relaxed: it publishes nothing; one of two collectors gets it */
	return MELY_CAS(sample, &seen, 0, relaxed) ? (uint32_t)seen : 0;
}

static void
collect(struct mely_runtime *rt, struct mely_handler *handler)
{
	uint32_t key = key_of(handler);
	uint32_t home = take(rt->samples.home, key);
	uint32_t away = take(rt->samples.away, key);

	if (home != 0)
		melyint_sample_home(handler, home);
	if (away == 0)
		return;
	melyint_sample_away(handler, away);
	/* A time after a steal is better than none. */
	if (MELY_LOAD(&handler->_measured_ns, relaxed) == 0)
		melyint_sample_home(handler, away);
}

/* ---- what is known of a handler -------------------------------------------------------------- */

bool
melyint_weight_unknown(struct mely_runtime *rt, unsigned weighing, struct mely_handler *handler)
{
	if (!wants_time(weighing, handler))
		return false;
	collect(rt, handler);
	return MELY_LOAD(&handler->_measured_ns, relaxed) == 0; /* a measurement */
}

uint32_t
melyint_weight_time(unsigned weighing, const struct mely_handler *handler)
{
	if (!wants_time(weighing, handler))
		return handler->time_ns;
	return MELY_LOAD(&handler->_measured_ns, relaxed); /* a measurement */
}

uint32_t
melyint_weight_penalty(unsigned weighing, const struct mely_handler *handler)
{
	/* relaxed, both: measurements */
	uint64_t away = MELY_LOAD(&handler->_away_ns, relaxed);
	uint64_t home = MELY_LOAD(&handler->_measured_ns, relaxed);

	if (handler->penalty != 0)
		return handler->penalty;
	if (home == 0 || !wants_penalty(weighing, handler))
		return 1;
	return melyint_weight_ratio(home, away);
}

/* ---- measuring a call ------------------------------------------------------------------------ */

void
melyint_sample_begin(struct melyint_core *core, struct mely_handler *handler, void *arg)
{
	struct melyint_sample *sample = &core->sampling.call;
	unsigned weighing = MELY_LOAD(&core->rt->switches.weighing, relaxed); /* a switch */

	sample->fn = handler->fn;
	sample->arg = arg;
	sample->away = core->sampling.away;
	sample->key = 0;
	if ((wants_time(weighing, handler) || wants_penalty(weighing, handler)) &&
	    (MELY_LOAD(&handler->_measured_ns, relaxed) == 0 || /* a measurement */
	    ++core->sampling.unshared >= core->rt->limits.share_every)) {
		core->sampling.unshared = 0;
		collect(core->rt, handler);
		sample->key = key_of(handler);
	}
	melyint_handler_known(melyint_handler_number(handler), handler);
}

void
melyint_sample_run(void *arg)
{
	struct melyint_core *core = arg;
	struct melyint_sample call = core->sampling.call;
	struct mely_runtime *rt = core->rt;
	uint64_t before = melyint_ticks(), ns;
	_Atomic uint64_t *samples;

	call.fn(call.arg);
	/* The program may have freed the handler. */
	ns = melyint_ticks_to_ns(melyint_ticks() - before);
	if (!call.away)
		melyint_tally_time(&core->tallies, ns); /* B of NOTE(tally) */
	if (call.key == 0)
		return;
	ns = ns == 0 ? 1 : ns < UINT32_MAX ? ns : UINT32_MAX;
	samples = call.away ? rt->samples.away : rt->samples.home;
	/* relaxed: all in one word */
	MELY_STORE(&samples[call.key % MELYINT_SAMPLES], (uint64_t)call.key << 32 | ns, relaxed);
}

/* ---- weights --------------------------------------------------------------------------------- */

static uint32_t
divided(uint32_t weight, uint32_t penalty)
{
	if (penalty > 1)
		weight /= penalty;
	return weight != 0 ? weight : 1;
}

static uint32_t
penalty_of(unsigned weighing, const struct mely_handler *handler)
{
	return melyint_weighs_penalties(weighing) ? melyint_weight_penalty(weighing, handler) : 1;
}

/* Compute the weight of an ordinary event of a handler, and cache it there. */
static uint32_t
weight_of_handler(unsigned weighing, struct mely_handler *handler)
{
	uint32_t ns = melyint_weight_time(weighing, handler);
	uint32_t plain = divided(melyint_weight_from_ns(ns), 1);
	uint32_t weighted = divided(plain, penalty_of(weighing, handler));

	/* relaxed, both: two threads that find the weight store the same value */
	MELY_STORE(&handler->_weight[melyint_weighing_plain(weighing) - 1], plain, relaxed);
	MELY_STORE(&handler->_weight[weighing - 1], weighted, relaxed);
	return weighted;
}

/* The smallest power of two that is at least the penalty, as a shift. */
static unsigned
shift_of(uint32_t penalty)
{
	unsigned shift = 0;

	while (shift < MELYINT_DIVIDED_MAX && penalty > 1u << shift)
		shift++;
	return shift;
}

/* An embedded event with its own time: the time stays, and a shift keeps the divisor. */
static uint32_t
weigh_timed(unsigned weighing, struct mely_event *ev)
{
	unsigned shift = shift_of(penalty_of(weighing, ev->_handler));

	ev->_flags |= (uint16_t)(MELYINT_EV_WEIGHED | shift << MELYINT_DIVIDED_SHIFT);
	return melyint_weight_of_timed(ev);
}

uint32_t
melyint_weigh_slow(struct mely_runtime *rt, unsigned weighing, struct mely_event *ev)
{
	/* relaxed: a measurement */
	uint32_t weight = MELY_LOAD(&ev->_handler->_weight[weighing - 1], relaxed);

	if (ev->_flags & MELYINT_EV_TIMED) {
		if (!(ev->_flags & MELYINT_EV_POOLED))
			return weigh_timed(weighing, ev);
		weight = divided(melyint_weight_from_ns(ev->_time),
		    penalty_of(weighing, ev->_handler));
		ev->_flags &= (uint16_t)~MELYINT_EV_TIMED;
	} else if (weight == 0 && !melyint_weight_unknown(rt, weighing, ev->_handler)) {
		weight = weight_of_handler(weighing, ev->_handler);
	} else if (weight == 0) {
		/* Measure this event, so that the time is known soon. */
		ev->_flags |= MELYINT_EV_SAMPLE;
		weight = MELYINT_WEIGHT_UNKNOWN;
	}
	ev->_time = weight;
	return weight;
}

uint32_t
melyint_weight_of_timed(const struct mely_event *ev)
{
	uint32_t weight;

	if (!(ev->_flags & MELYINT_EV_WEIGHED))
		return 0;
	weight = melyint_weight_from_ns(ev->_time) >> (ev->_flags >> MELYINT_DIVIDED_SHIFT);
	return weight != 0 ? weight : 1;
}
