/* SPDX-License-Identifier: MIT */
/*
 * engine.h: virtual threads on virtual processors under virtual time, in one thread of the
 * operating system. What runs on them is the library's own code, compiled with -DMELYINT_SIM:
 * each atomic of it calls sim_access (access.h), each call of the system a shim (shim.h).
 *
 * NOTE(modes)
 *   HUNT     the seed chooses the thread that runs next at an access; one clock for all threads,
 *            which advances a little with each step and jumps when all threads wait.
 *   PREDICT  each thread has its own processor and time, the least advanced thread runs next, and
 *            the hooks give the cost of an access.
 * Nothing depends on an address, on real time or on earlier runs: a seed always gives one trace.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "access.h"
#include "fiber.h"
#include "rng.h"

enum {
	SIM_THREADS_MAX = 320,
	SIM_TLS_MAX = 256,      /* bytes of the library's thread-local variables */
	SIM_TEXT_MAX = 480
};

#define SIM_NEVER UINT64_MAX

enum sim_mode { SIM_HUNT, SIM_PREDICT };

enum sim_state { SIM_RUNNABLE, SIM_BLOCKED, SIM_QUIET_WAIT, SIM_ENDED };

struct sim_thread {
	struct sim_fiber fiber;
	int id;                  /* in the order of creation, from 0 */
	int cpu;                 /* its processor: id, unless set */
	uint8_t state;           /* enum sim_state */
	bool relaxing;           /* it spins: any other thread runs first */
	bool timed_out;          /* the deadline unblocked it */
	uint32_t priority;       /* HUNT */
	int place;               /* in the heap, PREDICT; -1: not in it */
	const void *waits_on;    /* BLOCKED: the key of its wait */
	uint64_t time_ps;        /* PREDICT: its own time */
	uint64_t deadline_ps;    /* BLOCKED: until then at most */
	void *(*fn)(void *arg);
	void *arg;
	char tls[SIM_TLS_MAX];   /* the library's variables of this thread, while another runs */
};

/* The costs of PREDICT; all times in ps. */
struct sim_hooks {
	/* An access to p by the thread's processor. */
	uint64_t (*access)(struct sim_thread *thread, const struct sim_site *site, const void *p);
	uint64_t (*relax)(struct sim_thread *thread);
	/* A call of the system: name is that of the function. */
	uint64_t (*call)(struct sim_thread *thread, const char *name);
	/* From the wake-up until the woken thread runs. */
	uint64_t (*wake)(struct sim_thread *woken, struct sim_thread *waker);
};

struct sim_setup {
	enum sim_mode mode;
	uint64_t seed;
	uint64_t steps_max;      /* more accesses are a failure; 0: no limit */
	const struct sim_hooks *hooks; /* PREDICT */
	/* HUNT: all threads wait, and time is about to jump to until_ps (SIM_NEVER: no thread has a
	 * deadline). May call sim_fail. */
	void (*still)(uint64_t until_ps);
	/* HUNT: sometimes, between two steps. */
	void (*look)(void);
};

/* The result of a run. */
struct sim_outcome {
	bool failed;
	char text[SIM_TEXT_MAX]; /* why */
	uint64_t accesses, switches, trace;
	uint64_t end_ps;
};

/* Run fn(arg) as the first virtual thread until all have ended, or one has failed. */
void sim_run(const struct sim_setup *setup, void (*fn)(void *arg), void *arg,
    struct sim_outcome *outcome);

/* Report a failure and end the run. */
_Noreturn void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The last accesses of the last run, oldest first; hunting only. */
void sim_history(FILE *out, int count);

/* ---- for virtual threads --------------------------------------------------------------------- */

extern struct sim_thread *sim_self; /* the running thread; NULL outside a run */

int sim_thread_new(void *(*fn)(void *arg), void *arg); /* its id */
/* A thread that the end of the run ends, at any point. */
void sim_thread_service(void *(*fn)(void *arg));
void sim_thread_join(int id);
int sim_threads(void);
struct sim_thread *sim_thread_at(int id);

/* Wait until sim_wake of key, or until deadline_ps. False: the deadline passed. */
bool sim_block(const void *key, uint64_t deadline_ps);
/* Unblock the first thread (all: every thread) that waits for key. False: no thread waits. */
bool sim_wake(const void *key, bool all);
/* Other threads may run here. */
void sim_yield(void);
/* Compute for a time. */
void sim_work(uint64_t ps);
/* HUNT: wait until no other thread can run, or until deadline_ps (false). */
bool sim_wait_still(uint64_t deadline_ps);
/* A system call: it has a price, and other threads may run. */
void sim_call(const char *name);
uint64_t sim_now_ps(void);
/* PREDICT: advance the calling thread's time by ps. */
void sim_spend(uint64_t ps);
/* HUNT: other threads see all that the calling thread has stored. The operating system does that
 * when it orders threads. */
void sim_settle(void);
/* HUNT: until the next call, the caller only inspects the library: its accesses are not steps of
 * the run. */
void sim_looking(bool looking);
/* HUNT: a random number for a choice of the machine, not of the program. */
uint32_t sim_draw(uint32_t n);

/* ---- coverage -------------------------------------------------------------------------------- */

extern struct sim_site __start_sim_sites[], __stop_sim_sites[];

#endif
