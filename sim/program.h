/* SPDX-License-Identifier: MIT */
/*
 * program.h: a random program: its objects, and lists of small operations, as data, so a failing
 * program can be made smaller. An event runs a script; a script posts only later scripts, so every
 * program ends.
 */
#ifndef SIM_PROGRAM_H
#define SIM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
	PROGRAM_RUNTIMES = 2,
	PROGRAM_COLORS = 14,
	PROGRAM_EVENTS = 6,     /* embedded */
	PROGRAM_TIMERS = 4,
	PROGRAM_FDS = 2,
	PROGRAM_ANSWERS = 4,    /* of the peers of descriptors */
	PROGRAM_HANDLERS = 4,
	PROGRAM_THREADS = 4,    /* that are not cores */
	PROGRAM_SCRIPTS = 24,
	PROGRAM_OPS = 160
};

/* X(name, printed name) */
#define PROGRAM_OPERATIONS(X) \
	X(NONE, "nothing") \
	X(POST, "post") \
	X(POST_HEAD, "post-head") \
	X(POST_ID, "post-by-id") \
	X(POST_TIMED, "post-timed") \
	X(EVENT_POST, "event-post") \
	X(EVENT_HEAD, "event-post-head") \
	X(EVENT_CANCEL, "event-cancel") \
	X(WORK, "work") \
	X(YIELD, "yield") \
	X(SLEEP, "sleep") \
	X(PIN, "pin") \
	X(UNPIN, "unpin") \
	X(STEALING, "set-stealing") \
	X(HEURISTICS, "set-heuristics") \
	X(TIMER_START, "timer-start") \
	X(TIMER_AGAIN, "timer-again") \
	X(TIMER_STOP, "timer-stop") \
	X(WORKER, "blocking-work") \
	X(FD_WATCH, "fd-watch") \
	X(FD_WRITE, "fd-write") \
	X(FD_STOP, "fd-stop") \
	X(SPREAD, "post-to-many-ids") \
	X(CLOSE, "close") \
	X(RELEASE, "release") \
	X(HIGH_WATER, "high-water") \
	X(TRIM, "trim") \
	X(LOOK, "look") \
	X(STOP_DRAIN, "stop-drain") \
	X(STOP_DISCARD, "stop-discard")

enum operation {
#define PROGRAM_ENUM(name, text) OP_##name,
	PROGRAM_OPERATIONS(PROGRAM_ENUM)
#undef PROGRAM_ENUM
	OP_COUNT
};

struct op {
	uint8_t kind;           /* enum operation */
	uint8_t color;
	uint8_t script;         /* the script of a posted event */
	uint8_t item;           /* the embedded event or timer; of a mark: 1, it reports */
	uint8_t other;          /* a second color */
	uint32_t value;         /* ns, core, mark */
};

struct script {
	uint16_t first, count;  /* operations */
	uint8_t handler;
};

enum color_kind { COLOR_OBJECT, COLOR_DENSE, COLOR_SCATTERED };

struct color_plan {
	uint8_t kind;           /* enum color_kind */
	uint8_t runtime;
	bool by_id;             /* the program uses the object only if it must */
	int16_t core;           /* the core of an object; -1: any */
	uint32_t id;
};

struct runtime_plan {
	int cores;
	bool once;              /* run by mely_run_once_for */
	bool discard;           /* the final stop discards */
	int runs;
	int topology;
	int processors;
	/* struct mely_config */
	unsigned heuristics;    /* the bits above MELY_STEAL_ON, from bit 0 on */
	int steal, balance, pollers, batch_events, batch_us, spin_us, stuck_ms, priority_rule;
	/* struct mely_runtime */
	uint32_t look_ns, look_max_ns, tick_ns, decay_ns, aged_ns;
	uint32_t outbox_after, outbox_full;
	uint32_t drain_ns;      /* the deadline of a drain; 0: none */
};

struct handler_plan {
	int priority;
	uint32_t time_ns, penalty;
};

struct program {
	uint64_t seed;
	int runtimes, colors, events, timers, handlers, threads, scripts, ops;
	uint32_t early_ns;      /* stop this long after the end of the threads; 0: when idle */
	bool early_threads;     /* ... or after their begin: they go on meanwhile */
	int posts_max;          /* leave out further posts */
	bool priorities;        /* a handler has one */
	int answers;            /* of the peers of descriptors: while their handlers run */
	bool cancels_left;      /* the hand-back function cancels events */
	struct runtime_plan runtime[PROGRAM_RUNTIMES];
	struct color_plan color[PROGRAM_COLORS];
	uint8_t event_script[PROGRAM_EVENTS];
	uint8_t timer_script[PROGRAM_TIMERS];
	struct handler_plan handler[PROGRAM_HANDLERS];
	struct script script[PROGRAM_SCRIPTS]; /* the first: before the runs; then the threads' */
	struct op op[PROGRAM_OPS];
};

void program_make(struct program *program, uint64_t seed);
void program_print(const struct program *program, FILE *out);
const char *program_topology(int number);
int program_topologies(void);

/* The operations that remain in the program: not NONE. */
int program_size(const struct program *program);

#endif
