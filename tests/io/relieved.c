/* SPDX-License-Identifier: MIT */
/*
 * relieved.c: while others serve the poller of a stuck core, stops of timers stay exact, and so
 * do stops of the runtime, mely_run_once_for and forks.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "stuck.h"

/* ---- stops stay exact ----------------------------------------------------------------------- */

struct churn {
	struct mely_color *color;
	mely_watch timer;       /* this and what follows: only the color's handlers use it */
	bool started;
	uint64_t fires, wanted; /* of this timer; stopped when it has fired so often */
	uint64_t turns, left;
	_Atomic uint64_t ended;
};

static void on_churn(void *arg);
static struct mely_handler churn_handler = MELY_HANDLER(on_churn);

static void
on_fired(void *arg)
{
	struct churn *churn = arg;

	TEST_CHECK(churn->started);
	churn->fires++;
}

static struct mely_handler fired_handler = MELY_HANDLER(on_fired);

static void
churn_start(struct churn *churn)
{
	churn->wanted = churn->turns++ % 3;
	churn->fires = 0;
	churn->started = true;
	TEST_OK(mely_timer_start(churn->color, churn->turns % 5 * 100000, 300000, 0,
	    &fired_handler, churn, &churn->timer));
	if (churn->turns % 4 == 0)
		TEST_OK(mely_timer_again(stuck_rt, churn->timer, 0, 200000));
}

/* Start a timer, let it fire a few times or not at all, stop it in a handler of its color. */
static void
on_churn(void *arg)
{
	struct churn *churn = arg;

	if (!churn->started) {
		churn_start(churn);
	} else if (churn->fires >= churn->wanted) {
		TEST_OK(mely_watch_stop(stuck_rt, churn->timer, NULL, NULL));
		churn->started = false;
		TEST_EQ(mely_watch_stop(stuck_rt, churn->timer, NULL, NULL), -ENOENT);
		churn->left--;
	}
	if (churn->left == 0)
		test_add(&churn->ended, 1);
	else
		TEST_OK(mely_post(churn->color, &churn_handler, churn));
}

/* Timers of all cores' loops start, fire and stop while one or another core is stuck. */
static void
stops_are_exact(void)
{
	enum { CHURNS = 12, ROUNDS = 6 };
	struct churn churn[CHURNS];
	struct hold holds[ROUNDS], *hold;
	_Atomic uint64_t fired;
	mely_watch watch;
	int i, round;

	atomic_init(&fired, 0);
	stuck_start(3);
	memset(churn, 0, sizeof churn);
	for (i = 0; i < CHURNS; i++)
		churn[i].color = test_color_on(stuck_rt, i % 3);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < CHURNS; i++) {
			churn[i].left = test_scale(60);
			TEST_OK(mely_post(churn[i].color, &churn_handler, &churn[i]));
		}
		hold = &holds[round];
		hold_init(hold, round % 3);
		hold_begin(hold);
		for (i = 0; i < CHURNS; i++)
			test_await(&churn[i].ended, (uint64_t)round + 1);
		/* And from outside, a timer whose color is the stuck one. */
		TEST_OK(mely_timer_start(hold->color, 0, 100000, 0, &stuck_count, &fired, &watch));
		test_nap_us(3000);
		TEST_OK(mely_watch_stop(stuck_rt, watch, NULL, NULL));
		hold_end(hold);
		test_settle(hold->color);
		TEST_EQ(test_get(&fired), 0);
	}
	stuck_end();
	for (i = 0; i < CHURNS; i++)
		free(churn[i].color);
	for (i = 0; i < ROUNDS; i++)
		free(holds[i].color);
}

/* ---- a core that is stuck from time to time -------------------------------------------------- */

struct flap {
	struct mely_color *color; /* pinned */
	uint64_t seed, left;
	_Atomic uint64_t ended;
};

static void on_flap(void *arg);
static struct mely_handler flap_handler = MELY_HANDLER(on_flap);

static void
on_flap(void *arg)
{
	struct flap *flap = arg;

	test_nap_us((unsigned)(test_random(&flap->seed) % 3000));
	if (flap->left-- == 0)
		test_add(&flap->ended, 1);
	else
		TEST_OK(mely_post(flap->color, &flap_handler, flap));
}

/* The core returns while others still serve its poller, or are about to. */
static void
comes_and_goes(void)
{
	enum { LINES = 4 };
	struct mely_config config;
	struct line line[LINES];
	struct flap flap;
	_Atomic uint64_t fired;
	mely_watch watch;
	int i;

	memset(&flap, 0, sizeof flap);
	atomic_init(&fired, 0);
	test_config(&config, 3);
	config.stuck_ms = 1;
	config.fd_residency_ms = 3600000; /* the descriptors stay on its poller */
	config.fd_residency_events = UINT32_MAX;
	stuck_rt = test_runtime_with(&config);
	test_run_start(&stuck_runner, stuck_rt);
	for (i = 0; i < LINES; i++)
		line_open(&line[i], test_color_on(stuck_rt, 1));
	TEST_OK(mely_timer_start(line[0].color, 0, 300000, 0, &stuck_count, &fired, &watch));
	flap.color = test_color_on(stuck_rt, 1);
	TEST_OK(mely_color_pin(flap.color, 1));
	flap.seed = test_seed;
	flap.left = test_scale(300);
	TEST_OK(mely_post(flap.color, &flap_handler, &flap));
	while (test_get(&flap.ended) == 0)
		for (i = 0; i < LINES; i++)
			line_ping(&line[i]);
	test_await(&fired, test_get(&fired) + 5);
	stuck_stop_timer(watch);
	stuck_end();
	for (i = 0; i < LINES; i++) {
		line_close(&line[i]);
		free(line[i].color);
	}
	free(flap.color);
}

/* ---- the life of the runtime ---------------------------------------------------------------- */

static void
stop_meanwhile(enum mely_stop_mode mode)
{
	struct line line;
	struct hold hold;

	stuck_start(3);
	line_open(&line, test_color_on(stuck_rt, 1));
	hold_init(&hold, 1);
	hold_begin(&hold);
	line_ping(&line);
	line_send(&line);
	TEST_OK(mely_stop(stuck_rt, mode));
	TEST_EQ(mely_timer_start(line.color, 0, 0, 0, &stuck_count, &line.came, &(mely_watch){0}),
	    -ESHUTDOWN);
	test_nap_us(5000);
	hold_end(&hold);
	test_run_join(&stuck_runner);
	TEST_OK(mely_runtime_free(stuck_rt));
	line_close(&line);
	free(line.color);
	free(hold.color);
}

static void
stops(void)
{
	stop_meanwhile(MELY_STOP_DRAIN);
	stop_meanwhile(MELY_STOP_DISCARD);
}

static void *
once_thread(void *arg)
{
	struct hold *hold = arg;

	while (test_get(&hold->out) == 0)
		TEST_CHECK(mely_run_once_for(stuck_rt, 0) >= 0);
	return NULL;
}

/* Core 0 is the program's own thread, in mely_run_once_for. */
static void
run_once(void)
{
	struct line line;
	struct hold hold;
	pthread_t thread;

	stuck_make(2, 2);
	line_open(&line, test_color_on(stuck_rt, 0));
	hold_init(&hold, 0);
	thread = test_thread(once_thread, &hold);
	hold_begin(&hold);
	line_ping(&line);
	hold_end(&hold);
	test_thread_join(thread);
	TEST_OK(mely_stop(stuck_rt, MELY_STOP_DISCARD));
	TEST_OK(mely_runtime_free(stuck_rt));
	line_close(&line);
	free(line.color);
	free(hold.color);
}

static void
on_fork(void *arg)
{
	_Atomic uint64_t *forked = arg;
	int status;
	pid_t pid = fork();

	TEST_CHECK(pid >= 0);
	if (pid == 0 && TEST_TSAN) { /* TSan allows the child no threads */
		TEST_OK(mely_runtime_renew(stuck_rt));
		_exit(0);
	}
	if (pid == 0) {
		struct hold hold;
		struct line line;

		/* The child's runtime relieves its cores as the parent's does. */
		TEST_OK(mely_runtime_renew(stuck_rt));
		test_run_start(&stuck_runner, stuck_rt);
		line_open(&line, test_color_on(stuck_rt, 1));
		hold_init(&hold, 1);
		hold_begin(&hold);
		line_ping(&line);
		hold_end(&hold);
		_exit(0);
	}
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_EQ(status, 0);
	test_add(forked, 1);
}

static struct mely_handler fork_handler = MELY_HANDLER(on_fork);

/* A fork while a core is stuck and timers fire in its loop, which another core may be in. */
static void
forks(void)
{
	struct mely_color *color, *forker;
	struct hold hold;
	_Atomic uint64_t fired, forked;
	mely_watch watch;
	uint64_t i;

	atomic_init(&fired, 0);
	atomic_init(&forked, 0);
	stuck_start(3);
	color = test_color_on(stuck_rt, 1);
	forker = test_color_on(stuck_rt, 2);
	TEST_OK(mely_timer_start(color, 0, 100000, 0, &stuck_count, &fired, &watch));
	hold_init(&hold, 1);
	hold_begin(&hold);
	for (i = 1; i <= 3; i++) {
		test_await(&fired, test_get(&fired) + 5);
		TEST_OK(mely_post(forker, &fork_handler, &forked));
		test_await(&forked, i);
	}
	hold_end(&hold);
	stuck_stop_timer(watch);
	stuck_end();
	free(color);
	free(forker);
	free(hold.color);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(stops_are_exact);
	TEST_CASE(comes_and_goes);
	TEST_CASE(stops);
	TEST_CASE(run_once);
	TEST_CASE(forks);
	return test_done();
}
