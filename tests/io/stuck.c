/* SPDX-License-Identifier: MIT */
/*
 * stuck.c: a handler that does not return delays only its own color and what is pinned to its core.
 * Other cores serve the descriptors, timers, signals and children of that core's poller, and the
 * colors that wait there. Only then the test lets the handler return.
 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "stuck.h"

/* ---- cases ---------------------------------------------------------------------------------- */

/* All cores sleep, one gets stuck, and only then its poller has something to report. */
static void
descriptor_on(int cores, int core, bool spins)
{
	struct line line;
	struct hold hold;
	int i;

	stuck_start(cores);
	line_open(&line, test_color_on(stuck_rt, core));
	test_nap_us(3000);
	hold_init(&hold, core);
	hold.spins = spins;
	hold_begin(&hold);
	for (i = 0; i < 10; i++)
		line_ping(&line);
	TEST_CHECK(test_counters(stuck_rt).polls_taken > 0);
	hold_end(&hold);
	for (i = 0; i < 10; i++)
		line_ping(&line);
	stuck_end();
	line_close(&line);
	free(line.color);
	free(hold.color);
}

static void
descriptors(void)
{
	descriptor_on(2, 0, false);
	descriptor_on(2, 1, false);
	descriptor_on(8, 3, true);
}

/* Colors that cannot move: pinned to another core, with descriptors on the stuck one. */
static void
without_stealing_by(int pollers)
{
	struct mely_config config;
	struct line line;
	struct hold hold;
	int i;

	test_config(&config, 3);
	config.stuck_ms = 2;
	config.pollers = pollers;
	config.stealing = 0;
	stuck_rt = test_runtime_with(&config);
	test_run_start(&stuck_runner, stuck_rt);
	line_open(&line, test_color_on(stuck_rt, 0));
	TEST_OK(mely_color_pin(line.color, 1));
	line_ping(&line);
	line.core = 1;
	hold_init(&hold, 0);
	hold_begin(&hold);
	for (i = 0; i < 10; i++)
		line_ping(&line);
	TEST_CHECK(test_counters(stuck_rt).polls_taken > 0);
	TEST_EQ(test_counters(stuck_rt).steals, 0);
	hold_end(&hold);
	stuck_end();
	line_close(&line);
	free(line.color);
	free(hold.color);
}

static void
without_stealing(void)
{
	without_stealing_by(0);
	without_stealing_by(1);
}

/* A timer armed before, one armed meanwhile from outside, one of the wall clock. */
static void
timers_on(int core)
{
	struct mely_color *color;
	struct hold hold;
	_Atomic uint64_t once, again, late, wall;
	mely_watch watch, repeating;
	struct timespec now;

	atomic_init(&once, 0);
	atomic_init(&again, 0);
	atomic_init(&late, 0);
	atomic_init(&wall, 0);
	stuck_start(2);
	color = test_color_on(stuck_rt, core);
	clock_gettime(CLOCK_REALTIME, &now);
	TEST_OK(mely_timer_start(color, 5000000, 0, 0, &stuck_count, &once, &watch));
	TEST_OK(mely_timer_start(color, 0, 1000000, 0, &stuck_count, &again, &repeating));
	TEST_OK(mely_timer_start(color, (uint64_t)now.tv_sec * 1000000000u +
	    (uint64_t)now.tv_nsec + 30000000u, 0, MELY_TIMER_WALL, &stuck_count, &wall, &watch));
	hold_init(&hold, core);
	hold_begin(&hold);
	TEST_OK(mely_timer_start(color, 1000000, 0, 0, &stuck_count, &late, &watch));
	test_await(&late, 1);
	test_await(&once, 1);
	test_await(&wall, 1);
	test_await(&again, test_get(&again) + 20);
	hold_end(&hold);
	test_await(&again, test_get(&again) + 20);
	stuck_stop_timer(repeating);
	stuck_end();
	TEST_EQ(test_get(&once), 1);
	TEST_EQ(test_get(&late), 1);
	TEST_EQ(test_get(&wall), 1);
	free(color);
	free(hold.color);
}

/* A sleeping core learns of a timer by a message, and in the same wake-up gets the handler that it
 * is stuck in, of the highest priority. */
static void
timer_beside_post(void)
{
	struct mely_color *color;
	struct hold hold;
	_Atomic uint64_t fired;
	mely_watch watch;

	atomic_init(&fired, 0);
	stuck_start(3);
	color = test_color_on(stuck_rt, 1);
	hold_init(&hold, 1);
	hold.urgent = true;
	test_nap_us(20000); /* it sleeps */
	TEST_OK(mely_timer_start(color, 1000000, 0, 0, &stuck_count, &fired, &watch));
	hold_begin(&hold);
	test_await(&fired, 1);
	hold_end(&hold);
	stuck_end();
	free(color);
	free(hold.color);
}

static void
timers(void)
{
	timer_beside_post();
	timers_on(0);
	timers_on(1);
}

/* Core 0 delivers the signals. */
static void
signals(void)
{
	struct mely_color *color;
	struct hold hold;
	_Atomic uint64_t came;
	mely_watch watch;
	uint64_t i;

	atomic_init(&came, 0);
	stuck_start(2);
	color = test_color_on(stuck_rt, 1);
	TEST_OK(mely_signal_watch(color, SIGUSR1, &stuck_count, &came, &watch));
	hold_init(&hold, 0);
	hold_begin(&hold);
	for (i = 1; i <= 10; i++) {
		TEST_EQ(kill(getpid(), SIGUSR1), 0);
		test_await(&came, i);
	}
	hold_end(&hold);
	TEST_EQ(kill(getpid(), SIGUSR1), 0);
	test_await(&came, 11);
	stuck_end();
	free(color);
	free(hold.color);
}

static void
children(void)
{
	struct mely_color *color;
	struct hold hold;
	_Atomic uint64_t ended;
	mely_watch watch;
	int gate[2];
	pid_t pid;
	char byte;

	atomic_init(&ended, 0);
	TEST_EQ(pipe2(gate, O_CLOEXEC), 0);
	pid = fork();
	TEST_CHECK(pid >= 0);
	if (pid == 0) {
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) == 0 ? 7 : 1);
	}
	stuck_start(2);
	color = test_color_on(stuck_rt, 1);
	TEST_OK(mely_child_watch(color, pid, &stuck_count, &ended, &watch));
	hold_init(&hold, 1);
	hold_begin(&hold);
	close(gate[1]);
	test_await(&ended, 1);
	hold_end(&hold);
	stuck_end();
	close(gate[0]);
	free(color);
	free(hold.color);
}

/* ---- the colors that wait there ------------------------------------------------------------- */

enum { BUSY = 5 };

static _Atomic uint64_t busy_end;
static void on_busy(void *arg);
static struct mely_handler busy = MELY_HANDLER(on_busy);

static void
on_busy(void *arg)
{
	if (test_get(&busy_end) == 0)
		TEST_OK(mely_post(arg, &busy, arg));
}

/* The other core is never idle and need not balance, and still takes what waits. */
static void
waiting_colors(void)
{
	enum { WAITING = 40 };
	struct mely_color *color[WAITING + BUSY];
	struct mely_config config;
	struct line line;
	struct hold hold;
	_Atomic uint64_t ran;
	int i;

	atomic_init(&ran, 0);
	atomic_store(&busy_end, 0);
	test_config(&config, 2);
	config.stuck_ms = 2;
	config.balance = 0;
	stuck_rt = test_runtime_with(&config);
	test_run_start(&stuck_runner, stuck_rt);
	hold_init(&hold, 1);
	hold_begin(&hold);
	for (i = 0; i < BUSY; i++) {
		color[i] = test_color_on(stuck_rt, 0);
		TEST_OK(mely_post(color[i], &busy, color[i]));
	}
	for (; i < WAITING + BUSY; i++) {
		color[i] = test_color_on(stuck_rt, 1);
		TEST_OK(mely_post(color[i], &stuck_count, &ran));
	}
	test_await(&ran, WAITING);
	line_open(&line, test_color_on(stuck_rt, 1));
	for (i = 0; i < 10; i++)
		line_ping(&line);
	hold_end(&hold);
	test_add(&busy_end, 1);
	stuck_end();
	line_close(&line);
	free(line.color);
	free(hold.color);
	for (i = 0; i < WAITING + BUSY; i++)
		free(color[i]);
}

enum { ROW = 20 };

struct row {
	struct hold hold;
	struct mely_color *to[ROW];
	_Atomic uint64_t ran;
};

/* A row of posts to a busy core, held back until the end of the batch, which does not come. */
static void
on_row(void *arg)
{
	struct row *row = arg;
	int i;

	for (i = 0; i < ROW; i++)
		TEST_OK(mely_post(row->to[i], &stuck_count, &row->ran));
	test_add(&row->hold.in, 1);
	test_await(&row->hold.let_go, 1);
	test_add(&row->hold.out, 1);
}

static struct mely_handler row_handler = MELY_HANDLER(on_row);

/* What the stuck handler has posted runs, although no core is idle. */
static void
posts_held_back(void)
{
	struct mely_color *color[BUSY];
	struct row row;
	int i;

	memset(&row, 0, sizeof row);
	atomic_store(&busy_end, 0);
	stuck_start(2);
	for (i = 0; i < BUSY; i++) {
		color[i] = test_color_on(stuck_rt, 0);
		TEST_OK(mely_color_pin(color[i], 0));
		TEST_OK(mely_post(color[i], &busy, color[i]));
	}
	for (i = 0; i < ROW; i++) {
		row.to[i] = test_color_on(stuck_rt, 0);
		TEST_OK(mely_color_pin(row.to[i], 0));
	}
	hold_init(&row.hold, 1);
	TEST_OK(mely_post(row.hold.color, &row_handler, &row));
	test_await(&row.hold.in, 1);
	test_await(&row.ran, ROW);
	hold_end(&row.hold);
	test_add(&busy_end, 1);
	stuck_end();
	free(row.hold.color);
	for (i = 0; i < ROW; i++)
		free(row.to[i]);
	for (i = 0; i < BUSY; i++)
		free(color[i]);
}

/* The stuck color's own descriptor and one pinned to the core wait; others do not. */
static void
some_must_wait(void)
{
	struct line own, pinned, beside;
	struct hold hold;
	int i;

	stuck_start(2);
	line_open(&pinned, test_color_on(stuck_rt, 1));
	TEST_OK(mely_color_pin(pinned.color, 1));
	pinned.core = 1;
	line_open(&beside, test_color_on(stuck_rt, 1));
	hold_init(&hold, 1);
	hold_begin(&hold);
	line_open(&own, hold.color);
	own.core = 1;
	for (i = 0; i < 20; i++) {
		line_send(&own);
		line_send(&pinned);
		line_ping(&beside);
	}
	TEST_EQ(test_get(&own.came), 0);
	TEST_EQ(test_get(&pinned.came), 0);
	hold_end(&hold);
	test_await(&own.came, 20);
	test_await(&pinned.came, 20);
	/* The core serves its poller again: no other core may run these. */
	for (i = 0; i < 20; i++) {
		line_ping(&own);
		line_ping(&pinned);
	}
	stuck_end();
	line_close(&own);
	line_close(&pinned);
	line_close(&beside);
	free(pinned.color);
	free(beside.color);
	free(hold.color);
}

static void
all_but_one(int cores, int free_core)
{
	struct hold hold[8];
	struct line line[8];
	int i, k;

	stuck_start(cores);
	for (i = 0; i < cores; i++)
		line_open(&line[i], test_color_on(stuck_rt, i));
	for (i = 0; i < cores; i++)
		if (i != free_core) {
			hold_init(&hold[i], i);
			hold_begin(&hold[i]);
		}
	for (k = 0; k < 5; k++)
		for (i = 0; i < cores; i++)
			line_ping(&line[i]);
	for (i = 0; i < cores; i++)
		if (i != free_core)
			hold_end(&hold[i]);
	stuck_end();
	for (i = 0; i < cores; i++) {
		line_close(&line[i]);
		free(line[i].color);
		if (i != free_core)
			free(hold[i].color);
	}
}

static void
several(void)
{
	all_but_one(3, 0);
	all_but_one(3, 2);
	all_but_one(8, 5);
}

static void
never(int cores, unsigned stuck_ms)
{
	struct line line;
	struct hold hold;

	stuck_make(cores, stuck_ms);
	test_run_start(&stuck_runner, stuck_rt);
	line_open(&line, test_color_on(stuck_rt, cores - 1));
	hold_init(&hold, cores - 1);
	hold_begin(&hold);
	line_send(&line);
	test_nap_us(30000);
	TEST_EQ(test_get(&line.came), 0);
	TEST_EQ(test_counters(stuck_rt).polls_taken, 0);
	hold_end(&hold);
	test_await(&line.came, 1);
	stuck_end();
	line_close(&line);
	free(line.color);
	free(hold.color);
}

static void
not_when_off(void)
{
	never(2, 0);
	never(2, 3600000);
	never(1, 2); /* no other core exists */
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(descriptors);
	TEST_CASE(without_stealing);
	TEST_CASE(timers);
	TEST_CASE(signals);
	TEST_CASE(children);
	TEST_CASE(waiting_colors);
	TEST_CASE(posts_held_back);
	TEST_CASE(some_must_wait);
	TEST_CASE(several);
	TEST_CASE(not_when_off);
	return test_done();
}
