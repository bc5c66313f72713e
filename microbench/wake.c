/* SPDX-License-Identifier: MIT */
/*
 * wake: an outside thread posts to a runtime in which all cores sleep. The time until the handler
 * runs, compared with a bare eventfd.
 *
 * free: nothing is pinned (unless MELY_PIN is set), and the poster sleeps after the post, so the
 * kernel may run the woken core on the poster's processor. cross: one core runs on the last
 * processor, and the poster on the first, busy until the event has run.
 */
#include "mb_mely.h"

#include <errno.h>
#include <stdlib.h>

static struct {
	struct mely_runtime *rt;
	struct mb_wake *wake;
	const struct mb_options *opt;
	struct mb_sample *out;
	bool cross;
} bench;

enum { COLOR = 1 };

static void
hit(void *arg)
{
	(void)arg;
	mb_wake_hit(bench.wake);
}

static struct mely_handler hit_handler = MELY_HANDLER(hit);

static void
post(void *ctx)
{
	(void)ctx;
	mb_must(mely_post_id(bench.rt, COLOR, &hit_handler, NULL), "mely_post_id");
}

static void
measure(void *ctx)
{
	(void)ctx;
	mb_wake_measure(bench.wake, post, NULL, bench.out);
}

static void
run(void *ctx, struct mb_sample *out)
{
	(void)ctx;
	bench.out = out;
	bench.wake = mb_wake_new(bench.cross, bench.opt->seconds);
	/*
	 * A runtime with as many cores as processors pins them, and then the kernel may not run the
	 * woken core where the poster was, as it does with the bare threads: no comparison.
	 */
	if (!bench.cross && setenv("MELY_PIN", "no", 0) != 0)
		mb_fail("setenv", errno);
	bench.rt = mb_runtime_new(bench.cross ? 1 : bench.opt->cores);
	out->cores = mely_cores(bench.rt);
	mb_runtime_run(bench.rt, measure, NULL);
	mb_wake_free(bench.wake);
}

int
main(int argc, char **argv)
{
	static const struct mb_program program = {
		.name = "wake",
		.what = "From a post by a thread outside to its handler in an idle runtime, in\n"
		    "microseconds, and the same for bare threads that wait in epoll_wait and\n"
		    "read on an eventfd, woken in turn. Free-running, and from processor to\n"
		    "processor (--cores does not apply there). The ratio is to the faster one.",
		.colors_help = "accepted and not used: there is one color",
		.colors_default = 1,
		.colors_max = 1,
		.seconds_default = 2,
	};
	struct mb_options opt;

	mb_options_parse(&program, argc, argv, &opt);
	bench.opt = &opt;
	mb_wake_bench(&opt, "mely", true, false, &bench.cross, run, NULL);
	return 0;
}
