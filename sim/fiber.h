/* SPDX-License-Identifier: MIT */
/*
 * fiber.h: separate stacks, and switches between them without a system call. All in one thread of
 * the operating system.
 */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#define SIM_FIBER_UCONTEXT 1
#include <ucontext.h>
#endif

struct sim_fiber {
	void *sp;            /* where it stopped; the saved registers are on top */
	char *stack;         /* lowest address; NULL for the thread's own */
	size_t size;
	void (*fn)(void *arg);
	void *arg;
	void *fake_stack;    /* AddressSanitizer's */
#ifdef SIM_FIBER_UCONTEXT
	ucontext_t context;
#endif
};

/* The calling thread becomes a fiber, to which others can switch back. */
void sim_fiber_adopt(struct sim_fiber *fiber);
/* A stack, used again by every sim_fiber_start. False: no memory. */
int sim_fiber_new(struct sim_fiber *fiber, size_t size);
void sim_fiber_free(struct sim_fiber *fiber);
/* At the next switch to it, it calls fn(arg), which must not return. */
void sim_fiber_start(struct sim_fiber *fiber, void (*fn)(void *arg), void *arg);
void sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to);

#endif
