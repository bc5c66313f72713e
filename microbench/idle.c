/* SPDX-License-Identifier: MIT */
/*
 * idle: CPU time and system calls, measured from outside, of a process whose runtime has worked and
 * has nothing more to do.
 */
#include "mb_mely.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { EVENTS = 2000000 };

struct link {
	MB_APART uint32_t id;
	int left; /* events still to run */
};

static struct {
	struct mely_runtime *rt;
	struct link *links;
	int colors;
	atomic_int working;
	int cores;
	int ready_fd, end_fd;
} bench;

static void step(void *arg);
static struct mely_handler step_handler = MELY_HANDLER(step);

static void
step(void *arg)
{
	struct link *link = arg;

	if (--link->left > 0) {
		mb_must(mely_post_id(bench.rt, link->id, &step_handler, link), "mely_post_id");
		return;
	}
	/* Relaxed: only the number matters; the last event reports. */
	if (atomic_fetch_sub_explicit(&bench.working, 1, memory_order_relaxed) == 1 &&
	    write(bench.ready_fd, "r", 1) != 1)
		mb_fail("write to the observer", errno);
}

/* Blocks until the observer has seen enough. */
static void
wait_end(void *ctx)
{
	char byte;

	(void)ctx;
	while (read(bench.end_fd, &byte, 1) < 0 && errno == EINTR)
		;
}

static void
child(void *ctx, int ready_fd, int end_fd)
{
	int i;

	(void)ctx;
	bench.ready_fd = ready_fd;
	bench.end_fd = end_fd;
	bench.rt = mb_runtime_new(bench.cores);
	bench.links = mb_array((size_t)bench.colors, sizeof(*bench.links), _Alignof(struct link));
	/* Relaxed: the posts that follow publish it. */
	atomic_store_explicit(&bench.working, bench.colors, memory_order_relaxed);
	for (i = 0; i < bench.colors; i++) {
		bench.links[i].id = mb_color_id(i, false);
		bench.links[i].left = EVENTS / bench.colors;
		mb_must(mely_post_id(bench.rt, bench.links[i].id, &step_handler, &bench.links[i]),
		    "mely_post_id");
	}
	mb_runtime_run(bench.rt, wait_end, NULL);
	free(bench.links);
}

int
main(int argc, char **argv)
{
	static const struct mb_program program = {
		.name = "idle",
		.what = "CPU time of a process whose runtime has run 2,000,000 events and has\n"
		    "nothing more to do, in percent of one processor over --seconds, and its\n"
		    "system calls a second: every one where strace can be used (one more run),\n"
		    "otherwise voluntary context switches, a lower bound.",
		.colors_help = "colors that worked before",
		.colors_default = 64,
		.colors_max = EVENTS,
		.seconds_default = 10,
	};
	struct mb_options opt;
	int i;

	mb_options_parse(&program, argc, argv, &opt);
	bench.cores = mb_runtime_cores(opt.cores);
	for (i = 0; i < opt.colors_count; i++) {
		bench.colors = opt.colors[i];
		mb_idle_bench(&opt, "mely", bench.cores, bench.colors, false, child, NULL);
	}
	return 0;
}
