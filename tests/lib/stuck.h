/* SPDX-License-Identifier: MIT */
/*
 * stuck.h: what the tests of stuck cores share: a runtime, a handler that does not come back until
 * it is let go, and descriptors to talk to it and to others. One scene at a time.
 */
#ifndef MELY_TEST_STUCK_H
#define MELY_TEST_STUCK_H

#include "test.h"

extern struct mely_runtime *stuck_rt;
extern struct test_runner stuck_runner;

/* A runtime whose cores are stuck after so many ms; made. */
void stuck_make(int cores, unsigned stuck_ms);
/* The same with 2 ms, and running. */
void stuck_start(int cores);
/* Drained and freed. */
void stuck_end(void);

/* A core that is stuck. */
struct hold {
	struct mely_color *color; /* pinned */
	int core;
	bool spins;
	bool urgent;            /* of the highest priority */
	_Atomic uint64_t in, let_go, out;
};

void hold_init(struct hold *hold, int core);
/* Returns when its handler runs. */
void hold_begin(struct hold *hold);
/* Let it go, and wait for its end. It has not ended before. */
void hold_end(struct hold *hold);

/* A descriptor and who reads it. */
struct line {
	struct mely_color *color;
	int fd[2];
	int core;               /* where its handler must run, if it is pinned; or -1 */
	_Atomic uint64_t came;
};

void line_open(struct line *line, struct mely_color *color);
void line_send(struct line *line);
/* Send, and wait until it has been read. */
void line_ping(struct line *line);
void line_close(struct line *line);

/* Adds one to its argument, an _Atomic uint64_t. */
extern struct mely_handler stuck_count;

#endif
