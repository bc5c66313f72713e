/* SPDX-License-Identifier: MIT */
/*
 * engine.h: virtual threads on virtual processors under virtual time, in one thread of the
 * operating system. What runs on them is the library's own code, compiled with -DMELYINT_SIM:
 * each atomic of it calls sim_access (access.h), each call of the system a shim (shim.h).
 *
 * NOTE(modes)
 *   HUNT     who goes on at an access is drawn from the seed; one clock for all, which a step
 *            moves by a little, and which jumps when all wait.
 *   PREDICT  each thread has a processor and a time of its own, the one that is least advanced
 *            goes on, and what an access costs is asked of the hooks.
 * Nothing depends on an address, on the real time or on what ran before: a seed is a trace.
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
	int cpu;                 /* its processor: the same, unless set */
	uint8_t state;           /* enum sim_state */
	bool relaxing;           /* it spins: anybody else first */
	bool timed_out;          /* why it is not blocked any more */
	uint32_t priority;       /* HUNT */
	int place;               /* in the heap, PREDICT; -1: not in it */
	const void *waits_on;    /* BLOCKED: what it waits for */
	uint64_t time_ps;        /* PREDICT: its own time */
	uint64_t deadline_ps;    /* BLOCKED: until then at most */
	void *(*fn)(void *arg);
	void *arg;
	char tls[SIM_TLS_MAX];   /* the library's variables of this thread, while another runs */
};

/* What PREDICT asks; all times in ps. */
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
	uint64_t steps_max;      /* more accesses than that are a failure; 0: no limit */
	const struct sim_hooks *hooks; /* PREDICT */
	/* HUNT: all threads wait, and time is about to jump to until_ps (SIM_NEVER: nobody has a
	 * deadline). May call sim_fail. */
	void (*still)(uint64_t until_ps);
	/* HUNT: now and then, between two steps. */
	void (*look)(void);
};

/* What a run was. */
struct sim_outcome {
	bool failed;
	char text[SIM_TEXT_MAX]; /* why */
	uint64_t accesses, switches, trace;
	uint64_t end_ps;
};

/* Run fn(arg) as the first virtual thread until all have ended, or one has failed. */
void sim_run(const struct sim_setup *setup, void (*fn)(void *arg), void *arg,
    struct sim_outcome *outcome);

/* Something is wrong: the run ends here. */
_Noreturn void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The last accesses of the last run, oldest first; hunting only. */
void sim_history(FILE *out, int count);

/* ---- for virtual threads --------------------------------------------------------------------- */

extern struct sim_thread *sim_self; /* the one that runs; NULL outside a run */

int sim_thread_new(void *(*fn)(void *arg), void *arg); /* its id */
/* One that ends with the run, whatever it does then. */
void sim_thread_service(void *(*fn)(void *arg));
void sim_thread_join(int id);
int sim_threads(void);
struct sim_thread *sim_thread_at(int id);

/* Wait until sim_wake of key, or until deadline_ps. False: it was the deadline. */
bool sim_block(const void *key, uint64_t deadline_ps);
/* Those who wait for key: the first (all: each of them) goes on. False: nobody does. */
bool sim_wake(const void *key, bool all);
/* Others may go on here. */
void sim_yield(void);
/* Compute for so long. */
void sim_work(uint64_t ps);
/* HUNT: wait until nobody else can run any more, or until deadline_ps (false). */
bool sim_wait_still(uint64_t deadline_ps);
/* A call of the system: it has a price, and others may go on. */
void sim_call(const char *name);
uint64_t sim_now_ps(void);
/* PREDICT: the calling thread's time goes on by ps. */
void sim_spend(uint64_t ps);
/* HUNT: until it is told otherwise, what is called only looks at the library: its accesses are no
 * steps of the run. */
void sim_looking(bool looking);
/* HUNT: a draw for what the machine decides, not the program. */
uint32_t sim_draw(uint32_t n);

/* ---- coverage -------------------------------------------------------------------------------- */

extern struct sim_site __start_sim_sites[], __stop_sim_sites[];

#endif
