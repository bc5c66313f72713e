/* SPDX-License-Identifier: MIT */
/*
 * Fault: two colors append to one std::string. Their handlers call nothing that is instrumented
 * before the library does the access: the checker names the handlers all the same.
 * Twin: one color appends.
 * expect: on_left on_right heap
 */
#include <cstdlib>
#include <string>
#include <mely/mely.h>

#ifdef FIXED
enum { LEFT = 1, RIGHT = 1 };
#else
enum { LEFT = 1, RIGHT = 2 };
#endif

static struct mely_runtime *rt;
static struct mely_join parts;
static std::string shared;

static void
must(int error)
{
	if (error < 0)
		std::exit(2);
}

static void
on_over(void *)
{
	must(mely_stop(rt, MELY_STOP_DRAIN));
}

static void
on_left(void *)
{
	shared.append("left, a text that is too long for the string itself");
	must(mely_join_done(&parts));
}

static void
on_right(void *)
{
	shared.append("right, a text that is too long for the string itself");
	must(mely_join_done(&parts));
}

static struct mely_handler over = MELY_HANDLER(on_over);
static struct mely_event end = MELY_EVENT(&over, nullptr);
static struct mely_handler left = MELY_HANDLER(on_left);
static struct mely_handler right = MELY_HANDLER(on_right);

int
main()
{
	struct mely_color *color;

	must(mely_runtime_new(&rt, nullptr));
	must(mely_color_of_id(rt, 0, &color));
	must(mely_join_init(&parts, 2, color, &end));
	must(mely_post_id(rt, LEFT, &left, nullptr));
	must(mely_post_id(rt, RIGHT, &right, nullptr));
	must(mely_run(rt));
	must(mely_runtime_free(rt));
	return 0;
}
