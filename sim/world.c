/* SPDX-License-Identifier: MIT */
/*
 * world.c: runs a program: make the runtimes and colors, post before the runs, run each runtime on
 * its own thread while other threads post, wait until all threads are idle, stop, check that every
 * event is accounted for, free.
 */
#include "world.h"

#include <string.h>

#include "core/core.h"
#include "memory.h"
#include "shim.h"

#undef free
#undef nanosleep

enum { POSTS_AGAIN = 8, LIMIT_MS = 200, LIMIT_ONCE_MS = 8, STEPS_MAX = 1000000 };

struct world world;

/* ---- making ---------------------------------------------------------------------------------- */

static void
must(int error, const char *what)
{
	if (error != 0)
		sim_fail("%s: error %d", what, error);
}

static void
make_runtime(struct world_runtime *wr, const struct runtime_plan *plan)
{
	struct mely_config config;

	memset(&config, 0, sizeof config);
	config.size = sizeof config;
	must(mely_config_init(&config), "mely_config_init");
	config.cores = plan->cores;
	wr->stealing = plan->heuristics * MELY_STEAL_TIME_LEFT | (plan->steal ? MELY_STEAL_ON : 0);
	config.stealing = wr->stealing;
	config.balance = plan->balance;
	config.pollers = plan->pollers;
	config.batch_events = (uint32_t)plan->batch_events;
	config.batch_us = (uint32_t)plan->batch_us;
	config.spin_us_max = (uint32_t)plan->spin_us;
	config.stuck_ms = (uint32_t)plan->stuck_ms;
	config.priority_rule = (enum mely_priority_rule)plan->priority_rule;
	config.topology = program_topology(plan->topology);
	config.helpers_files = config.helpers_names = config.helpers_user = 1;
	config.drain_deadline_ns = plan->drain_ns;
	config.handback = world_handback;
	config.handback_ctx = &world;
	sim_processors = plan->processors;
	must(mely_runtime_new(&wr->rt, &config), "mely_runtime_new");
	wr->world = &world;
	wr->rt->limits.look_ticks = plan->look_ns;
	wr->rt->limits.look_max_ticks = plan->look_max_ns;
	wr->rt->limits.tick_ticks = plan->tick_ns;
	wr->rt->limits.decay_ticks = plan->decay_ns;
	wr->rt->limits.aged_ticks = plan->aged_ns;
	wr->rt->limits.outbox_after = plan->outbox_after;
	wr->rt->limits.outbox_full = plan->outbox_full;
}

static void
make_color(struct world_color *wc, const struct color_plan *plan)
{
	struct mely_runtime *rt = world.runtime[plan->runtime].rt;

	wc->world = &world;
	wc->rt = rt;
	wc->id = plan->id;
	sim_word_init(&wc->data);
	if (plan->kind != COLOR_OBJECT) {
		if (!plan->by_id)
			must(mely_color_of_id(rt, plan->id, &wc->color), "mely_color_of_id");
		return;
	}
	wc->color = wc->object = sim_aligned_alloc(64, sizeof *wc->color);
	if (plan->core >= 0)
		must(mely_color_init_on(wc->color, rt, plan->core), "mely_color_init_on");
	else
		must(mely_color_init(wc->color, rt), "mely_color_init");
}

static void
make_events(const struct program *p)
{
	static void (*const fns[HANDLER_KINDS])(void *) = {world_handler, world_event_handler,
	    world_timer_handler, world_stopped_handler, world_done_handler, world_fd_handler,
	    world_spread_handler, world_closed_handler, world_drained_handler};
	static const char *const names[HANDLER_KINDS] = {"script", "event", "timer", "stopped",
	    "done", "descriptor", "spread", "closed", "drained"};
	int i, j;

	for (i = 0; i < HANDLER_KINDS; i++) {
		for (j = 0; j < p->handlers; j++) {
			struct mely_handler *h = &world.handler[i][j];

			mely_handler_init(h, fns[i], names[i]);
			h->priority = p->handler[j].priority;
			h->time_ns = p->handler[j].time_ns;
			h->penalty = p->handler[j].penalty;
		}
	}
	for (i = 0; i < p->events; i++) {
		struct world_event *we = &world.event[i];
		int handler = p->script[p->event_script[i]].handler;

		we->world = &world;
		we->event = sim_malloc(sizeof *we->event);
		we->done = sim_malloc(sizeof *we->done);
		mely_event_init(we->event, &world.handler[HANDLER_EVENT][handler], we);
		mely_event_init(we->done, &world.handler[HANDLER_DONE][0], we);
	}
	for (i = 0; i < p->timers; i++) {
		struct world_timer *wt = &world.timer[i];

		wt->world = &world;
		wt->done = sim_malloc(sizeof *wt->done);
		mely_event_init(wt->done, &world.handler[HANDLER_STOPPED][0], wt);
	}
	for (i = 0; i < p->colors; i++) {
		struct world_color *wc = &world.color[i];

		wc->closed = sim_malloc(sizeof *wc->closed);
		mely_event_init(wc->closed, &world.handler[HANDLER_CLOSED][0], wc);
		wc->mark.drained = sim_malloc(sizeof *wc->mark.drained);
		mely_event_init(wc->mark.drained, &world.handler[HANDLER_DRAINED][0], wc);
	}
}

/* ---- the threads ----------------------------------------------------------------------------- */

/* Between two runs, where nothing else moves: the stop has ended the watchers, except what a thread
 * has started since, and the next run gets work, as the first did. */
static void
begin_again(struct world_runtime *wr)
{
	const struct doer doer = {-1, PROGRAM_COLORS, false};
	int i;

	if (world.program->runtimes != 1 || !world.threads_over)
		return;
	/* A stop that has not returned stops this run, too, if it did not stop the one before. */
	wr->stopping = wr->lenient = wr->stops != 0;
	wr->drain_from_ps = wr->drain_to_ps = wr->drain_late_ps = 0;
	wr->idle_sleeps = 0;
	for (i = 0; i < world.program->timers; i++) {
		world_do_timer_stop(&doer, &world.timer[i]);
		world.timer[i].started = world.timer[i].awaited = false;
		world.timer[i].id = 0;
	}
	for (i = 0; i < PROGRAM_FDS; i++) {
		world_do_fd_stop(&doer, &world.fd[i]);
		world.fd[i].started = false;
	}
	world.posts_max += POSTS_AGAIN;
	world_script(0, -1, PROGRAM_COLORS);
}

static void *
run_runtime(void *arg)
{
	struct world_runtime *wr = arg;
	const struct runtime_plan *plan = &world.program->runtime[wr - world.runtime];
	int i;

	for (i = 0; i < plan->runs; i++) {
		wr->runs++;
		if (i > 0 && !plan->once)
			begin_again(wr);
		wr->running = true;
		if (!plan->once) {
			must(mely_run(wr->rt), "mely_run");
		} else {
			while (!wr->once_stop) {
				if (mely_run_once_for(wr->rt, 0) < 0)
					sim_fail("mely_run_once_for failed");
				(void)sim_block(NULL, sim_now_ps() + 200000000);
			}
			/* If the run has not begun yet, the first mely_run_once_for begins it. */
			do {
				promise_stop(wr, plan->discard ? MELY_STOP_DISCARD :
				    MELY_STOP_DRAIN);
				if (mely_run_once_for(wr->rt, 0) == -ESHUTDOWN)
					break;
				(void)sim_block(NULL, sim_now_ps() + 200000000);
			} while (wr->rt->phase != MELYINT_IDLE);
		}
		wr->running = false;
	}
	return NULL;
}

static void *
run_outside(void *arg)
{
	int number = (int)(intptr_t)arg;

	world_script(number, -1, PROGRAM_COLORS + number);
	return NULL;
}

static void
stop(struct world_runtime *wr, const struct runtime_plan *plan)
{
	wr->stopping = true;
	wr->once_stop = true;
	if (!plan->once)
		promise_stop(wr, plan->discard ? MELY_STOP_DISCARD : MELY_STOP_DRAIN);
}

/* Stop a second run after it is idle again. */
static void
stop_all(const struct program *p)
{
	int i;

	for (i = 0; i < p->runtimes; i++) {
		struct world_runtime *wr = &world.runtime[i];

		while (sim_thread_at(wr->runner)->state != SIM_ENDED) {
			stop(wr, &p->runtime[i]);
			if (sim_wait_still(sim_now_ps() + 5000000000u))
				check_idle();
		}
		sim_thread_join(wr->runner);
	}
}

static void
first_thread(void *arg)
{
	const struct program *p = arg;
	int outside[PROGRAM_THREADS], i;
	uint64_t limit_ms = LIMIT_MS;
	bool idle;

	for (i = 0; i < p->runtimes; i++)
		make_runtime(&world.runtime[i], &p->runtime[i]);
	for (i = 0; i < p->colors; i++)
		make_color(&world.color[i], &p->color[i]);
	make_events(p);
	world_fds_open();
	world_script(0, -1, PROGRAM_COLORS);
	for (i = 0; i < p->runtimes; i++)
		world.runtime[i].runner = sim_thread_new(run_runtime, &world.runtime[i]);
	for (i = 0; i < p->threads; i++)
		outside[i] = sim_thread_new(run_outside, (void *)(intptr_t)(i + 1));
	if (p->early_threads) {
		(void)sim_block(NULL, sim_now_ps() + p->early_ns * 1000ull);
		for (i = 0; i < p->runtimes; i++)
			stop(&world.runtime[i], &p->runtime[i]);
	}
	for (i = 0; i < p->threads; i++)
		sim_thread_join(outside[i]);
	world.threads_over = true;
	for (i = 0; i < p->runtimes; i++)
		limit_ms = p->runtime[i].once ? LIMIT_ONCE_MS : limit_ms;
	if (p->early_ns != 0)
		(void)sim_block(NULL, sim_now_ps() + p->early_ns * 1000ull);
	idle = p->early_ns == 0 && sim_wait_still(sim_now_ps() + limit_ms * 1000000000u);
	if (idle) {
		check_idle();
		world_marks_probe(true);
	}
	stop_all(p);
	check_structure();
	world_marks_probe(false);
	for (i = 0; i < p->runtimes; i++) {
		struct mely_runtime *rt = world.runtime[i].rt;

		world.runtime[i].rt = NULL; /* check_structure skips it from now on */
		must(mely_runtime_free(rt), "mely_runtime_free");
	}
	for (i = 0; i < p->colors; i++) {
		if (world.color[i].object != NULL && !world.color[i].freed)
			sim_free(world.color[i].object);
		sim_free(world.color[i].closed);
		sim_free(world.color[i].mark.drained);
	}
	world_fds_close();
	for (i = 0; i < p->events; i++) {
		sim_free(world.event[i].event);
		sim_free(world.event[i].done);
	}
	for (i = 0; i < p->timers; i++)
		sim_free(world.timer[i].done);
	check_over();
}

void
world_run(const struct program *program, uint64_t schedule, struct sim_outcome *outcome)
{
	struct sim_setup setup = {.mode = SIM_HUNT, .seed = schedule, .steps_max = STEPS_MAX,
	    .still = check_still, .look = check_structure};

	int i;

	memset(&world, 0, offsetof(struct world, post));
	world.posts = 0;
	world.posts_max = program->posts_max;
	world.threads_over = false;
	world.answers = 0;
	world.numbers = world.moments = 0;
	world.switches_stealing = false;
	memset(world.behind_since_ps, 0, sizeof world.behind_since_ps);
	world.program = program;
	for (i = 0; i < program->ops; i++)
		world.switches_stealing |= program->op[i].kind == OP_STEALING ||
		    program->op[i].kind == OP_HEURISTICS;
	sim_fds_begin();
	sim_run(&setup, first_thread, (void *)(uintptr_t)program, outcome);
}
