/* SPDX-License-Identifier: MIT */
/*
 * stuck.h: what the tests of stuck cores share: a runtime, a handler that does not return until the
 * test releases it, and descriptors with readers. One scene at a time.
 */
#ifndef MELY_TEST_STUCK_H
#define MELY_TEST_STUCK_H

#include "test.h"

extern struct mely_runtime *stuck_rt;
extern struct test_runner stuck_runner;

/* Make a runtime whose cores count as stuck after ms milliseconds. */
void stuck_make(int cores, unsigned stuck_ms);
/* Make it with 2 ms, and run it. */
void stuck_start(int cores);
/* Drain and free it. */
void stuck_end(void);

/* A core that a handler blocks. */
struct hold {
	struct mely_color *color; /* pinned */
	int core;
	bool spins;
	bool urgent;            /* of the highest priority */
	_Atomic uint64_t in, let_go, out;
};

void hold_init(struct hold *hold, int core);
/* Block a core; returns when the handler runs there. */
void hold_begin(struct hold *hold);
/* Release the handler, and wait for its end. It must not have ended before. */
void hold_end(struct hold *hold);

/* A descriptor and its reader. */
struct line {
	struct mely_color *color;
	int fd[2];
	int core;               /* where its handler must run, if it is pinned; or -1 */
	_Atomic uint64_t came;
};

void line_open(struct line *line, struct mely_color *color);
void line_send(struct line *line);
/* Send, and wait until the handler has read it. */
void line_ping(struct line *line);
void line_close(struct line *line);

/* Adds 1 to its argument, an _Atomic uint64_t. */
extern struct mely_handler stuck_count;

/* Stop a timer of such a handler, which may be running meanwhile. */
void stuck_stop_timer(mely_watch watch);

#endif
