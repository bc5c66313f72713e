/* SPDX-License-Identifier: MIT */
/*
 * pollers.c: one poller, or one for each core; a descriptor follows its color, but not at every
 * steal; a busy core still polls.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

static struct mely_runtime *rt;

struct line {
	struct mely_color *color;
	int fd[2];              /* the color reads the first and writes back to it */
	mely_watch watch;
	_Atomic uint64_t echoes;
};

static void
on_line(void *arg)
{
	struct line *line = arg;
	char byte;

	TEST_CHECK(mely_current_color() == line->color);
	while (read(line->fd[0], &byte, 1) == 1) {
		TEST_EQ(write(line->fd[0], &byte, 1), 1);
		test_add(&line->echoes, 1);
	}
	mely_fd_drained();
}

static struct mely_handler line_handler = MELY_HANDLER(on_line);

static void
open_line(struct line *line, int core)
{
	memset(line, 0, sizeof *line);
	TEST_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, line->fd), 0);
	line->color = test_color_on(rt, core);
	TEST_OK(mely_fd_watch(line->color, line->fd[0], MELY_FD_READ, &line_handler, line,
	    &line->watch));
}

static void
close_line(struct line *line)
{
	close(line->fd[0]);
	close(line->fd[1]);
	free(line->color);
}

static void
ping_line(struct line *line)
{
	uint64_t before = test_get(&line->echoes);
	char byte = 'x';

	TEST_EQ(write(line->fd[1], &byte, 1), 1);
	test_await(&line->echoes, before + 1);
	while (read(line->fd[1], &byte, 1) != 1)
		test_nap_us(20);
}

static void
echoes_with(int cores, int pollers)
{
	enum { LINES = 50 };
	struct mely_config config;
	struct test_runner runner;
	struct line lines[LINES];
	unsigned i, k;

	test_config(&config, cores);
	config.pollers = pollers;
	rt = test_runtime_with(&config);
	test_run_start(&runner, rt);
	for (i = 0; i < LINES; i++)
		open_line(&lines[i], (int)i % cores);
	for (k = 0; k < test_scale(60); k++)
		for (i = 0; i < LINES; i++)
			ping_line(&lines[i]);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_CHECK(test_counters(rt).readiness > 0);
	if (pollers == 1)
		/* No other core has a poller that a descriptor could move to. */
		TEST_EQ(test_counters(rt).fd_moves, 0);
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < LINES; i++)
		close_line(&lines[i]);
}

static void
one_poller_or_many(void)
{
	echoes_with(1, 0);
	echoes_with(2, 0);
	echoes_with(8, 0);
	echoes_with(1, 1);
	echoes_with(2, 1);
	echoes_with(8, 1);
}

static _Atomic uint64_t holding, let_go;

static void
on_hold(void *arg)
{
	(void)arg;
	test_add(&holding, 1);
	test_await(&let_go, 1);
}

static struct mely_handler hold = MELY_HANDLER(on_hold);

/*
 * The paper's arrangement: the poller is an event of color 0, so that a handler of color 0 delays
 * all readiness although other cores are idle. With a poller for each core it does not.
 */
static void
held_by_color_0(int pollers)
{
	struct mely_config config;
	struct test_runner runner;
	struct mely_color *zero;
	struct line line;
	char byte = 'x';

	atomic_store(&holding, 0);
	atomic_store(&let_go, 0);
	test_config(&config, 2);
	config.pollers = pollers;
	rt = test_runtime_with(&config);
	/* If it were stolen, it would delay the poller of the core that has the descriptor. */
	TEST_OK(mely_color_of_id(rt, 0, &zero));
	TEST_OK(mely_color_pin(zero, 0));
	test_run_start(&runner, rt);
	open_line(&line, 1);
	ping_line(&line);
	test_settle(line.color); /* else that handler reads what comes next, too */
	TEST_OK(mely_post_id(rt, 0, &hold, NULL));
	test_await(&holding, 1);
	TEST_EQ(write(line.fd[1], &byte, 1), 1);
	if (pollers == 1) {
		test_nap_us(20000);
		TEST_EQ(test_get(&line.echoes), 1);
		test_add(&let_go, 1);
		test_await(&line.echoes, 2);
	} else {
		test_await(&line.echoes, 2);
		test_add(&let_go, 1);
	}
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	close_line(&line);
}

static void
single_poller_is_color_0(void)
{
	held_by_color_0(1);
	held_by_color_0(0);
}

/* ---- following ------------------------------------------------------------------------------ */

static uint64_t
readiness_of(int core)
{
	struct mely_stats *stats;
	uint64_t readiness;

	TEST_OK(mely_stats_take(rt, MELY_STATS_COUNTERS, 0, &stats));
	readiness = mely_stats_core_row(stats, (uint32_t)core)->counters.readiness;
	mely_stats_free(stats);
	return readiness;
}

/* The color is pinned elsewhere: after the residency that core finds its descriptor. */
static void
descriptor_follows(void)
{
	struct mely_config config;
	struct test_runner runner;
	struct line line;
	uint64_t before;

	test_config(&config, 2);
	config.fd_residency_ms = 2;
	config.fd_residency_events = 20;
	rt = test_runtime_with(&config);
	test_run_start(&runner, rt);
	open_line(&line, 0);
	TEST_OK(mely_color_pin(line.color, 0));
	ping_line(&line);
	TEST_OK(mely_color_pin(line.color, 1));
	while (test_counters(rt).fd_moves == 0)
		ping_line(&line);
	/* From now on core 1 finds it. */
	before = readiness_of(1);
	while (readiness_of(1) < before + 10)
		ping_line(&line);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	close_line(&line);
}

/* With a long residency the descriptor stays although the color is pinned to one core, then
 * another. */
static void
residency_holds_it(void)
{
	struct mely_config config;
	struct test_runner runner;
	struct line line;
	int i;

	test_config(&config, 2);
	config.fd_residency_ms = 3600000;
	config.fd_residency_events = UINT32_MAX;
	rt = test_runtime_with(&config);
	test_run_start(&runner, rt);
	open_line(&line, 0);
	for (i = 0; i < 50; i++) {
		TEST_OK(mely_color_pin(line.color, i % 2));
		ping_line(&line);
	}
	TEST_CHECK(test_counters(rt).fd_moves <= 1);
	TEST_CHECK(test_counters(rt).fd_moves_put_off > 0);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	close_line(&line);
}

/* ---- a busy core ---------------------------------------------------------------------------- */

static _Atomic uint64_t turns;

static void on_endless(void *arg);
static struct mely_handler endless = MELY_HANDLER(on_endless);

static void
on_endless(void *arg)
{
	test_add(&turns, 1);
	TEST_OK(mely_post(arg, &endless, arg));
}

/* Busy cores serve descriptors and timers, too. */
static void
busy_cores_look_on(int cores, int colors)
{
	struct mely_color *busy[64];
	struct test_runner runner;
	struct line line;
	int i;

	rt = test_runtime(cores);
	test_run_start(&runner, rt);
	for (i = 0; i < colors; i++) {
		busy[i] = test_color(rt);
		TEST_OK(mely_post(busy[i], &endless, busy[i]));
	}
	open_line(&line, 0);
	for (i = 0; i < 50; i++)
		ping_line(&line);
	test_run_stop(&runner, MELY_STOP_DISCARD);
	TEST_OK(mely_runtime_free(rt));
	close_line(&line);
	for (i = 0; i < colors; i++)
		free(busy[i]);
}

static void
busy_cores_look(void)
{
	busy_cores_look_on(1, 1);
	busy_cores_look_on(1, 64);
	busy_cores_look_on(2, 3);
	busy_cores_look_on(8, 64);
}

/* ---- stale readiness ------------------------------------------------------------------------- */

struct stream {
	struct mely_color *color;
	int fd[2];
	mely_watch watch;
	_Atomic uint64_t bytes, in_vain;
};

static void
on_stream(void *arg)
{
	struct stream *stream = arg;
	char bytes[64];
	ssize_t n = read(stream->fd[0], bytes, sizeof bytes);

	if (n > 0)
		test_add(&stream->bytes, (uint64_t)n);
	else
		test_add(&stream->in_vain, 1);
}

static struct mely_handler stream_handler = MELY_HANDLER(on_stream);

/*
 * One core finds what is ready, and another one runs the handlers: while the first passes on what
 * it has found, the second may read it for an earlier report. A handler that is level-triggered
 * must not run for what it has read.
 */
static void
streams_with(int cores, int pollers)
{
	enum { STREAMS = 64 };
	struct mely_config config;
	struct test_runner runner;
	struct stream streams[STREAMS];
	uint64_t rounds = test_scale(3000), k;
	unsigned i;

	test_config(&config, cores);
	config.pollers = pollers;
	config.fd_residency_ms = 3600000;
	config.fd_residency_events = UINT32_MAX;
	rt = test_runtime_with(&config);
	for (i = 0; i < STREAMS; i++) {
		struct stream *stream = &streams[i];

		memset(stream, 0, sizeof *stream);
		TEST_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
		    stream->fd), 0);
		stream->color = test_color_on(rt, cores - 1);
		TEST_OK(mely_fd_watch(stream->color, stream->fd[0], MELY_FD_READ, &stream_handler,
		    stream, &stream->watch));
		TEST_OK(mely_color_pin(stream->color, (int)i % 2));
	}
	test_run_start(&runner, rt);
	for (k = 0; k < rounds; k++) {
		for (i = 0; i < STREAMS; i++)
			TEST_EQ(write(streams[i].fd[1], "x", 1), 1);
		for (i = 0; i < STREAMS; i += 9)
			test_await(&streams[i].bytes, k > 50 ? k - 50 : 0);
	}
	for (i = 0; i < STREAMS; i++)
		test_await(&streams[i].bytes, rounds);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < STREAMS; i++) {
		TEST_EQ(streams[i].in_vain, 0);
		close(streams[i].fd[0]);
		close(streams[i].fd[1]);
		free(streams[i].color);
	}
}

static void
level_is_never_stale(void)
{
	streams_with(3, 0);
	streams_with(3, 1);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 90);
	TEST_CASE(one_poller_or_many);
	TEST_CASE(single_poller_is_color_0);
	TEST_CASE(descriptor_follows);
	TEST_CASE(residency_holds_it);
	TEST_CASE(busy_cores_look);
	TEST_CASE(level_is_never_stale);
	return test_done();
}
