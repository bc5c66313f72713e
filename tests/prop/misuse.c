/* SPDX-License-Identifier: MIT */
/*
 * misuse.c: faults of the program that the library can see, one case a kind. Each case runs in a
 * child. In developer builds the child must abort with one line that names the fault; in release
 * builds the call must return its error or do nothing, and a color that was released must count it.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#ifdef MELY_DEVELOPER
enum { DEVELOPER = 1 };
#else
enum { DEVELOPER = 0 };
#endif

static struct mely_runtime *rt;
static struct mely_color *color;
static struct mely_event event;

static void
on_nothing(void *arg)
{
	(void)arg;
}

static struct mely_handler nothing = MELY_HANDLER(on_nothing);

/* Run a fault in a child: the line it prints, and its status. */
static int
status_of(void (*fault)(void), char *line, size_t size)
{
	size_t length = 0;
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	fflush(stdout);
	TEST_CHECK(pipe(fds) == 0);
	pid = fork();
	TEST_CHECK(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		rt = test_runtime(1);
		color = test_color(rt);
		mely_event_init(&event, &nothing, NULL);
		fault();
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], line + length, size - 1 - length)) > 0)
		length += (size_t)n;
	line[length] = '\0';
	close(fds[0]);
	TEST_CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

/* Developer builds print what and abort; release builds go through with it. */
static void
is_found(void (*fault)(void), const char *what)
{
	char line[4096];
	int status = status_of(fault, line, sizeof line);

	if (!DEVELOPER) {
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			test_fail(__FILE__, __LINE__, "status %#x: %s", (unsigned)status, line);
		return;
	}
	if (strncmp(line, "mely: misuse: ", 14) != 0 || strstr(line, what) == NULL ||
	    strchr(line, '\n') != line + strlen(line) - 1)
		test_fail(__FILE__, __LINE__, "got '%s', not a line with '%s'", line, what);
	TEST_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* ---- NULL ------------------------------------------------------------------------------------ */

static void
null_runtime(void)
{
	TEST_EQ(mely_post_id(NULL, 1, &nothing, NULL), -EINVAL);
}

static void
null_runtimes(void)
{
	struct mely_color *found;

	TEST_EQ(mely_post_head_id(NULL, 1, &nothing, NULL), -EINVAL);
	TEST_EQ(mely_event_post_id(NULL, 1, &event), -EINVAL);
	TEST_EQ(mely_color_of_id(NULL, 1, &found), -EINVAL);
	TEST_EQ(mely_color_init(color, NULL), -EINVAL);
	TEST_EQ(mely_color_init_on(color, NULL, 0), -EINVAL);
}

/* Calls of the life cycle and of statistics, one of each file. */
static void
null_stop(void)
{
	TEST_EQ(mely_stop(NULL, MELY_STOP_DISCARD), -EINVAL);
}

static void
null_pass(void)
{
	TEST_EQ(mely_run_once_for(NULL, 0), -EINVAL);
}

static void
null_stats(void)
{
	struct mely_stats *stats;

	TEST_EQ(mely_stats_take(NULL, 0, 0, &stats), -EINVAL);
	TEST_CHECK(stats == NULL);
}

static void
null_trace(void)
{
	TEST_EQ(mely_trace_start(NULL, "/tmp/x"), -EINVAL);
}

static void
null_socket(void)
{
	TEST_EQ(mely_socket_open(NULL, NULL), -EINVAL);
}

static void
null_life(void)
{
	char line[80];

	TEST_EQ(mely_run(NULL), -EINVAL);
	TEST_EQ(mely_backend_fd(NULL), -EINVAL);
	TEST_EQ(mely_next_timeout(NULL), 0);
	TEST_EQ(mely_runtime_renew(NULL), -EINVAL);
	TEST_OK(mely_runtime_free(NULL));
	TEST_EQ(mely_cores(NULL), 0);
	TEST_EQ(mely_runtime_describe(NULL, line, sizeof line), -EINVAL);
	TEST_EQ(mely_set_stealing(NULL, 0), -EINVAL);
	TEST_EQ(mely_set_batch(NULL, 1), -EINVAL);
	TEST_EQ(mely_trim(NULL), 0);
	TEST_EQ(mely_trace_stop(NULL), -EINVAL);
	TEST_EQ(mely_socket_close(NULL), -EINVAL);
	TEST_EQ(mely_socket_path(NULL, line, sizeof line), -EINVAL);
	TEST_EQ(mely_dump(NULL, 1), -EINVAL);
	TEST_EQ(mely_dump_on_signal(NULL, 0), -EINVAL);
}

static void
null_color(void)
{
	TEST_EQ(mely_post(NULL, &nothing, NULL), -EINVAL);
}

static void
null_colors(void)
{
	char name[8];

	TEST_EQ(mely_post_head(NULL, &nothing, NULL), -EINVAL);
	TEST_EQ(mely_post_timed(NULL, &nothing, NULL, 1), -EINVAL);
	TEST_EQ(mely_event_post(NULL, &event), -EINVAL);
	TEST_EQ(mely_event_post_head(NULL, &event), -EINVAL);
	TEST_EQ(mely_color_release(NULL, NULL, NULL), -EINVAL);
	TEST_EQ(mely_color_pin(NULL, 0), -EINVAL);
	TEST_EQ(mely_color_set_name(NULL, "x"), -EINVAL);
	TEST_EQ(mely_color_name(NULL, name, sizeof name), -EINVAL);
	TEST_EQ(mely_color_set_high_water(NULL, 1, NULL, NULL), -EINVAL);
	TEST_EQ(mely_color_id(NULL), 0);
	TEST_EQ(mely_color_is_object(NULL), 0);
	TEST_EQ(mely_color_core(NULL), -1);
	TEST_CHECK(mely_color_runtime(NULL) == NULL);
}

static void
null_handler(void)
{
	TEST_EQ(mely_post_id(rt, 1, NULL, NULL), -EINVAL);
}

static void
null_handlers(void)
{
	TEST_EQ(mely_post_head_id(rt, 1, NULL, NULL), -EINVAL);
	TEST_EQ(mely_post(color, NULL, NULL), -EINVAL);
	TEST_EQ(mely_post_head(color, NULL, NULL), -EINVAL);
	TEST_EQ(mely_post_timed(color, NULL, NULL, 1), -EINVAL);
}

/* From a handler to its own color and to another one: the fast paths. */
static void
on_null_handler(void *arg)
{
	(void)arg;
	TEST_EQ(mely_post_id(rt, 7, NULL, NULL), -EINVAL);
	TEST_EQ(mely_post_id(rt, 8, NULL, NULL), -EINVAL);
	TEST_EQ(mely_post(mely_current_color(), NULL, NULL), -EINVAL);
}

static void
null_handler_inside(void)
{
	static struct mely_handler handler = MELY_HANDLER(on_null_handler);

	TEST_OK(mely_post_id(rt, 7, &handler, NULL));
	test_run_dry(rt);
}

static void
null_event(void)
{
	TEST_EQ(mely_event_post(color, NULL), -EINVAL);
}

static void
null_events(void)
{
	struct mely_join join;

	TEST_EQ(mely_event_post_head(color, NULL), -EINVAL);
	TEST_EQ(mely_event_post_id(rt, 1, NULL), -EINVAL);
	TEST_EQ(mely_event_cancel(NULL, NULL, NULL), -EINVAL);
	TEST_EQ(mely_event_pending(NULL), 0);
	mely_event_set_time(NULL, 1);
	TEST_EQ(mely_join_init(&join, 1, color, NULL), -EINVAL);
}

/* NULL where every build has a harmless return. */
static void
null_anywhere(void)
{
	struct mely_join join;

	mely_event_init(NULL, &nothing, NULL);
	mely_handler_init(NULL, on_nothing, "nothing");
	mely_handler_set_stall(NULL, 1);
	mely_join_add(NULL, 1);
	TEST_EQ(mely_join_init(NULL, 1, color, &event), -EINVAL);
	TEST_EQ(mely_join_init(&join, 1, NULL, &event), -EINVAL);
	TEST_EQ(mely_join_init(&join, 0, color, &event), -EINVAL);
	TEST_EQ(mely_join_done(NULL), -EINVAL);
	_exit(3);
}

static void
nulls(void)
{
	char line[4096];

	is_found(null_runtime, "mely_post_id: the runtime is NULL");
	is_found(null_runtimes, "the runtime is NULL");
	is_found(null_stop, "mely_stop: the runtime is NULL");
	is_found(null_pass, "mely_run_once_for: the runtime is NULL");
	is_found(null_stats, "mely_stats_take: the runtime is NULL");
	is_found(null_trace, "mely_trace_start: the runtime is NULL");
	is_found(null_socket, "mely_socket_open: the runtime is NULL");
	is_found(null_life, "mely_run: the runtime is NULL");
	is_found(null_color, "mely_post: the color is NULL");
	is_found(null_colors, "the color is NULL");
	is_found(null_handler, "mely_post_id: the handler is NULL");
	is_found(null_handlers, "the handler is NULL");
	is_found(null_handler_inside, "mely_post_id: the handler is NULL");
	is_found(null_event, "mely_event_post: the event is NULL");
	is_found(null_events, "the event is NULL");
	TEST_EQ(WEXITSTATUS(status_of(null_anywhere, line, sizeof line)), 3);
}

/* ---- not initialised ------------------------------------------------------------------------- */

static void
raw_color(void)
{
	static struct mely_color raw;

	TEST_OK(mely_post(&raw, &nothing, NULL));
}

static void
raw_handler(void)
{
	static struct mely_handler raw;

	TEST_OK(mely_post(color, &raw, NULL));
}

static void
raw_event(void)
{
	static struct mely_event raw;

	TEST_OK(mely_event_post(color, &raw));
}

static void
garbage_event(void)
{
	struct mely_event garbage;

	memset(&garbage, 0x5a, sizeof garbage);
	TEST_OK(mely_event_post(color, &garbage));
}

static void
not_a_runtime(void)
{
	static char memory[65536];

	TEST_OK(mely_post_id((struct mely_runtime *)(void *)memory, 1, &nothing, NULL));
}

/* Release builds cannot see these: nothing in the memory tells. */
static void
uninitialised(void)
{
	if (!DEVELOPER)
		return;
	is_found(raw_color, "is not initialised");
	is_found(raw_handler, "is not initialised");
	is_found(raw_event, "is not initialised");
	is_found(garbage_event, "is not initialised");
	is_found(not_a_runtime, "is not a runtime");
}

/* ---- released and freed ---------------------------------------------------------------------- */

static uint64_t
misuses(void)
{
	struct mely_stats *stats;
	uint64_t count;

	TEST_OK(mely_stats_take(rt, 0, 0, &stats));
	count = stats->misuses;
	mely_stats_free(stats);
	return count;
}

static void
post_to_released(void)
{
	TEST_OK(mely_color_set_name(color, "gone"));
	TEST_OK(mely_event_post(color, &event));
	TEST_OK(mely_color_release(color, NULL, NULL));
	TEST_EQ(misuses(), 0);
	TEST_EQ(mely_post(color, &nothing, NULL), -EINVAL);
	TEST_EQ(misuses(), 1);
	TEST_EQ(mely_event_post(color, &event), -EALREADY);
	test_run_dry(rt);
	TEST_EQ(mely_event_post(color, &event), -EINVAL);
	TEST_EQ(misuses(), 2);
	TEST_EQ(mely_event_pending(&event), 0);
}

/* From a handler of another color, which may go through the outbox. */
static void
on_posts_to_released(void *arg)
{
	TEST_EQ(mely_post(arg, &nothing, NULL), -EINVAL);
}

static void
handler_posts_to_released(void)
{
	static struct mely_handler handler = MELY_HANDLER(on_posts_to_released);

	TEST_OK(mely_color_release(color, NULL, NULL));
	TEST_OK(mely_post_id(rt, 1, &handler, color));
	test_run_dry(rt);
	TEST_EQ(misuses(), 1);
}

static int left;

static void
on_own(void *arg)
{
	if (left-- > 0)
		TEST_OK(mely_post(color, arg, arg));
	if (left == 3)
		TEST_OK(mely_post_head(color, arg, arg));
}

static void
on_end(void *arg)
{
	*(bool *)arg = true;
}

/* The events of a released color may post to it: no fault in any build. */
static void
own_posts_are_allowed(void)
{
	static struct mely_handler own = MELY_HANDLER(on_own);
	bool ended = false;

	rt = test_runtime(1);
	color = test_color(rt);
	left = 10;
	TEST_OK(mely_post(color, &own, &own));
	TEST_OK(mely_color_release(color, on_end, &ended));
	test_run_dry(rt);
	TEST_CHECK(ended && left < 0);
	TEST_EQ(misuses(), 0);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

static void
color_outlives_runtime(void)
{
	TEST_OK(mely_runtime_free(rt));
	(void)mely_post(color, &nothing, NULL);
}

static void
runtime_is_freed(void)
{
	TEST_OK(mely_runtime_free(rt));
	(void)mely_post_id(rt, 1, &nothing, NULL);
}

static void
released(void)
{
	is_found(post_to_released, "of handler 'on_nothing' is posted to color");
	is_found(post_to_released, "'gone', which was released");
	is_found(handler_posts_to_released, "which was released");
	/* Release builds have no way to see these: the memory was freed. */
	if (DEVELOPER) {
		is_found(color_outlives_runtime, "belongs to a runtime that was freed");
		is_found(runtime_is_freed, "was freed");
	}
}

/* ---- queued events --------------------------------------------------------------------------- */

static void
init_while_queued(void)
{
	TEST_OK(mely_event_post(color, &event));
	mely_event_init(&event, &nothing, NULL);
}

static void
on_init_in_batch(void *arg)
{
	mely_event_init(arg, &nothing, NULL);
}

static void
init_in_batch(void)
{
	static struct mely_handler handler = MELY_HANDLER(on_init_in_batch);

	TEST_OK(mely_post(color, &handler, &event));
	TEST_OK(mely_event_post(color, &event));
	test_run_dry(rt);
}

static void
free_while_queued(void)
{
	struct mely_event *one = malloc(sizeof *one), *two = malloc(sizeof *two);

	TEST_CHECK(one != NULL && two != NULL);
	mely_event_init(one, &nothing, NULL);
	mely_event_init(two, &nothing, NULL);
	TEST_OK(mely_event_post(color, one));
	TEST_OK(mely_event_post(color, two));
	free(one);
	test_run_dry(rt);
}

static void
overwrite_while_queued(void)
{
	TEST_OK(mely_event_post(color, &event));
	memset(&event, 0, sizeof event);
	test_run_dry(rt);
}

/* Release builds cannot see these either: their links look like any others. */
static void
queued(void)
{
	if (!DEVELOPER)
		return;
	is_found(init_while_queued, "is initialised while it is queued");
	is_found(init_in_batch, "is initialised while it is queued");
	is_found(overwrite_while_queued, "was freed or overwritten while it was queued");
	if (!TEST_ASAN && !TEST_TSAN) /* which find it themselves */
		is_found(free_while_queued, "was freed or overwritten while it was queued");
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(nulls);
	TEST_CASE(uninitialised);
	TEST_CASE(released);
	TEST_CASE(own_posts_are_allowed);
	TEST_CASE(queued);
	return test_done();
}
