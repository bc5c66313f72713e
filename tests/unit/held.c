/* SPDX-License-Identifier: MIT */
/*
 * color/color.c: what keeps a color by id. mely_current_color does not: a trim gives the color back
 * once it is idle. A call that stores the color's address does, and so does an embedded event.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include <mely/mely.h>
#include "base/atomic.h"
#include "color/slab.h"
#include "color/table.h"
#include "core/core.h"

enum { ID = 0x9e3779b1u, PATIENT_NS = 1000000 };

static struct mely_runtime *rt;
static struct mely_color stop_color, other_color;
static struct mely_event event, done;
static struct mely_join join;
static mely_watch watch;
static int fds[2];
/* Of the handler that makes the call; a handler may run on a thread that cmocka does not know. */
static int result;
static bool before, after;
static pid_t child;
static _Atomic int step; /* of a case with two cores */

static void
on_nothing(void *arg)
{
	(void)arg;
}

static struct mely_handler nothing = MELY_HANDLER(on_nothing);

static void
on_stop(void *arg)
{
	(void)arg;
	(void)mely_stop(rt, MELY_STOP_DRAIN);
}

static struct mely_handler stop_handler = MELY_HANDLER(on_stop);

static bool
held(const struct mely_color *color)
{
	return (MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_HELD) != 0;
}

/* ---- the calls ------------------------------------------------------------------------------ */

static int
by_fd(struct mely_color *color)
{
	return mely_fd_watch(color, fds[0], MELY_FD_READ, &nothing, NULL, &watch);
}

static int
by_timer(struct mely_color *color)
{
	return mely_timer_start(color, 3600000000000u, 0, 0, &nothing, NULL, &watch);
}

static int
by_signal(struct mely_color *color)
{
	return mely_signal_watch(color, SIGUSR1, &nothing, NULL, &watch);
}

static int
by_child(struct mely_color *color)
{
	return mely_child_watch(color, child, &nothing, NULL, &watch);
}

static int
by_drain(struct mely_color *color)
{
	return mely_drain_watch(color, &nothing, NULL, &watch);
}

static int
by_work(struct mely_color *color)
{
	return mely_work(color, MELY_WORK_USER, on_nothing, &nothing, NULL, &watch);
}

static int
by_join(struct mely_color *color)
{
	return mely_join_init(&join, 1, color, &event);
}

static int
by_drained(struct mely_color *color)
{
	return mely_color_set_high_water(&other_color, 1, color, &event);
}

static int
by_pin(struct mely_color *color)
{
	return mely_color_pin(color, 0);
}

static int
by_id(struct mely_color *color)
{
	struct mely_color *same;
	int error = mely_color_of_id(rt, ID, &same);

	return error == 0 && same != color ? -EINVAL : error;
}

static int
by_name(struct mely_color *color)
{
	return mely_color_set_name(color, "named");
}

static int
by_mark(struct mely_color *color)
{
	return mely_color_set_high_water(color, 100, NULL, NULL);
}

static int
by_event(struct mely_color *color)
{
	return mely_event_post(color, &event);
}

static int
by_event_id(struct mely_color *color)
{
	(void)color;
	return mely_event_post_id(rt, ID, &event);
}

static int
by_event_head(struct mely_color *color)
{
	return mely_event_post_head(color, &event);
}

/* It was in the batch, although nothing of the batch is left. */
static int
by_cancelled_event(struct mely_color *color)
{
	return mely_event_post(color, &event) != 0 ? -EINVAL :
	    mely_event_cancel(&event, NULL, NULL);
}

static int
by_nothing(struct mely_color *color)
{
	return mely_post(color, &nothing, NULL);
}

/* ---- one color ------------------------------------------------------------------------------ */

enum lasts { LASTS_NOT, LASTS, LASTS_AT_ONCE }; /* AT_ONCE: when the call returns */

struct keeper {
	const char *name;
	int (*keep)(struct mely_color *color);
	enum lasts lasts;
};

static const struct keeper keepers[] = {
	{"nothing", by_nothing, LASTS_NOT},
	{"a descriptor", by_fd, LASTS_AT_ONCE},
	{"a timer", by_timer, LASTS_AT_ONCE},
	{"a signal", by_signal, LASTS_AT_ONCE},
	{"a child", by_child, LASTS_AT_ONCE},
	{"a drain", by_drain, LASTS_AT_ONCE},
	{"work", by_work, LASTS_AT_ONCE},
	{"a join", by_join, LASTS_AT_ONCE},
	{"the end of a mark", by_drained, LASTS_AT_ONCE},
	{"a pin", by_pin, LASTS_AT_ONCE},
	{"mely_color_of_id", by_id, LASTS_AT_ONCE},
	{"a name", by_name, LASTS},
	{"a mark", by_mark, LASTS},
	{"an event", by_event, LASTS},
	{"an event by id", by_event_id, LASTS},
	{"an event at the head", by_event_head, LASTS},
	{"a cancelled event", by_cancelled_event, LASTS},
};

static void
on_keeper(void *arg)
{
	const struct keeper *keeper = arg;
	struct mely_color *color = mely_current_color();

	before = held(color);
	result = keeper->keep(color);
	after = held(color);
}

static struct mely_handler keeper_handler = MELY_HANDLER(on_keeper);

static void
make(int cores)
{
	struct mely_config config;

	assert_int_equal(mely_config_init(&config), 0);
	config.cores = cores;
	config.stealing = 0; /* each color stays on its core */
	assert_int_equal(mely_runtime_new(&rt, &config), 0);
	assert_int_equal(mely_color_init_on(&stop_color, rt, 0), 0);
	assert_int_equal(mely_color_init_on(&other_color, rt, 0), 0);
	mely_event_init(&event, &nothing, NULL);
	mely_event_init(&done, &nothing, NULL);
}

static void
is_kept(const struct keeper *keeper)
{
	size_t bytes;

	make(1);
	assert_int_equal(pipe(fds), 0);
	child = keeper->keep == by_child ? fork() : 0;
	if (child == 0 && keeper->keep == by_child) {
		pause();
		_exit(0);
	}
	assert_int_equal(mely_post_id(rt, ID, &keeper_handler, (void *)(uintptr_t)keeper), 0);
	assert_int_equal(mely_post(&stop_color, &stop_handler, NULL), 0);
	assert_int_equal(mely_run(rt), 0);
	bytes = melyint_colortab_trim(rt);
	print_message("%s: result %d, %zu bytes given back\n", keeper->name, result, bytes);
	assert_int_equal(result, 0);
	assert_false(before);
	if (keeper->lasts != LASTS)
		assert_int_equal(after, keeper->lasts == LASTS_AT_ONCE);
	assert_int_equal(bytes, keeper->lasts == LASTS_NOT ? sizeof(struct melyint_entry) : 0);
	assert_int_equal(mely_runtime_free(rt), 0);
	close(fds[0]);
	close(fds[1]);
	if (child != 0) {
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
	}
}

static void
calls_keep_it(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof keepers / sizeof keepers[0]; i++)
		is_kept(&keepers[i]);
}

/* ---- a stop that has to wait ---------------------------------------------------------------- */

static void
reach(int number)
{
	atomic_store(&step, number);
}

static void
wait_for(int number)
{
	while (atomic_load(&step) < number)
		sched_yield();
}

/* An event, or a timer, that runs until the stop has returned. */
static void
on_long(void *arg)
{
	(void)arg;
	reach(1);
	wait_for(2);
}

static struct mely_handler long_handler = MELY_HANDLER(on_long);

/* Stops it meanwhile, on the other core. */
static void
on_stopper(void *arg)
{
	struct mely_color *color = mely_current_color();

	wait_for(1);
	before = held(color);
	if (arg != NULL)
		result = mely_event_cancel(&event, color, &done);
	else
		result = mely_watch_stop(rt, watch, color, &done);
	after = held(color);
	reach(2);
	(void)mely_post(&stop_color, &stop_handler, NULL);
}

static struct mely_handler stopper = MELY_HANDLER(on_stopper);

static void
completion_keeps(bool of_event)
{
	make(2);
	atomic_store(&step, 0);
	assert_int_equal(ID % 2, 1); /* it lives on core 1, the other color on core 0 */
	if (of_event) {
		mely_event_init(&event, &long_handler, NULL);
		assert_int_equal(mely_event_post(&other_color, &event), 0);
	} else {
		assert_int_equal(mely_timer_start(&other_color, 0, PATIENT_NS, 0, &long_handler,
		    NULL, &watch), 0);
	}
	assert_int_equal(mely_post_id(rt, ID, &stopper, of_event ? &event : NULL), 0);
	assert_int_equal(mely_run(rt), 0);
	assert_int_equal(result, -EINPROGRESS);
	assert_false(before);
	assert_true(after);
	assert_int_equal(melyint_colortab_trim(rt), 0);
	assert_int_equal(mely_runtime_free(rt), 0);
}

static void
completions_keep_it(void **state)
{
	(void)state;
	completion_keeps(true);
	completion_keeps(false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_keep_it),
		cmocka_unit_test(completions_keep_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
