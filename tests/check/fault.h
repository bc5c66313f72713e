/* SPDX-License-Identifier: MIT */
/*
 * fault.h: shared by the programs with a seeded coloring fault. Each is built twice: as it is,
 * with the fault, and with -DFIXED as its correct twin. The line "expect:" in a program's
 * comment lists the two handlers and the object that the checker must name
 * (tests/check/faults.sh).
 *
 * Nothing here orders two colors. A join counter ends the program, and only its last event, in
 * color 0, learns of the end. The turn is relaxed: a program can make one handler run after
 * another in time, without a promise of the runtime that orders the two.
 */
#ifndef MELY_FAULT_H
#define MELY_FAULT_H

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mely/mely.h>

static struct mely_runtime *rt;
static struct mely_join fault_parts;
static _Atomic int fault_turn;

/* A call of the library that cannot fail here. */
#define MUST(call) \
	do { \
		int rc_ = (call); \
		if (rc_ != 0) { \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
			    strerror(rc_ < 0 ? -rc_ : errno)); \
			exit(2); \
		} \
	} while (0)

static void
on_over(void *arg)
{
	(void)arg;
	mely_stop(mely_current_runtime(), MELY_STOP_DRAIN);
}

static struct mely_handler fault_over = MELY_HANDLER(on_over);
static struct mely_event fault_end = MELY_EVENT(&fault_over, NULL);

/* First call of main: make a runtime that stops after done was called parts times. */
static inline void
begin(unsigned parts)
{
	struct mely_color *color;

	MUST(mely_runtime_new(&rt, NULL));
	MUST(mely_color_of_id(rt, 0, &color));
	mely_color_set_name(color, "the default color");
	MUST(mely_join_init(&fault_parts, parts, color, &fault_end));
}

static inline void
done(void)
{
	if (mely_join_done(&fault_parts) < 0)
		exit(2);
}

/* Last call of main. */
static inline int
run(void)
{
	MUST(mely_run(rt));
	MUST(mely_runtime_free(rt));
	return 0;
}

/* The color of an id, with a name for reports. */
static inline struct mely_color *
color(uint32_t id, const char *name)
{
	struct mely_color *c;

	MUST(mely_color_of_id(rt, id, &c));
	MUST(mely_color_set_name(c, name));
	return c;
}

/* Orders in time only: code with turn n runs after take_turn(n). */
static inline void
take_turn(int n)
{
	/* relaxed: must not order anything; see above */
	atomic_store_explicit(&fault_turn, n, memory_order_relaxed);
}

/* Is it turn n? Sleeps a little if not: ThreadSanitizer's history is finite, and a busy loop would
 * fill it. */
static inline int
my_turn(int n)
{
	/* relaxed: must order nothing; see above */
	if (atomic_load_explicit(&fault_turn, memory_order_relaxed) >= n)
		return 1;
	usleep(100);
	return 0;
}

#endif
