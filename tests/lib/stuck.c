/* SPDX-License-Identifier: MIT */
/* stuck.c: the runtime, the blocking handler and the descriptors behind stuck.h. */
#include <sys/socket.h>
#include <unistd.h>

#include "stuck.h"

struct mely_runtime *stuck_rt;
struct test_runner stuck_runner;

void
stuck_make(int cores, unsigned stuck_ms)
{
	struct mely_config config;

	test_config(&config, cores);
	config.stuck_ms = stuck_ms;
	stuck_rt = test_runtime_with(&config);
}

void
stuck_start(int cores)
{
	stuck_make(cores, 2);
	test_run_start(&stuck_runner, stuck_rt);
}

void
stuck_end(void)
{
	test_run_stop(&stuck_runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(stuck_rt));
}

static void
on_count(void *arg)
{
	test_add(arg, 1);
}

struct mely_handler stuck_count = MELY_HANDLER(on_count);

void
stuck_stop_timer(mely_watch watch)
{
	int rc = mely_watch_stop(stuck_rt, watch, NULL, NULL);

	TEST_CHECK(rc == 0 || rc == -EINPROGRESS);
}

/* ---- hold ----------------------------------------------------------------------------------- */

static void
on_hold(void *arg)
{
	struct hold *hold = arg;

	TEST_EQ(mely_current_core(), hold->core);
	test_add(&hold->in, 1);
	while (test_get(&hold->let_go) == 0)
		if (!hold->spins)
			test_nap_us(50);
	test_add(&hold->out, 1);
}

static struct mely_handler hold_handler = MELY_HANDLER(on_hold);
static struct mely_handler urgent_handler =
    MELY_HANDLER_WITH(on_hold, 0, 0, MELY_PRIORITY_MAX);

void
hold_init(struct hold *hold, int core)
{
	memset(hold, 0, sizeof *hold);
	hold->core = core;
	hold->color = test_color_on(stuck_rt, core);
	TEST_OK(mely_color_pin(hold->color, core));
}

void
hold_begin(struct hold *hold)
{
	TEST_OK(mely_post(hold->color, hold->urgent ? &urgent_handler : &hold_handler, hold));
	test_await(&hold->in, 1);
}

void
hold_end(struct hold *hold)
{
	TEST_EQ(test_get(&hold->out), 0);
	test_add(&hold->let_go, 1);
	test_await(&hold->out, 1);
}

/* ---- line ----------------------------------------------------------------------------------- */

static void
on_line(void *arg)
{
	struct line *line = arg;
	char byte;

	if (line->core >= 0)
		TEST_EQ(mely_current_core(), line->core);
	while (read(line->fd[0], &byte, 1) == 1)
		test_add(&line->came, 1);
	mely_fd_drained();
}

static struct mely_handler line_handler = MELY_HANDLER(on_line);

void
line_open(struct line *line, struct mely_color *color)
{
	mely_watch watch;

	memset(line, 0, sizeof *line);
	line->core = -1;
	line->color = color;
	TEST_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, line->fd), 0);
	TEST_OK(mely_fd_watch(color, line->fd[0], MELY_FD_READ, &line_handler, line, &watch));
}

void
line_send(struct line *line)
{
	char byte = 'x';

	TEST_EQ(write(line->fd[1], &byte, 1), 1);
}

void
line_ping(struct line *line)
{
	uint64_t before = test_get(&line->came);

	line_send(line);
	test_await(&line->came, before + 1);
}

void
line_close(struct line *line)
{
	close(line->fd[0]);
	close(line->fd[1]);
}
