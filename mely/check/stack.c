/* SPDX-License-Identifier: MIT */
/*
 * stack.c: memory of one thread, where a color is a thread to ThreadSanitizer: stacks and
 * thread-local data. A stack that is given back is unmapped, so that ThreadSanitizer forgets the
 * accesses to it.
 */
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "check/fiber.h"
#include "check/tsan.h"

/* The size of the stacks on which handlers run without the checker. */
static size_t
stack_bytes(void)
{
	size_t bytes = 0;
	pthread_attr_t attr;

	if (pthread_attr_init(&attr) == 0) {
		(void)pthread_attr_getstacksize(&attr, &bytes); /* cannot fail */
		(void)pthread_attr_destroy(&attr);
	}
	return bytes != 0 ? bytes : 8u << 20;
}

void
melyint_stack_make(struct melyint_stack *stack)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	stack->size = ((stack_bytes() + page - 1) & ~(page - 1)) + page;
	stack->base = mmap(NULL, stack->size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (stack->base == MAP_FAILED || mprotect(stack->base, page, PROT_NONE) != 0)
		melyint_bug(__FILE__, __LINE__, "no memory for a color's stack");
}

void
melyint_stack_free(struct melyint_stack *stack)
{
	(void)munmap(stack->base, stack->size); /* leaks at worst */
	stack->base = NULL;
}

/* void melyint_stack_switch(void *arg, void (*fn)(void *), void *top): debuggers and unwinders find
 * their way back, since the frame is that of an ordinary function. */
void melyint_stack_switch(void *arg, void (*fn)(void *arg), void *top);

#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".type melyint_stack_switch, @function\n"
    ".hidden melyint_stack_switch\n"
    ".globl melyint_stack_switch\n"
    "melyint_stack_switch:\n"
    "	.cfi_startproc\n"
    "	pushq %rbp\n"
    "	.cfi_def_cfa_offset 16\n"
    "	.cfi_offset %rbp, -16\n"
    "	movq %rsp, %rbp\n"
    "	.cfi_def_cfa_register %rbp\n"
    "	movq %rdx, %rsp\n"
    "	callq *%rsi\n"
    "	movq %rbp, %rsp\n"
    "	popq %rbp\n"
    "	.cfi_def_cfa %rsp, 8\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size melyint_stack_switch, . - melyint_stack_switch\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n"
    ".type melyint_stack_switch, %function\n"
    ".hidden melyint_stack_switch\n"
    ".globl melyint_stack_switch\n"
    "melyint_stack_switch:\n"
    "	.cfi_startproc\n"
    "	stp x29, x30, [sp, #-16]!\n"
    "	.cfi_def_cfa_offset 16\n"
    "	.cfi_offset x29, -16\n"
    "	.cfi_offset x30, -8\n"
    "	mov x29, sp\n"
    "	.cfi_def_cfa_register x29\n"
    "	mov sp, x2\n"
    "	blr x1\n"
    "	mov sp, x29\n"
    "	ldp x29, x30, [sp], #16\n"
    "	.cfi_def_cfa sp, 0\n"
    "	.cfi_restore x29\n"
    "	.cfi_restore x30\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size melyint_stack_switch, . - melyint_stack_switch\n");
#else
#error "the color checker switches stacks on x86-64 and aarch64 only"
#endif

void
melyint_stack_call(const struct melyint_stack *stack, void (*fn)(void *arg), void *arg)
{
	uintptr_t top = (uintptr_t)stack->base + stack->size;

	melyint_stack_switch(arg, fn, (void *)(top - 64));
}

static int
share(struct dl_phdr_info *info, size_t size, void *unused)
{
	int i;

	(void)unused;
	if (size < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof info->dlpi_tls_data ||
	    info->dlpi_tls_data == NULL)
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			AnnotateBenignRaceSized(__FILE__, __LINE__, info->dlpi_tls_data,
			    info->dlpi_phdr[i].p_memsz, "thread-local");
	}
	return 0;
}

void
melyint_tls_share(void)
{
	(void)dl_iterate_phdr(share, NULL);
}
