/* SPDX-License-Identifier: MIT */
/*
 * measure.c: see measure.h. The paper asks the programmer for times and penalties (section 3); here
 * what is not written down is found out.
 */
#include "base/clock.h"
#include "core/core.h"
#include "core/handlers.h"
#include "core/measure.h"
#include "core/weight.h"

enum {
	AVERAGE_SHIFT = 3,
	DECAY_SHIFT = 6,
	SPIKE_FACTOR = 16,   /* a preempted sample is cut to so many times the average ... */
	SPIKE_NS = 10000     /* ... and this */
};

/* From the meaning of weights alone, not from a switch that may have been turned since that was
 * read: what is found is kept under it (D of NOTE(weight)). */
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

/* A running average, 0 until the first sample; a spike counts for little. */
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
weigh_anew(struct mely_handler *handler)
{
	int i;

	/* relaxed: the next post finds them again */
	for (i = 0; i < MELYINT_WEIGHINGS; i++)
		MELY_STORE(&handler->_weight[i], 0, relaxed);
}

void
melyint_measure_home(struct mely_handler *handler, uint32_t ns)
{
	/* relaxed, all: measurements; of two cores that collect at once one may lose a sample */
	uint32_t home = averaged(MELY_LOAD(&handler->_measured_ns, relaxed), ns);
	uint32_t away = MELY_LOAD(&handler->_away_ns, relaxed);

	MELY_STORE(&handler->_measured_ns, home, relaxed);
	if (away > home) {
		away -= (away - home + (1u << DECAY_SHIFT) - 1) >> DECAY_SHIFT;
		MELY_STORE(&handler->_away_ns, away, relaxed);
	}
	weigh_anew(handler);
}

void
melyint_measure_away(struct mely_handler *handler, uint32_t ns)
{
	/* relaxed, both: as above */
	uint32_t away = MELY_LOAD(&handler->_away_ns, relaxed);

	MELY_STORE(&handler->_away_ns, averaged(away, ns), relaxed);
	weigh_anew(handler);
}

/* ---- samples on their way: B of NOTE(measure) ------------------------------------------------ */

/* Under which word a sample of the handler is left: its number, or where that is shared with others
 * what tells functions apart. */
static uint32_t
key_of(struct mely_handler *handler)
{
	uint32_t number = melyint_handler_number(handler);

	if (MELY_UNLIKELY(number == MELYINT_HANDLER_OTHER))
		number = (uint32_t)((uintptr_t)handler->fn >> 4) | 1u << 31;
	return number;
}

/* The sample under a key, which is then gone; 0: none. */
static uint32_t
take(_Atomic uint64_t *samples, uint32_t key)
{
	_Atomic uint64_t *sample = &samples[key % MELYINT_SAMPLES];
	uint64_t seen = MELY_LOAD(sample, relaxed); /* all in one word */

	if (seen >> 32 != key)
		return 0;
	/* relaxed: nothing is published with it; of two collectors one gets it */
	return MELY_CAS(sample, &seen, 0, relaxed) ? (uint32_t)seen : 0;
}

static void
collect(struct mely_runtime *rt, struct mely_handler *handler)
{
	uint32_t key = key_of(handler);
	uint32_t home = take(rt->samples.home, key);
	uint32_t away = take(rt->samples.away, key);

	if (home != 0)
		melyint_measure_home(handler, home);
	if (away == 0)
		return;
	melyint_measure_away(handler, away);
	/* Better than nothing. */
	if (MELY_LOAD(&handler->_measured_ns, relaxed) == 0)
		melyint_measure_home(handler, away);
}

/* ---- what is known --------------------------------------------------------------------------- */

bool
melyint_measure_wanted(struct mely_runtime *rt, unsigned weighing, struct mely_handler *handler)
{
	if (!wants_time(weighing, handler))
		return false;
	collect(rt, handler);
	return MELY_LOAD(&handler->_measured_ns, relaxed) == 0; /* a measurement */
}

uint32_t
melyint_measure_time(unsigned weighing, const struct mely_handler *handler)
{
	if (!wants_time(weighing, handler))
		return handler->time_ns;
	return MELY_LOAD(&handler->_measured_ns, relaxed); /* a measurement */
}

uint32_t
melyint_measure_penalty(unsigned weighing, const struct mely_handler *handler)
{
	/* relaxed, both: measurements */
	uint64_t away = MELY_LOAD(&handler->_away_ns, relaxed);
	uint64_t home = MELY_LOAD(&handler->_measured_ns, relaxed);

	if (handler->penalty != 0)
		return handler->penalty;
	if (home == 0 || !wants_penalty(weighing, handler))
		return 1;
	return melyint_measure_ratio(home, away);
}

/* ---- the probe ------------------------------------------------------------------------------- */

void
melyint_measure_begin(struct melyint_core *core, struct mely_handler *handler, void *arg)
{
	struct melyint_probe *probe = &core->sampling.call;
	unsigned weighing = MELY_LOAD(&core->rt->switches.weighing, relaxed); /* a switch */

	probe->fn = handler->fn;
	probe->arg = arg;
	probe->away = core->sampling.away;
	probe->key = 0;
	if (wants_time(weighing, handler) || wants_penalty(weighing, handler)) {
		collect(core->rt, handler);
		probe->key = key_of(handler);
	}
	melyint_handler_known(melyint_handler_number(handler), handler);
}

void
melyint_probe_run(void *arg)
{
	struct melyint_core *core = arg;
	struct melyint_probe probe = core->sampling.call;
	struct mely_runtime *rt = core->rt;
	uint64_t before = melyint_ticks(), ns;
	_Atomic uint64_t *samples;

	probe.fn(probe.arg);
	/* The handler may be no more. */
	ns = melyint_ticks_to_ns(melyint_ticks() - before);
	if (!probe.away)
		melyint_tally_time(&core->tallies, ns); /* B of NOTE(tally) */
	if (probe.key == 0)
		return;
	ns = ns == 0 ? 1 : ns < UINT32_MAX ? ns : UINT32_MAX;
	samples = probe.away ? rt->samples.away : rt->samples.home;
	/* relaxed: all in one word */
	MELY_STORE(&samples[probe.key % MELYINT_SAMPLES], (uint64_t)probe.key << 32 | ns, relaxed);
}
