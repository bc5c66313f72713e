/* SPDX-License-Identifier: MIT */
/*
 * misuse.c: faults of the program that the library can see, one case a kind; those with NULL are in
 * nulls.c. Each case runs in a child. In developer builds the child must abort with one line that
 * names the fault; in release builds the call must return its error or do nothing, and a color that
 * was released must count it.
 */
#include <signal.h>
#include <sys/wait.h>

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

static void (*fault_of_child)(void);

static void
commit(void)
{
	rt = test_runtime(1);
	color = test_color(rt);
	mely_event_init(&event, &nothing, NULL);
	fault_of_child();
}

/* Developer builds print what and abort; release builds go through with it. */
static void
is_found(void (*fault)(void), const char *what)
{
	char line[4096];
	int status;

	fault_of_child = fault;
	status = test_child(commit, line, sizeof line);
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

/* ---- not initialised ------------------------------------------------------------------------- */

static void
raw_color(void)
{
	static struct mely_color raw;

	TEST_OK(mely_post(&raw, &nothing, NULL));
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
	TEST_CASE(uninitialised);
	TEST_CASE(released);
	TEST_CASE(own_posts_are_allowed);
	TEST_CASE(queued);
	return test_done();
}
