/* SPDX-License-Identifier: MIT */
/*
 * nulls.c: NULL where a public function takes a pointer, row by row of nulls.def; events of zeroes;
 * handlers without a function; and posts of NULL from handlers, which take other ways. Each in a
 * child. Developer builds end the program with one line, "mely: misuse: ...", where release builds
 * return a value; a handler without a function ends it in every build.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#ifdef MELY_DEVELOPER
enum { DEVELOPER = 1 };
#else
enum { DEVELOPER = 0 };
#endif

/* ---- what the rows use: made in the child ---------------------------------------------------- */

static struct mely_runtime *rt;
static struct mely_color *color, *found;
static struct mely_color spare_color;
static struct mely_event event, done;
static struct mely_join join;
static struct mely_stats *stats, *taken;
static struct mely_stats_hist hist = {.count = 1, .buckets = 1};
static mely_watch watch;
static char text[80], *made;

static void
on_nothing(void *arg)
{
	(void)arg;
}

static struct mely_handler nothing = MELY_HANDLER(on_nothing);
static struct mely_handler spare;
static struct mely_handler empty = {.name = "empty"};

static void
prepare(void)
{
	rt = test_runtime(1);
	color = test_color(rt);
	mely_event_init(&event, &nothing, NULL);
	mely_event_init(&done, &nothing, NULL);
	TEST_OK(mely_stats_take(rt, 0, 0, &taken));
}

/* ---- the rows -------------------------------------------------------------------------------- */

struct row {
	const char *what;
	intptr_t (*call)(void);
	intptr_t result;
	const char *line;  /* of developer builds; NULL: the result there, too */
	bool ends;         /* in every build, with the line */
};

#define FUNCTION(name, expression) \
	static intptr_t name(void) \
	{ \
		return (intptr_t)(expression); \
	}
#define ROW(function, parameter, arguments, result, line) \
	FUNCTION(null_##function##_##parameter, mely_##function arguments)
#define VOID(function, parameter, arguments, line) \
	FUNCTION(null_##function##_##parameter, (mely_##function arguments, 0))
#define ENDS(function, parameter, posts) FUNCTION(null_##function##_##parameter, posts)
#define MAY(function, parameter)
#include "nulls.def"
#undef ROW
#undef VOID
#undef ENDS

#define ROW(function, parameter, arguments, result, line) \
	{#function ", " #parameter, null_##function##_##parameter, result, line, false},
#define VOID(function, parameter, arguments, line) ROW(function, parameter, arguments, 0, line)
#define ENDS(function, parameter, posts) \
	{#function ", " #parameter, null_##function##_##parameter, 0, NULL, true},
static const struct row rows[] = {
#include "nulls.def"
};

static const struct row *row_of_child;

/* Events that were posted run, so that none is left in a queue unseen. */
static void
take_row(void)
{
	intptr_t result;

	prepare();
	result = row_of_child->call();
	if (result != row_of_child->result)
		test_fail(__FILE__, __LINE__, "%s: returns %ld, not %ld", row_of_child->what,
		    (long)result, (long)row_of_child->result);
	test_run_dry(rt);
}

/* The child must have ended with one line that has the words. */
static void
is_line(const char *what, int status, const char *line, const char *words)
{
	if (strncmp(line, "mely: misuse: ", 14) != 0 || strstr(line, words) == NULL ||
	    strchr(line, '\n') != line + strlen(line) - 1 || !WIFSIGNALED(status) ||
	    WTERMSIG(status) != SIGABRT)
		test_fail(__FILE__, __LINE__, "%s: status %#x, '%s', not a line with '%s'", what,
		    (unsigned)status, line, words);
}

static void
every_pointer(void)
{
	char line[4096];
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct row *row = &rows[i];
		int status;

		row_of_child = row;
		status = test_child(take_row, line, sizeof line);
		if (row->ends)
			is_line(row->what, status, line, "has no ");
		else if (DEVELOPER && row->line != NULL)
			is_line(row->what, status, line, row->line);
		else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			test_fail(__FILE__, __LINE__, "%s: status %#x: %s", row->what,
			    (unsigned)status, line);
	}
}

/* ---- from a handler -------------------------------------------------------------------------- */

/* To its own color and to another one: the fast paths. */
static void
on_null_handler(void *arg)
{
	(void)arg;
	TEST_EQ(mely_post_id(rt, 7, NULL, NULL), -EINVAL);
	TEST_EQ(mely_post_id(rt, 8, NULL, NULL), -EINVAL);
	TEST_EQ(mely_post(mely_current_color(), NULL, NULL), -EINVAL);
	TEST_EQ(mely_event_post(mely_current_color(), NULL), -EINVAL);
}

static void
posts_null_inside(void)
{
	static struct mely_handler handler = MELY_HANDLER(on_null_handler);

	prepare();
	TEST_OK(mely_post_id(rt, 7, &handler, NULL));
	test_run_dry(rt);
}

static void
inside(void)
{
	char line[4096];
	int status = test_child(posts_null_inside, line, sizeof line);

	if (DEVELOPER)
		is_line("inside", status, line, "mely_post_id: the handler is NULL");
	else
		TEST_EQ(status, 0);
}

/* ---- events of zeroes ------------------------------------------------------------------------ */

static struct mely_event zeroed;

static void
on_zeroed_inside(void *arg)
{
	struct mely_join last;

	TEST_EQ(mely_event_post(arg, &zeroed), -EINVAL);
	TEST_EQ(mely_event_post_id(rt, 1, &zeroed), -EINVAL);
	TEST_OK(mely_join_init(&last, 1, arg, &zeroed));
	TEST_EQ(mely_join_done(&last), -EINVAL);
}

static void
posts_zeroed(void)
{
	static struct mely_handler handler = MELY_HANDLER(on_zeroed_inside);

	prepare();
	TEST_EQ(mely_event_post(color, &zeroed), -EINVAL);
	TEST_EQ(mely_event_post_head(color, &zeroed), -EINVAL);
	TEST_EQ(mely_event_post_id(rt, 1, &zeroed), -EINVAL);
	TEST_EQ(mely_event_pending(&zeroed), 0);
	TEST_OK(mely_post(color, &handler, color));
	test_run_dry(rt);
}

static void
zeroed_events(void)
{
	char line[4096];
	int status = test_child(posts_zeroed, line, sizeof line);

	if (DEVELOPER)
		is_line("zeroed", status, line, "is not initialised");
	else
		TEST_EQ(status, 0);
}

/* ---- handlers without a function ------------------------------------------------------------- */

static void
empty_post(void)
{
	TEST_OK(mely_post(color, &empty, NULL));
}

static void
empty_post_head(void)
{
	TEST_OK(mely_post_head(color, &empty, NULL));
}

/* The handler has its own time: nothing asks for its number until it runs. */
static void
empty_post_timed(void)
{
	empty.time_ns = 1000;
	TEST_OK(mely_post_timed(color, &empty, NULL, 1));
}

static void
empty_post_id(void)
{
	TEST_OK(mely_post_id(rt, 1, &empty, NULL));
}

static void
empty_post_head_id(void)
{
	TEST_OK(mely_post_head_id(rt, 1, &empty, NULL));
}

static void
empty_event(void)
{
	mely_event_init(&event, &empty, NULL);
	TEST_OK(mely_event_post(color, &event));
}

static void
empty_event_id(void)
{
	mely_event_init(&event, &empty, NULL);
	TEST_OK(mely_event_post_id(rt, 1, &event));
}

static void
empty_join(void)
{
	mely_event_init(&event, &empty, NULL);
	TEST_OK(mely_join_init(&join, 1, color, &event));
	TEST_EQ(mely_join_done(&join), 1);
}

static void
empty_stall(void)
{
	mely_handler_set_stall(&empty, 1);
}

static void
on_post_empty(void *arg)
{
	TEST_OK(mely_post(arg, &empty, NULL));
}

static struct mely_handler post_empty = MELY_HANDLER(on_post_empty);

static void
empty_to_own_color(void)
{
	TEST_OK(mely_post(color, &post_empty, color));
}

static void
empty_to_other_color(void)
{
	TEST_OK(mely_post_id(rt, 1, &post_empty, color));
}

static void
on_post_empty_event(void *arg)
{
	mely_event_init(&event, NULL, NULL);
	TEST_OK(mely_event_post(arg, &event));
}

static void
empty_event_to_own_color(void)
{
	static struct mely_handler handler = MELY_HANDLER(on_post_empty_event);

	TEST_OK(mely_post(color, &handler, color));
}

static void (*empty_of_child)(void);
static unsigned stealing_of_child;

static void
take_empty(void)
{
	prepare();
	TEST_OK(mely_set_stealing(rt, stealing_of_child));
	empty_of_child();
	test_run_dry(rt);
}

/* With stealing, posts weigh their events and find it; without, the core that is to run one. */
static void
no_function(void)
{
	static void (*const faults[])(void) = {empty_post, empty_post_head, empty_post_timed,
	    empty_post_id, empty_post_head_id, empty_event, empty_event_id, empty_join,
	    empty_stall, empty_to_own_color, empty_to_other_color};
	static const unsigned stealing[] = {0, MELY_STEAL_ON | MELY_STEAL_TIME_LEFT |
	    MELY_STEAL_MEASURE};
	char line[4096];
	size_t i, k;
	int status;

	for (k = 0; k < sizeof stealing / sizeof stealing[0]; k++) {
		stealing_of_child = stealing[k];
		for (i = 0; i < sizeof faults / sizeof faults[0]; i++) {
			empty_of_child = faults[i];
			status = test_child(take_empty, line, sizeof line);
			is_line("no function", status, line, "'empty' has no function");
		}
		empty_of_child = empty_event_to_own_color;
		status = test_child(take_empty, line, sizeof line);
		is_line("no handler", status, line, "an event has no handler");
	}
}

/* The watchers' calls can say so at no cost. */
static void
no_function_to_watch(void)
{
	int fds[2];

	prepare();
	TEST_OK(pipe(fds));
	TEST_EQ(mely_fd_watch(color, fds[0], MELY_FD_READ, &empty, NULL, &watch), -EINVAL);
	TEST_EQ(mely_timer_start(color, 1, 0, 0, &empty, NULL, &watch), -EINVAL);
	TEST_EQ(mely_signal_watch(color, SIGUSR1, &empty, NULL, &watch), -EINVAL);
	TEST_EQ(mely_child_watch(color, 1, &empty, NULL, &watch), -EINVAL);
	TEST_EQ(mely_work(color, MELY_WORK_USER, on_nothing, &empty, NULL, NULL), -EINVAL);
	TEST_EQ(mely_drain_watch(color, &empty, NULL, &watch), -EINVAL);
	test_close(fds, 2);
	mely_stats_free(taken);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(every_pointer);
	TEST_CASE(inside);
	TEST_CASE(zeroed_events);
	TEST_CASE(no_function);
	TEST_CASE(no_function_to_watch);
	return test_done();
}
