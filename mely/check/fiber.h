/* SPDX-License-Identifier: MIT */
/*
 * fiber.h: the fibers of the color checker: one for each color that ran of late, with a stack
 * of its own, named after the color.
 *
 * NOTE(colorfiber)
 *   A. A fiber is made when a batch of its color is to run and it has none, from the runtime's
 *      fiber of that core. A fiber begins with all that its maker knows if its maker may be
 *      waited for; the runtime's ignores synchronisation, so a new fiber knows nothing.
 *   B. Then it follows the beginning of the run, and what its color's last fiber left behind.
 *   C. At most MELY_CHECK_FIBERS of them are kept. When one more is needed, the one that ran
 *      longest ago ends: what it knows is left behind in its record. It is never used for another
 *      color: what it did would be taken for that color's.
 *   D. A record is under the lock of the table, its fiber whoever's set `busy`: the core that runs
 *      the color (which is one, by invariant 1) or the thread that ends the fiber.
 */
#ifndef MELYINT_CHECK_FIBER_H
#define MELYINT_CHECK_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mely_color;
struct mely_runtime;

struct melyint_stack {
	void *base;  /* its guard page */
	size_t size; /* with it */
};

struct melyint_colorfiber {
	/* under the table's lock */
	struct melyint_colorfiber *next;       /* of its bucket */
	struct melyint_colorfiber *older, *newer; /* by last use, those with a fiber */
	bool busy;
	bool ending;                           /* its fiber is; it has no name any more */
	/* constant */
	struct mely_runtime *rt;
	uint64_t key;
	/* whoever set busy */
	void *fiber;                           /* NULL: it has none now */
	struct melyint_stack stack;
	bool left;                             /* word says what earlier fibers did */
	long word;
};

/* The fiber of a color whose batch is to run; busy until it is given back. */
struct melyint_colorfiber *melyint_colorfiber_get(struct mely_color *color);
void melyint_colorfiber_put(struct melyint_colorfiber *cf);
/* A color has a name, or another one. Any thread. */
void melyint_colorfiber_name(struct mely_color *color, const char *name);
/* A busy one goes for good; the color may be gone. program, if any, follows all it has done. */
void melyint_colorfiber_end(struct melyint_colorfiber *cf, void *program);
/* The record of a color that is idle and has been released, busy; NULL: it never ran. */
struct melyint_colorfiber *melyint_colorfiber_find(struct mely_color *color);
/* The same for all colors of a runtime that does not run. At an exit: of those that do not run. */
void melyint_colorfiber_end_all(struct mely_runtime *rt, void *program);
void melyint_colorfiber_end_idle(struct mely_runtime *rt, void *program);
/* Is there any fiber? */
bool melyint_colorfiber_any(void);

/* Stacks. */
void melyint_stack_make(struct melyint_stack *stack);
void melyint_stack_free(struct melyint_stack *stack);
/* fn(arg) on it. */
void melyint_stack_call(const struct melyint_stack *stack, void (*fn)(void *arg), void *arg);

/* Handlers that run one after another on one thread share its thread-local data, errno for one, and
 * may: what they do to that of the calling thread is not looked at. */
void melyint_tls_share(void);

/* A signal that came while a fiber was in no call that ThreadSanitizer sees waits for the next such
 * call of that fiber, which may be long in coming. */
void melyint_fiber_let_signals_in(void);
/* Let none come to this thread; what comes meanwhile comes at the release, which takes the mask. */
uint64_t melyint_fiber_hold_signals(void);
void melyint_fiber_release_signals(uint64_t mask);
/* A fiber, and its end. ThreadSanitizer is on the fiber while it makes or ends it, so no signal
 * comes then: it would go with it. And (in clang 14) it makes the place for a fiber's signals at
 * the first call that may wait, and loses one that comes meanwhile: so that has been made. */
void *melyint_fiber_new(void);
void melyint_fiber_end(void *fiber);
/* Go on as another fiber: no signal that ThreadSanitizer has kept back stays behind with this
 * one, and none comes in between. */
void melyint_fiber_leave_for(void *fiber);

#endif
