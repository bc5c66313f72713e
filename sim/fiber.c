/* SPDX-License-Identifier: MIT */
/*
 * fiber.c: see fiber.h. The switch saves the callee-saved registers of the calling convention: six
 * on x86-64; the integer ones and eight floating-point ones on aarch64. Other machines use
 * ucontext, at the price of a system call for the signal mask.
 */
#include "fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#endif

#ifdef SIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* The fibers of the current switch: AddressSanitizer needs both in the new fiber. */
static struct sim_fiber *sim_fiber_left, *sim_fiber_entered;

void sim_fiber_entry(void);
void sim_fiber_begin(void);

#if defined(__x86_64__)
void sim_fiber_swap(void **from_sp, void *to_sp);
__asm__(
	".text\n"
	".globl sim_fiber_swap\n"
	".type sim_fiber_swap, @function\n"
	"sim_fiber_swap:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size sim_fiber_swap, .-sim_fiber_swap\n"
	".globl sim_fiber_entry\n"
	".type sim_fiber_entry, @function\n"
	"sim_fiber_entry:\n"
	"	xorl %ebp, %ebp\n"
	"	call sim_fiber_begin\n"
	"	ud2\n"
	".size sim_fiber_entry, .-sim_fiber_entry\n");
enum { SAVED_WORDS = 6 };

/* Push what the first swap pops: the registers and the address to continue at. */
static void
lay_out(struct sim_fiber *fiber)
{
	uintptr_t *sp = (uintptr_t *)(void *)(fiber->stack + fiber->size);

	*--sp = 0;
	*--sp = 0; /* aligns the stack at the entry */
	*--sp = (uintptr_t)sim_fiber_entry;
	sp -= SAVED_WORDS;
	memset(sp, 0, SAVED_WORDS * sizeof *sp);
	fiber->sp = sp;
}
#elif defined(__aarch64__)
void sim_fiber_swap(void **from_sp, void *to_sp);
__asm__(
	".text\n"
	".globl sim_fiber_swap\n"
	".type sim_fiber_swap, %function\n"
	"sim_fiber_swap:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp, #0]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp, #0]\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n"
	".size sim_fiber_swap, .-sim_fiber_swap\n"
	".globl sim_fiber_entry\n"
	".type sim_fiber_entry, %function\n"
	"sim_fiber_entry:\n"
	"	mov x29, xzr\n"
	"	mov x30, xzr\n"
	"	bl sim_fiber_begin\n"
	"	brk #0\n"
	".size sim_fiber_entry, .-sim_fiber_entry\n");
enum { SAVED_WORDS = 20, LINK_WORD = 11 };

static void
lay_out(struct sim_fiber *fiber)
{
	uintptr_t *sp = (uintptr_t *)(void *)(fiber->stack + fiber->size);

	sp -= SAVED_WORDS;
	memset(sp, 0, SAVED_WORDS * sizeof *sp);
	sp[LINK_WORD] = (uintptr_t)sim_fiber_entry;
	fiber->sp = sp;
}
#else
static void
lay_out(struct sim_fiber *fiber)
{
	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = fiber->stack;
	fiber->context.uc_stack.ss_size = fiber->size;
	fiber->context.uc_link = NULL;
	makecontext(&fiber->context, sim_fiber_begin, 0);
}
#endif

/* Runs on the stack of the fiber that was switched to. */
static void
arrived(struct sim_fiber *self)
{
#ifdef SIM_ASAN
	const void *bottom;
	size_t size;

	__sanitizer_finish_switch_fiber(self->fake_stack, &bottom, &size);
	if (sim_fiber_left->stack == NULL && sim_fiber_left->size == 0) {
		/* The thread's own stack, which only the sanitizer knows. */
		sim_fiber_left->arg = (void *)(uintptr_t)bottom;
		sim_fiber_left->size = size;
	}
#endif
	(void)self;
}

void
sim_fiber_begin(void)
{
	struct sim_fiber *self = sim_fiber_entered;

	arrived(self);
	self->fn(self->arg);
	abort();
}

void
sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to)
{
	sim_fiber_left = from;
	sim_fiber_entered = to;
#ifdef SIM_ASAN
	__sanitizer_start_switch_fiber(&from->fake_stack,
	    to->stack != NULL ? to->stack : to->arg, to->size);
#endif
#ifdef SIM_FIBER_UCONTEXT
	swapcontext(&from->context, &to->context);
#else
	sim_fiber_swap(&from->sp, to->sp);
#endif
	arrived(from);
}

void
sim_fiber_adopt(struct sim_fiber *fiber)
{
	memset(fiber, 0, sizeof *fiber);
}

int
sim_fiber_new(struct sim_fiber *fiber, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, size + page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	memset(fiber, 0, sizeof *fiber);
	if (area == MAP_FAILED)
		return 0;
	/* Make an overflow fault. */
	mprotect(area, page, PROT_NONE);
	fiber->stack = area + page;
	fiber->size = size;
	return 1;
}

void
sim_fiber_free(struct sim_fiber *fiber)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (fiber->stack != NULL)
		munmap(fiber->stack - page, fiber->size + page);
	fiber->stack = NULL;
}

void
sim_fiber_start(struct sim_fiber *fiber, void (*fn)(void *arg), void *arg)
{
#ifdef SIM_ASAN
	/* An abandoned run may have left poisoned bytes on the stack. */
	__asan_unpoison_memory_region(fiber->stack, fiber->size);
	fiber->fake_stack = NULL;
#endif
	fiber->fn = fn;
	fiber->arg = arg;
	lay_out(fiber);
}
