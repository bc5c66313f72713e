/* SPDX-License-Identifier: MIT */
/*
 * poller.c: the use of a poller by another core: that core keeps a wake-up it finds, leaves a held
 * poller alone, and runs its timers; and when a core counts as stuck. One thread plays the cores.
 */
#include <errno.h>
#include <unistd.h>

#include "unit.h"
#include "io/state.h"
#include "io/poller.h"
#include "sched/stuck.h"
#include "io/watch.h"

static struct mely_runtime *rt;
static struct melyint_core *one, *two;
static struct mely_color color;
static int ends[2];
static uint64_t ran;

static void
count(void *arg)
{
	++*(uint64_t *)arg;
}

static struct mely_handler handler = MELY_HANDLER(count);

static int
setup(void **state)
{
	struct mely_config config;
	mely_watch watch;

	(void)state;
	alarm(60); /* a lost wake-up hangs */
	assert_int_equal(mely_config_init(&config), 0);
	config.cores = 2;
	config.stuck_ms = 4;
	assert_int_equal(mely_runtime_new(&rt, &config), 0);
	one = &rt->cores[0];
	two = &rt->cores[1];
	assert_int_equal(mely_color_init_on(&color, rt, 1), 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(mely_fd_watch(&color, ends[0], MELY_FD_READ, &handler, &ran, &watch), 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	melyint_self = NULL;
	/* relaxed, both: one thread */
	MELY_STORE(&two->hint.busy, 0, relaxed);
	MELY_STORE(&two->locked.sleep, MELYINT_AWAKE, relaxed);
	assert_int_equal(mely_runtime_free(rt), 0);
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static uint64_t
counted(const _Atomic uint64_t *counter)
{
	return MELY_LOAD(counter, relaxed); /* one thread */
}

static void
wake_up_is_kept(void **state)
{
	(void)state;
	melyint_poller_wake(two);
	melyint_self = one;
	assert_true(melyint_poller_relieve(one, two));
	melyint_self = two;
	melyint_poller_sleep(two, UINT64_MAX);
	/* Only once. */
	assert_false(two->fixed.poller->woken);
}

static void
held_is_left_alone(void **state)
{
	(void)state;
	assert_int_equal(write(ends[1], "x", 1), 1);
	melyint_lock_take(&two->fixed.poller->hold);
	melyint_self = one;
	assert_false(melyint_poller_relieve(one, two));
	melyint_self = two;
	assert_int_equal(melyint_poller_look(two), 0);
	melyint_poller_tick(two);
	melyint_lock_drop(&two->fixed.poller->hold);
	assert_int_equal(counted(&one->counters.polls_taken), 0);
	melyint_self = one;
	assert_true(melyint_poller_relieve(one, two));
	assert_int_equal(counted(&one->counters.polls_taken), 1);
	assert_int_equal(counted(&one->counters.polls), 1);
	assert_int_equal(counted(&one->counters.readiness), 1);
	assert_int_equal(counted(&two->counters.polls), 0);
	/* A second poll finds nothing. */
	melyint_self = two;
	assert_int_equal(melyint_poller_look(two), 0);
}

static void
timers_of_others(void **state)
{
	struct melyint_poller *p = two->fixed.poller;
	mely_watch awake, asleep;

	(void)state;
	assert_int_equal(mely_timer_start(&color, 1000000000, 0, 0, &handler, &ran, &awake), 0);
	assert_int_equal(p->armed, 1);
	assert_int_equal(two->ready.length, 0);
	/* A sleeping core holds its poller. */
	melyint_lock_take(&p->hold);
	MELY_STORE(&two->locked.sleep, MELYINT_ASLEEP, relaxed); /* one thread */
	MELY_ADD(&two->fixed.domain->sleepers, 1, relaxed);
	MELY_ADD(&rt->idle.domains, 1, relaxed);
	assert_int_equal(mely_timer_start(&color, 0, 0, 0, &handler, &ran, &asleep), 0);
	assert_int_equal(p->armed, 1);
	assert_int_equal(two->ready.length, 1);
	assert_int_equal(MELY_LOAD(&two->locked.sleep, relaxed), MELYINT_AWAKE);
	assert_int_equal(mely_watch_stop(rt, asleep, NULL, NULL), 0);
	assert_int_equal(two->ready.length, 1); /* the message is on its way */
	melyint_lock_drop(&p->hold);
	assert_int_equal(mely_watch_stop(rt, awake, NULL, NULL), 0);
	assert_int_equal(p->armed, 0);
}

static bool
taken(struct melyint_watch *w)
{
	return (MELY_LOAD(&w->gen, acquire) & 1) == 1; /* as in melyint_watch_hold */
}

/* An outside thread waits for the poller in the middle of a call on a timer, while the runtime
 * stops and runs again. The record must not be freed meanwhile. */
static void
stop_meets_a_waiting_thread(void **state)
{
	uint32_t slot = melyint_slots_used(&rt->io->slots);
	struct melyint_watch *w;
	mely_watch timer;

	(void)state;
	assert_int_equal(mely_timer_start(&color, 1000000000, 0, 0, &handler, &ran, &timer), 0);
	w = melyint_slots_at(&rt->io->slots, slot);
	assert_non_null(w);
	/* as in timer.c:step_aside */
	melyint_watch_guard(w);
	w->refs++;
	w->u.timer.aside++;
	melyint_watch_drop(w);
	melyint_io_begin_stop(rt, false);
	melyint_io_begin_run(rt);
	assert_true(taken(w));
	melyint_watch_guard(w);
	w->u.timer.aside--;
	w->refs--;
	melyint_watch_drop(w);
	assert_false(taken(w));
	assert_int_equal(mely_watch_stop(rt, timer, NULL, NULL), -ENOENT);
}

static void
stuck_from_when(void **state)
{
	const _Atomic uint64_t *taken = &one->counters.polls_taken;
	uint64_t stuck = rt->stuck.ticks, t = 1000 * stuck;

	(void)state;
	assert_true(stuck > 0);
	melyint_self = one;
	MELY_COUNT(&two->counters.batches, 1);
	/* A core that is not busy may sleep for any time. */
	melyint_stuck_look(one, t, true);
	melyint_stuck_look(one, t + 10 * stuck, true);
	assert_int_equal(counted(taken), 0);
	t += 20 * stuck;
	MELY_STORE(&two->hint.busy, 1, relaxed); /* one thread */
	melyint_stuck_look(one, t, true); /* the first check */
	melyint_stuck_look(one, t + stuck - 1, true);
	assert_int_equal(counted(taken), 0);
	melyint_stuck_look(one, t + stuck, true);
	assert_int_equal(counted(taken), 1);
	melyint_stuck_look(one, t + stuck + 1, true); /* it was just relieved */
	assert_int_equal(counted(taken), 1);
	melyint_stuck_look(one, t + stuck + rt->limits.tick_ticks, true);
	assert_int_equal(counted(taken), 2);
	/* It returns for a moment. */
	MELY_COUNT(&two->counters.batches, 1);
	t += 5 * stuck;
	melyint_stuck_look(one, t, true);
	melyint_stuck_look(one, t + stuck - 1, false);
	assert_int_equal(counted(taken), 2);
	melyint_stuck_look(one, t + stuck, false);
	assert_int_equal(counted(taken), 3);
	/* It sleeps again. */
	MELY_STORE(&two->hint.busy, 0, relaxed);
	melyint_stuck_look(one, t + 9 * stuck, true);
	assert_int_equal(counted(taken), 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(wake_up_is_kept, setup, teardown),
	    cmocka_unit_test_setup_teardown(held_is_left_alone, setup, teardown),
	    cmocka_unit_test_setup_teardown(timers_of_others, setup, teardown),
	    cmocka_unit_test_setup_teardown(stop_meets_a_waiting_thread, setup, teardown),
	    cmocka_unit_test_setup_teardown(stuck_from_when, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
