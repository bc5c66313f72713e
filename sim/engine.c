/* SPDX-License-Identifier: MIT */
/*
 * engine.c: see engine.h. A thread that must stop picks the next and switches to it; during a run
 * nothing runs on the operating system's own stack. Later runs reuse the stacks.
 */
#include "engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "heap.h"
#include "history.h"
#include "memory.h"
#include "order.h"
#include "statics.h"
#include "strategy.h"

enum { STACK_HUNT = 64 << 10 };

#define AWAY_PS_MAX 20000000000u /* the longest time that a processor pauses */

extern char __start_sim_tls[];

struct sim_thread *sim_self;

static struct {
	struct sim_setup setup;
	struct sim_outcome *outcome;
	struct sim_fiber outside;   /* the operating system's stack */
	struct sim_thread *threads[SIM_THREADS_MAX]; /* made once, reused by every run */
	int count, alive;
	bool looking;               /* HUNT */
	bool buffered;              /* HUNT: NOTE(buffers) */
	uint64_t now_ps;            /* HUNT */
	uint64_t slice;             /* HUNT: accesses until the next choice */
	uint64_t limit_ps;          /* PREDICT: every other thread has reached this time */
} sim;

static struct sim_strategy strategy;

/* ---- switching ------------------------------------------------------------------------------- */

static void
leave_run(void)
{
	struct sim_thread *self = sim_self;

	sim_self = NULL;
	sim_fiber_switch(&self->fiber, &sim.outside);
}

static void
switch_to(struct sim_thread *next)
{
	struct sim_thread *self = sim_self;

	if (next == self)
		return;
	memcpy(self->tls, __start_sim_tls, sim_statics.tls_size);
	memcpy(__start_sim_tls, next->tls, sim_statics.tls_size);
	sim_self = next;
	sim.outcome->switches++;
	sim_fiber_switch(&self->fiber, &next->fiber);
}

void
sim_fail(const char *format, ...)
{
	va_list args;

	if (sim.outcome == NULL)
		abort();
	sim.outcome->failed = true;
	va_start(args, format);
	vsnprintf(sim.outcome->text, sizeof sim.outcome->text, format, args);
	va_end(args);
	if (sim_self != NULL)
		leave_run();
	abort();
}

/* ---- HUNT: the next thread ------------------------------------------------------------------- */

static void
run_again(struct sim_thread *thread, bool timed_out)
{
	thread->state = SIM_RUNNABLE;
	thread->timed_out = timed_out;
	thread->relaxing = false;
}

/* Unblock the threads whose deadline has passed. Returns the next deadline of the others. */
static uint64_t
expire(void)
{
	uint64_t next = SIM_NEVER;
	int i;

	for (i = 0; i < sim.count; i++) {
		struct sim_thread *thread = sim.threads[i];

		if (thread->state != SIM_BLOCKED && thread->state != SIM_QUIET_WAIT)
			continue;
		if (thread->deadline_ps <= sim.now_ps)
			run_again(thread, true);
		else if (thread->deadline_ps < next)
			next = thread->deadline_ps;
	}
	return next;
}

/* The runnable threads: those that do not spin or, if all do, every one. */
static int
candidates(struct sim_thread *found[])
{
	int i, n = 0, spinning = 0;

	for (i = 0; i < sim.count; i++) {
		struct sim_thread *thread = sim.threads[i];

		if (thread->state != SIM_RUNNABLE)
			continue;
		if (thread->relaxing)
			spinning++;
		else
			found[n++] = thread;
	}
	if (n > 0 || spinning == 0)
		return n;
	sim_buffer_drain_all();
	for (i = 0; i < sim.count; i++) {
		if (sim.threads[i]->state != SIM_RUNNABLE)
			continue;
		sim.threads[i]->relaxing = false;
		found[n++] = sim.threads[i];
	}
	return n;
}

/* No thread can run: unblock a thread that waits for that, or advance to the next deadline. */
static void
stand_still(uint64_t next)
{
	struct sim_thread *waiter = NULL;
	uint64_t other = SIM_NEVER;
	int i;

	for (i = 0; i < sim.count; i++) {
		struct sim_thread *thread = sim.threads[i];

		if (thread->state == SIM_QUIET_WAIT && waiter == NULL)
			waiter = thread;
		if (thread->state == SIM_BLOCKED && thread->deadline_ps < other)
			other = thread->deadline_ps;
	}
	if (sim.setup.still != NULL)
		sim.setup.still(other);
	if (other == SIM_NEVER && waiter != NULL) {
		run_again(waiter, false);
		return;
	}
	if (next == SIM_NEVER)
		sim_fail("all %d threads wait for ever", sim.alive);
	sim.now_ps = next;
	(void)expire();
}

static struct sim_thread *
choose(void)
{
	struct sim_thread *found[SIM_THREADS_MAX];
	uint64_t next = expire();
	int n;

	sim_buffer_drain(&strategy.delays, strategy.drains);
	if (sim.setup.look != NULL && sim_strategy_looks(&strategy) && sim_buffer_empty())
		sim.setup.look();
	/* Jump, as if this processor paused for long while time went on. */
	if (next != SIM_NEVER && next - sim.now_ps <= AWAY_PS_MAX &&
	    sim_strategy_jumps(&strategy)) {
		sim_buffer_drain_all();
		sim.now_ps = next;
		next = expire();
	}
	while ((n = candidates(found)) == 0) {
		stand_still(next);
		next = expire();
	}
	return sim_strategy_pick(&strategy, found, n, &sim.slice);
}

static void
next_hunt(void)
{
	struct sim_thread *next;

	if (sim.buffered)
		sim_buffer_leave(sim_self->id);
	next = choose();
	if (sim.buffered)
		sim_buffer_enter(next->id);
	switch_to(next);
}

/* F of NOTE(buffers) */
static void
linger(void)
{
	if (!sim_buffer_orders(sim_self->id) || !sim_strategy_lingers(&strategy))
		return;
	sim_self->relaxing = true;
	next_hunt();
}

/* The thread pauses at this place for as long as another one can run. */
static void
dwell(const struct sim_site *site)
{
	if (!sim_strategy_dwells(&strategy, (size_t)(site - __start_sim_sites)))
		return;
	sim_self->relaxing = true;
	next_hunt();
}

/* ---- PREDICT --------------------------------------------------------------------------------- */

/* The calling thread is in the heap with its own time, or with its deadline when it is blocked. */
static void
next_predict(void)
{
	struct sim_thread *next = sim_heap_first();
	uint64_t key = next != NULL ? sim_heap_key(next) : SIM_NEVER;

	if (key == SIM_NEVER)
		sim_fail("all %d threads wait for ever", sim.alive);
	if (next->state == SIM_BLOCKED) {
		next->time_ps = key;
		run_again(next, true);
	}
	sim.limit_ps = sim_heap_second_key();
	switch_to(next);
}

void
sim_spend(uint64_t ps)
{
	sim_self->time_ps += ps;
	if (sim_self->time_ps <= sim.limit_ps)
		return; /* still the first: the heap need not know its time */
	sim_heap_changed(sim_self);
	next_predict();
}

/* ---- the interface of virtual threads -------------------------------------------------------- */

static void
pass_on(void)
{
	if (sim.setup.mode == SIM_HUNT)
		next_hunt();
	else
		next_predict();
}

void
sim_access(struct sim_site *site, const void *p)
{
	struct sim_outcome *outcome = sim.outcome;
	uint64_t step;

	if (sim_self == NULL || sim.looking)
		return;
	site->hits++;
	if (++outcome->accesses == sim.setup.steps_max)
		sim_fail("no end after %llu accesses", (unsigned long long)outcome->accesses);
	if (sim.setup.mode == SIM_PREDICT) {
		sim_spend(sim.setup.hooks->access(sim_self, site, p));
		return;
	}
	sim.now_ps += strategy.step_ps;
	if (--sim.slice == 0)
		next_hunt();
	else if (sim.buffered)
		linger();
	else if (strategy.dwelling)
		dwell(site);
	sim_self->relaxing = false;
	step = (uint64_t)(site - __start_sim_sites) << 8 | (uint64_t)sim_self->id;
	sim_history_note(step);
	outcome->trace = (outcome->trace ^ step) * 0x100000001b3u;
	outcome->trace ^= outcome->trace >> 29;
	if (sim.buffered)
		sim_buffer_access(sim_self->id, site, p);
	else
		sim_order_access(sim_self->id, site, p);
}

void
sim_access_cas(const struct sim_site *site, const void *p, bool done)
{
	if (sim_self == NULL || sim.setup.mode != SIM_HUNT || sim.looking)
		return;
	if (sim.buffered)
		sim_buffer_cas(sim_self->id, site, p, done);
	else
		sim_order_cas(sim_self->id, site, p, done);
}

void
sim_relax(void)
{
	if (sim_self == NULL)
		return;
	if (sim.setup.mode == SIM_PREDICT) {
		sim_spend(sim.setup.hooks->relax(sim_self));
		return;
	}
	sim.now_ps += strategy.relax_ps;
	sim_self->relaxing = true;
	next_hunt();
}

void
sim_yield(void)
{
	if (sim_self == NULL)
		return;
	if (sim.setup.mode == SIM_PREDICT) {
		sim_call("sched_yield");
		return;
	}
	sim.now_ps += strategy.call_ps;
	sim_self->relaxing = true;
	next_hunt();
}

bool
sim_block(const void *key, uint64_t deadline_ps)
{
	struct sim_thread *self = sim_self;

	sim_settle();
	self->state = SIM_BLOCKED;
	self->waits_on = key;
	self->deadline_ps = deadline_ps;
	if (sim.setup.mode == SIM_PREDICT)
		sim_heap_changed(self);
	pass_on();
	self->waits_on = NULL;
	return !self->timed_out;
}

bool
sim_wake(const void *key, bool all)
{
	bool any = false;
	int i;

	for (i = 0; i < sim.count; i++) {
		struct sim_thread *thread = sim.threads[i];

		if (thread->state != SIM_BLOCKED || thread->waits_on != key || key == NULL)
			continue;
		run_again(thread, false);
		any = true;
		if (sim.setup.mode == SIM_PREDICT) {
			uint64_t at = sim_self->time_ps +
			    sim.setup.hooks->wake(thread, sim_self);

			if (at > thread->time_ps)
				thread->time_ps = at;
			sim_heap_changed(thread);
			sim.limit_ps = sim_heap_second_key();
		}
		if (!all)
			break;
	}
	return any;
}

void
sim_work(uint64_t ps)
{
	if (sim.setup.mode == SIM_HUNT)
		(void)sim_block(NULL, sim.now_ps + ps);
	else
		sim_spend(ps);
}

bool
sim_wait_still(uint64_t deadline_ps)
{
	struct sim_thread *self = sim_self;

	sim_settle();
	self->state = SIM_QUIET_WAIT;
	self->deadline_ps = deadline_ps;
	pass_on();
	return !self->timed_out;
}

void
sim_call(const char *name)
{
	if (sim_self == NULL)
		return;
	if (sim.setup.mode == SIM_PREDICT) {
		sim_spend(sim.setup.hooks->call(sim_self, name));
		return;
	}
	sim.now_ps += strategy.call_ps;
	if (--sim.slice == 0)
		next_hunt();
}

uint64_t
sim_now_ps(void)
{
	if (sim_self == NULL)
		return 0;
	return sim.setup.mode == SIM_HUNT ? sim.now_ps : sim_self->time_ps;
}

void
sim_looking(bool looking)
{
	sim.looking = looking;
	sim_order_ignore(looking);
}

uint32_t
sim_draw(uint32_t n)
{
	return sim_rng_below(&strategy.rng, n);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void
thread_end(void)
{
	struct sim_thread *self = sim_self;

	sim_settle();
	self->state = SIM_ENDED;
	if (sim.setup.mode == SIM_PREDICT)
		sim_heap_changed(self);
	sim_wake(self, true);
	if (--sim.alive == 0)
		leave_run();
	pass_on();
}

static void
thread_entry(void *arg)
{
	struct sim_thread *self = arg;

	(void)self->fn(self->arg);
	thread_end();
	abort();
}

static struct sim_thread *
obtain_thread(int id)
{
	struct sim_thread *thread = sim.threads[id];

	if (thread != NULL)
		return thread;
	thread = aligned_alloc(64, (sizeof *thread + 63) / 64 * 64);
	if (thread == NULL || !sim_fiber_new(&thread->fiber, STACK_HUNT)) {
		fprintf(stderr, "sim: no memory for a thread\n");
		exit(2);
	}
	sim.threads[id] = thread;
	return thread;
}

int
sim_thread_new(void *(*fn)(void *arg), void *arg)
{
	struct sim_thread *thread;
	int id = sim.count;

	if (id == SIM_THREADS_MAX)
		return -1;
	sim_settle();
	thread = obtain_thread(id);
	thread->id = thread->cpu = id;
	thread->state = SIM_RUNNABLE;
	thread->relaxing = thread->timed_out = false;
	thread->place = -1;
	thread->waits_on = NULL;
	thread->fn = fn;
	thread->arg = arg;
	memcpy(thread->tls, sim_statics.tls_clean, sim_statics.tls_size);
	sim_fiber_start(&thread->fiber, thread_entry, thread);
	thread->time_ps = sim_self != NULL ? sim_now_ps() : 0;
	sim.count++;
	sim.alive++;
	if (sim.setup.mode == SIM_PREDICT) {
		sim_heap_add(thread);
		sim.limit_ps = sim_heap_second_key();
	} else {
		sim_order_fork(sim_self != NULL ? sim_self->id : -1, id);
		sim_strategy_join(&strategy, thread);
	}
	return id;
}

void
sim_thread_service(void *(*fn)(void *arg))
{
	if (sim_thread_new(fn, NULL) >= 0)
		sim.alive--;
}

void
sim_thread_join(int id)
{
	while (sim.threads[id]->state != SIM_ENDED)
		(void)sim_block(sim.threads[id], SIM_NEVER);
	if (sim.setup.mode == SIM_HUNT)
		sim_order_join(sim_self->id, id);
}

int
sim_threads(void)
{
	return sim.count;
}

struct sim_thread *
sim_thread_at(int id)
{
	return sim.threads[id];
}

/* ---- a run ----------------------------------------------------------------------------------- */

struct first {
	void (*fn)(void *arg);
	void *arg;
};

static void *
run_first(void *arg)
{
	struct first *first = arg;

	first->fn(first->arg);
	return NULL;
}

void
sim_run(const struct sim_setup *setup, void (*fn)(void *arg), void *arg,
    struct sim_outcome *outcome)
{
	struct first first = {fn, arg};

	sim_statics_begin();
	memset(outcome, 0, sizeof *outcome);
	outcome->trace = 0xcbf29ce484222325u;
	sim.setup = *setup;
	sim.outcome = outcome;
	sim.count = sim.alive = 0;
	sim.now_ps = 1000000000; /* 1 ms: 0 is not a valid time */
	sim.limit_ps = SIM_NEVER;
	sim.looking = false;
	sim_steps.count = 0;
	sim_self = NULL;
	sim_order_begin();
	sim_heap_begin();
	sim_strategy_begin(&strategy, setup->seed, &sim.slice);
	sim.buffered = setup->mode == SIM_HUNT && strategy.buffered;
	sim_buffer_begin(sim.buffered);
	sim_memory_begin(setup->mode == SIM_HUNT);
	sim_fiber_adopt(&sim.outside);
	sim_thread_new(run_first, &first);
	memcpy(__start_sim_tls, sim.threads[0]->tls, sim_statics.tls_size);
	sim_self = sim.threads[0];
	sim_fiber_switch(&sim.outside, &sim_self->fiber);
	sim_self = NULL;
	outcome->end_ps = sim.now_ps;
	memcpy(__start_sim_tls, sim_statics.tls_clean, sim_statics.tls_size);
	sim_memory_end();
}
