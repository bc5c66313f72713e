/* SPDX-License-Identifier: MIT */
/*
 * fiber.c: NOTE(colorfiber) in fiber.h. Any thread, on the runtime's fiber of its thread.
 */
#include "check/fiber.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "check/edge.h"
#include "color/names_marks.h"
#include "core/core.h"
#include "check/tsan.h"

enum {
	BUCKETS = 16384,
	FIBERS_DEFAULT = 1000,
	FIBERS_LEAST = 16,
	/* gcc 12's runtime has room for 8,128 threads and fibers and takes a millisecond for one */
	FIBERS_MOST = 8000,
	/* A thread that writes no report keeps ThreadSanitizer's lock for less. */
	WAITED_NS = 1000000
};

static struct melyint_lock lock;
/* All under it. */
static struct melyint_colorfiber *buckets[BUCKETS];
static struct melyint_colorfiber *oldest, *newest;
static _Atomic int fibers; /* read by any thread */
static int fibers_max;

/* ---- the table; under the lock --------------------------------------------------------------- */

/* The key of a color. An id keeps its past when its memory is trimmed. Objects are at least 64
 * bytes apart and lie above 4 GB in an instrumented program, so their keys differ from those of
 * ids. */
static uint64_t
key_of(const struct mely_color *color)
{
	return mely_color_is_object(color) ? (uint64_t)(uintptr_t)color : mely_color_id(color);
}

static struct melyint_colorfiber **
find(const struct mely_runtime *rt, uint64_t key)
{
	uint64_t h = (key ^ (uint64_t)(uintptr_t)rt) * 0x9e3779b97f4a7c15u;
	struct melyint_colorfiber **slot = &buckets[(h >> 32) % BUCKETS];

	while (*slot != NULL && ((*slot)->rt != rt || (*slot)->key != key))
		slot = &(*slot)->next;
	return slot;
}

static void
unlink_used(struct melyint_colorfiber *cf)
{
	*(cf->older != NULL ? &cf->older->newer : &oldest) = cf->newer;
	*(cf->newer != NULL ? &cf->newer->older : &newest) = cf->older;
	cf->older = cf->newer = NULL;
}

static void
link_newest(struct melyint_colorfiber *cf)
{
	cf->older = newest;
	cf->newer = NULL;
	*(newest != NULL ? &newest->newer : &oldest) = cf;
	newest = cf;
}

/* Wait for another thread that ends the fiber; that is soon done. */
static struct melyint_colorfiber *
find_and_hold(const struct mely_runtime *rt, uint64_t key)
{
	struct melyint_colorfiber *cf;

	while ((cf = *find(rt, key)) != NULL && cf->busy) {
		melyint_lock_drop(&lock);
		sched_yield();
		melyint_lock_take(&lock);
	}
	if (cf != NULL)
		cf->busy = true;
	return cf;
}

static int
most(void)
{
	const char *text = getenv("MELY_CHECK_FIBERS");
	long n = FIBERS_DEFAULT;

	if (text != NULL && *text != '\0') {
		char *end;

		n = strtol(text, &end, 10);
		if (*end != '\0' || n < FIBERS_LEAST || n > FIBERS_MOST) {
			melyint_say("MELY_CHECK_FIBERS=%s: not a number from %d to %d", text,
			    FIBERS_LEAST, FIBERS_MOST);
			n = FIBERS_DEFAULT;
		}
	}
	return (int)n;
}

/* ---- fibers ---------------------------------------------------------------------------------- */

/* C of NOTE(colorfiber). Busy. */
static void
end_fiber(struct melyint_colorfiber *cf)
{
	melyint_edge_release(&cf->word, cf->fiber);
	cf->left = true;
	melyint_fiber_end(cf->fiber);
	cf->fiber = NULL;
	melyint_stack_free(&cf->stack);
}

/* Make room for one more. */
static void
end_oldest(void)
{
	struct melyint_colorfiber *cf;

	melyint_lock_take(&lock);
	if (fibers_max == 0)
		fibers_max = most();
	/* relaxed, here and below: written under the lock */
	cf = MELY_LOAD(&fibers, relaxed) >= fibers_max ? oldest : NULL;
	while (cf != NULL && cf->busy)
		cf = cf->newer;
	if (cf != NULL) {
		cf->busy = cf->ending = true;
		unlink_used(cf);
	} else {
		MELY_ADD(&fibers, 1, relaxed);
	}
	melyint_lock_drop(&lock);
	if (cf == NULL)
		return;
	end_fiber(cf);
	cf->ending = false;
	melyint_colorfiber_put(cf);
}

static void
name_fiber(struct melyint_colorfiber *cf, struct mely_color *color, const char *name)
{
	char label[96];
	int n;

	if (mely_color_is_object(color))
		n = snprintf(label, sizeof label, "color object %p", (void *)color);
	else
		n = snprintf(label, sizeof label, "color %u", (unsigned)mely_color_id(color));
	if (name != NULL && name[0] != '\0')
		(void)snprintf(label + n, sizeof label - (size_t)n, " (%.40s)", name);
	__tsan_set_fiber_name(cf->fiber, label);
}

/* A and B of NOTE(colorfiber). Busy. */
static void
begin_fiber(struct melyint_colorfiber *cf, struct mely_color *color)
{
	char name[41];

	end_oldest();
	melyint_stack_make(&cf->stack);
	cf->fiber = melyint_fiber_new(&cf->stack);
	/* relaxed: a name that comes later is set then */
	name[0] = '\0';
	if (MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_NOTED)
		(void)mely_color_name(color, name, sizeof name);
	name_fiber(cf, color, name);
	melyint_edge_follow_key(cf->rt, cf->fiber);
	if (cf->left)
		melyint_edge_acquire(&cf->word, cf->fiber);
}

/* ---- records --------------------------------------------------------------------------------- */

static struct melyint_colorfiber *
hold(const struct mely_runtime *rt, uint64_t key)
{
	struct melyint_colorfiber *cf;

	melyint_lock_take(&lock);
	cf = find_and_hold(rt, key);
	if (cf != NULL && cf->fiber != NULL)
		unlink_used(cf);
	melyint_lock_drop(&lock);
	return cf;
}

static struct melyint_colorfiber *
record_of(struct mely_runtime *rt, uint64_t key)
{
	struct melyint_colorfiber *cf, *fresh;

	cf = hold(rt, key);
	if (cf != NULL)
		return cf;
	fresh = calloc(1, sizeof *fresh);
	if (fresh == NULL)
		melyint_bug(__FILE__, __LINE__, "no memory for the color checker");
	fresh->rt = rt;
	fresh->key = key;
	fresh->busy = true;
	/* No other thread can have made one meanwhile: the color runs here. */
	melyint_lock_take(&lock);
	*find(rt, key) = fresh;
	melyint_lock_drop(&lock);
	return fresh;
}

struct melyint_colorfiber *
melyint_colorfiber_get(struct mely_color *color)
{
	struct melyint_colorfiber *cf = record_of(mely_color_runtime(color), key_of(color));

	if (cf->fiber == NULL)
		begin_fiber(cf, color);
	return cf;
}

void
melyint_colorfiber_put(struct melyint_colorfiber *cf)
{
	melyint_lock_take(&lock);
	cf->busy = false;
	if (cf->fiber != NULL)
		link_newest(cf);
	melyint_lock_drop(&lock);
}

void
melyint_colorfiber_name(struct mely_color *color, const char *name)
{
	struct melyint_colorfiber *cf;

	melyint_lock_take(&lock);
	cf = *find(mely_color_runtime(color), key_of(color));
	if (cf != NULL && cf->fiber != NULL && !cf->ending)
		name_fiber(cf, color, name);
	melyint_lock_drop(&lock);
}

/* Busy, in no bucket. */
static void
end_record(struct melyint_colorfiber *cf, void *program)
{
	if (cf->fiber != NULL) {
		end_fiber(cf);
		melyint_lock_take(&lock);
		MELY_SUB(&fibers, 1, relaxed);
		melyint_lock_drop(&lock);
	}
	if (cf->left && program != NULL)
		melyint_edge_acquire(&cf->word, program);
	free(cf);
}

struct melyint_colorfiber *
melyint_colorfiber_find(struct mely_color *color)
{
	return hold(mely_color_runtime(color), key_of(color));
}

void
melyint_colorfiber_end(struct melyint_colorfiber *cf, void *program)
{
	melyint_lock_take(&lock);
	*find(cf->rt, cf->key) = cf->next;
	melyint_lock_drop(&lock);
	end_record(cf, program);
}

static void
end_each(struct mely_runtime *rt, void *program, bool wait)
{
	struct melyint_colorfiber *cf, *all = NULL, **slot;
	int i;

	melyint_lock_take(&lock);
	for (i = 0; i < BUCKETS; i++) {
		slot = &buckets[i];
		while ((cf = *slot) != NULL) {
			/* Busy: a core's thread, which another runtime's thread ends. Wait. */
			if (cf->rt != rt || (cf->busy && !wait)) {
				slot = &cf->next;
				continue;
			}
			if (cf->busy) {
				melyint_lock_drop(&lock);
				sched_yield();
				melyint_lock_take(&lock);
				slot = &buckets[i];
				continue;
			}
			cf->busy = true;
			if (cf->fiber != NULL)
				unlink_used(cf);
			*slot = cf->next;
			cf->next = all;
			all = cf;
		}
	}
	melyint_lock_drop(&lock);
	while ((cf = all) != NULL) {
		all = cf->next;
		end_record(cf, program);
	}
}

void
melyint_colorfiber_end_all(struct mely_runtime *rt, void *program)
{
	end_each(rt, program, true);
}

void
melyint_colorfiber_end_idle(struct mely_runtime *rt, void *program)
{
	end_each(rt, program, false);
}

bool
melyint_colorfiber_any(void)
{
	return MELY_LOAD(&fibers, relaxed) != 0; /* no lock: one may be stuck in a fork's child */
}

void
melyint_fiber_let_signals_in(void)
{
	const char *text = "";
	int error = errno;
	size_t length;

	/* Any such call will do; the compiler must not know its result. */
	__asm__ __volatile__("" : "+r"(text));
	length = strlen(text);
	__asm__ __volatile__("" : : "r"(length));
	errno = error;
}

/* The kernel's own call: ThreadSanitizer would read the mask. */
uint64_t
melyint_fiber_hold_signals(void)
{
	uint64_t all = UINT64_MAX, mask = 0;

	(void)syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &mask, sizeof mask);
	return mask;
}

void
melyint_fiber_release_signals(uint64_t mask)
{
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
}

void *
melyint_fiber_new(const struct melyint_stack *stack)
{
	void *before = __tsan_get_current_fiber(), *fiber;
	uint64_t mask = melyint_fiber_hold_signals();

	if (stack != NULL) {
		__tsan_func_entry((char *)stack->base + stack->size);
		__tsan_func_entry(stack->base);
	}
	fiber = __tsan_create_fiber(0);
	if (stack != NULL) {
		__tsan_func_exit();
		__tsan_func_exit();
	}
	__tsan_switch_to_fiber(fiber, MELYINT_TSAN_NO_SYNC);
	(void)poll(NULL, 0, 0);
	__tsan_switch_to_fiber(before, MELYINT_TSAN_NO_SYNC);
	melyint_fiber_release_signals(mask);
	return fiber;
}

void
melyint_fiber_end(void *fiber)
{
	uint64_t mask = melyint_fiber_hold_signals();

	__tsan_destroy_fiber(fiber);
	melyint_fiber_release_signals(mask);
}

void
melyint_frame_begin(void (*function)(void *arg))
{
	__tsan_func_entry((char *)(uintptr_t)function + 1);
}

/* ThreadSanitizer holds the lock of its threads while it writes a report, and takes it to name a
 * fiber. */
bool
melyint_fiber_waited(void *fiber)
{
	uint64_t before_ns = melyint_now_ns();

	__tsan_set_fiber_name(fiber, MELYINT_RUNTIME_FIBER);
	return melyint_now_ns() - before_ns >= WAITED_NS;
}

void
melyint_fiber_leave_for(void *fiber)
{
	uint64_t mask = melyint_fiber_hold_signals();

	melyint_fiber_let_signals_in();
	__tsan_switch_to_fiber(fiber, MELYINT_TSAN_NO_SYNC);
	melyint_fiber_release_signals(mask);
}
