/* SPDX-License-Identifier: MIT */
/*
 * fiber.h: the fibers of the color checker: one for each color that ran recently, with its own
 * stack, named after the color.
 *
 * NOTE(colorfiber)
 *   A. A core makes a fiber when it is to run a batch of a color that has none. It does so from its
 *      runtime's fiber. A new fiber comes after everything that its maker has done, unless the
 *      maker ignores synchronisation; the runtime's fiber does, so a new fiber has no past.
 *   B. Then the fiber follows the beginning of the run, and what its color's last fiber left
 *      behind.
 *   C. At most MELY_CHECK_FIBERS fibers are kept. When one more is needed, the one that ran longest
 *      ago ends, and leaves what it has done behind in its record. A fiber is never used for
 *      another color: ThreadSanitizer would attribute what it did to that color.
 *   D. A record is under the lock of the table. Its fiber belongs to the thread that set `busy`:
 *      the core that runs the color (there is one, by invariant 1) or the thread that ends the
 *      fiber.
 */
#ifndef MELYINT_CHECK_FIBER_H
#define MELYINT_CHECK_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MELYINT_RUNTIME_FIBER "the runtime itself" /* the name of the runtime's fibers */

struct mely_color;
struct mely_runtime;

struct melyint_stack {
	void *base;  /* its guard page */
	size_t size; /* with it */
};

struct melyint_colorfiber {
	/* under the table's lock */
	struct melyint_colorfiber *next;       /* of its bucket */
	struct melyint_colorfiber *older, *newer; /* by last use; records with a fiber */
	bool busy;
	bool ending;                           /* its fiber ends, and has no name */
	/* constant */
	struct mely_runtime *rt;
	uint64_t key;
	/* the thread that set busy */
	void *fiber;                           /* NULL: it has none now */
	struct melyint_stack stack;
	bool left;                             /* word has what earlier fibers did */
	long word;
};

/* The fiber of a color whose batch is to run; busy until it is given back. */
struct melyint_colorfiber *melyint_colorfiber_get(struct mely_color *color);
void melyint_colorfiber_put(struct melyint_colorfiber *cf);
/* A color has a new name. Any thread. */
void melyint_colorfiber_name(struct mely_color *color, const char *name);
/* End a busy record; the color may have ended. program, if any, comes after all it has done. */
void melyint_colorfiber_end(struct melyint_colorfiber *cf, void *program);
/* The record of a color that is idle and has been released, busy; NULL: it never ran. */
struct melyint_colorfiber *melyint_colorfiber_find(struct mely_color *color);
/* End all colors of a runtime that does not run; at an exit, those that do not run. */
void melyint_colorfiber_end_all(struct mely_runtime *rt, void *program);
void melyint_colorfiber_end_idle(struct mely_runtime *rt, void *program);
/* Does any fiber exist? */
bool melyint_colorfiber_any(void);

/* Stacks. */
void melyint_stack_make(struct melyint_stack *stack);
void melyint_stack_free(struct melyint_stack *stack);
/* Call fn(arg) on the stack. */
void melyint_stack_call(const struct melyint_stack *stack, void (*fn)(void *arg), void *arg);

/* Handlers that run one after another on one thread may share its thread-local data, errno for one:
 * ThreadSanitizer ignores what they do to that of the calling thread. */
void melyint_tls_share(void);

/* Make a call that ThreadSanitizer sees. A signal that came while the fiber was in no such call
 * waits for the next one, which may be far off. */
void melyint_fiber_let_signals_in(void);
/* Hold all signals of this thread until the release, which takes the mask. */
uint64_t melyint_fiber_hold_signals(void);
void melyint_fiber_release_signals(uint64_t mask);
/* Make a fiber; end it. ThreadSanitizer is on the fiber while it makes or ends it, so signals are
 * held: one that came would end with the fiber. ThreadSanitizer (clang 14) makes room for a fiber's
 * signals at the fiber's first call that may wait, and loses one that comes just then; so a new
 * fiber has made such a call. stack, unless NULL: what the fiber runs on. Reports print the calls
 * that made a fiber; two frames of them begin at the bounds of the memory, for mely-check. */
void *melyint_fiber_new(const struct melyint_stack *stack);
void melyint_fiber_end(void *fiber);
/* On the current fiber: reports show function as a caller of what follows, until a call of
 * __tsan_func_exit. */
void melyint_frame_begin(void (*function)(void *arg));
/* Did this thread wait here until a report of ThreadSanitizer was written? fiber: the runtime's. */
bool melyint_fiber_waited(void *fiber);
/* Continue as another fiber. No signal that ThreadSanitizer has kept back stays behind with this
 * one, and none comes in between. */
void melyint_fiber_leave_for(void *fiber);

#endif
