/* SPDX-License-Identifier: MIT */
/*
 * cores.h: a runtime that does not run, whose cores one thread plays in turn. For the unit tests of
 * the scheduler: the cores' queues are set up by posts, and the function under test is called as a
 * core.
 */
#ifndef MELY_UNIT_CORES_H
#define MELY_UNIT_CORES_H

#include <stdbool.h>
#include <unistd.h>

#include "unit.h"
#include "core/core.h"
#include "core/worth.h"
#include "sched/post.h"
#include "sched/run.h"
#include "sched/victim.h"

enum { CORES = 3, COLORS = 8 };

static struct mely_runtime *rt;
static struct melyint_core *one, *two;
static struct mely_color colors[COLORS];
static const char *cores_topology; /* NULL: this machine's */
static int calls[64], calls_count; /* the arguments of count, in order */

static void
count(void *arg)
{
	calls[calls_count++ % 64] = (int)(intptr_t)arg;
}

static MELY_UNUSED struct mely_handler handler = MELY_HANDLER(count);

/* This thread is core from now on; NULL: a thread outside. */
static void
play(struct melyint_core *core)
{
	melyint_self = core;
}

static MELY_UNUSED uint64_t
counted(const _Atomic uint64_t *counter)
{
	return MELY_LOAD(counter, relaxed); /* one thread */
}

/* All colors are objects that live on the second core. */
static int
cores_setup(void **state)
{
	struct mely_config config;
	int i;

	(void)state;
	alarm(60); /* a sleep that no wake-up ends */
	assert_int_equal(mely_config_init(&config), 0);
	config.cores = CORES;
	config.topology = cores_topology;
	config.spin_us_max = 0;
	config.balance = 1;
	config.stealing = MELY_STEAL_ON;
	config.steal_ns = 0;
	assert_int_equal(mely_runtime_new(&rt, &config), 0);
	one = &rt->cores[0];
	two = &rt->cores[1];
	calls_count = 0;
	for (i = 0; i < COLORS; i++)
		assert_int_equal(mely_color_init_on(&colors[i], rt, 1), 0);
	return 0;
}

static int
cores_teardown(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < CORES; i++) {
		play(&rt->cores[i]);
		melyint_turn_end(&rt->cores[i]);
	}
	play(NULL);
	return mely_runtime_free(rt);
}

/* The core falls asleep, as far as others see. */
static MELY_UNUSED void
put_to_sleep(struct melyint_core *core, uint8_t how)
{
	melyint_lock_take(&core->lock);
	MELY_STORE(&core->locked.sleep, how, relaxed);
	if (MELY_ADD(&core->fixed.domain->sleepers, 1, relaxed) == 0)
		MELY_ADD(&core->rt->idle.domains, 1, relaxed);
	if (how == MELYINT_SENTRY)
		MELY_ADD(&core->rt->idle.sentries, 1, relaxed);
	melyint_lock_drop(&core->lock);
}

/* Post n events to colors[color], from outside; their arguments are 0 up. */
static MELY_UNUSED void
post(int color, int n)
{
	struct melyint_core *self = melyint_self;
	int i;

	play(NULL);
	for (i = 0; i < n; i++)
		assert_int_equal(mely_post(&colors[color], &handler, (void *)(intptr_t)i), 0);
	play(self);
}

/* Play core for a turn and its batch, or until it has nothing left. */
static MELY_UNUSED void
run_batch(struct melyint_core *core)
{
	play(core);
	assert_true(melyint_turn(core));
	melyint_batch_run(core);
}

static MELY_UNUSED void
run_all(struct melyint_core *core)
{
	play(core);
	while (melyint_turn(core))
		melyint_batch_run(core);
}

/* relaxed, all: one thread */
static MELY_UNUSED unsigned
state_of(const struct mely_color *color)
{
	return MELY_LOAD(&color->_state, relaxed);
}

static MELY_UNUSED struct melyint_core *
owner_of(const struct mely_color *color)
{
	return MELY_LOAD(&color->_owner, relaxed);
}

static MELY_UNUSED uint32_t
waiting_on(const struct melyint_core *core)
{
	return MELY_LOAD(&core->hint.waiting, relaxed);
}

static MELY_UNUSED uint32_t
stealable_on(const struct melyint_core *core)
{
	return MELY_LOAD(&core->hint.stealable, relaxed);
}

#endif
