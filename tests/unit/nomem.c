/* SPDX-License-Identifier: MIT */
/*
 * nomem.c: each allocation of the library fails in turn. The call returns -ENOMEM, or does without
 * that memory, and what it had allocated is freed. libev, which ends the program instead, allocates
 * nothing once there is a runtime.
 */
#include <errno.h>
#include <ev.h>
#include <stdbool.h>
#include <string.h>

#include "unit.h"
#include "core/core.h"

/* ---- the allocator: the linker sends the library's calls here -------------------------------- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *p);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *p);

static bool counting;
static long countdown = -1; /* allocations until the one that fails; below 0: none does */
static long live;           /* allocations that are not freed */

/* Count an allocation. False: it fails. */
static bool
allowed(void)
{
	return !counting || countdown < 0 || countdown-- != 0;
}

static void *
counted(void *p)
{
	if (counting && p != NULL)
		live++;
	return p;
}

void *
__wrap_malloc(size_t size)
{
	return allowed() ? counted(__real_malloc(size)) : NULL;
}

void *
__wrap_calloc(size_t count, size_t size)
{
	return allowed() ? counted(__real_calloc(count, size)) : NULL;
}

void *
__wrap_realloc(void *old, size_t size)
{
	if (!allowed())
		return NULL;
	return old == NULL ? counted(__real_realloc(NULL, size)) : __real_realloc(old, size);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return allowed() ? counted(__real_aligned_alloc(alignment, size)) : NULL;
}

char *
__wrap_strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = __wrap_malloc(size);

	return copy != NULL ? memcpy(copy, text, size) : NULL;
}

void
__wrap_free(void *p)
{
	if (counting && p != NULL)
		live--;
	__real_free(p);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static struct mely_runtime *rt;
static struct mely_config config;

/* Call once with each allocation failing in turn, until none fails. call returns 0 or an error. */
static void
each_fails(int (*call)(void), void (*undo)(void))
{
	long n;

	for (n = 0;; n++) {
		long before = live;
		bool failed;
		int error;

		countdown = n;
		error = call();
		failed = countdown < 0;
		countdown = -1;
		if (error == 0 && undo != NULL)
			undo();
		if (error != 0)
			assert_int_equal(error, -ENOMEM);
		assert_int_equal(live, before);
		if (!failed)
			break;
	}
	assert_true(n > 0); /* the linker wraps */
}

static int
make(void)
{
	return mely_runtime_new(&rt, &config);
}

static void
unmake(void)
{
	assert_int_equal(mely_runtime_free(rt), 0);
}

static void
a_runtime(void **state)
{
	(void)state;
	each_fails(make, unmake);
	config.socket = "/nonexistent/mely";
	config.pollers = 1;
	each_fails(make, unmake);
	config.socket = NULL;
	config.pollers = 0;
}

/* ---- libev ----------------------------------------------------------------------------------- */

enum { TIMERS = 1000 };

static bool refused;    /* libev gets no memory; one thread writes it, before the run */
static long asked;      /* calls of libev for memory that it did not get */
static int fired;

/* libev's allocator: realloc, and free for a size of 0. */
static void *
allocate_for_libev(void *old, long size)
{
	if (size == 0) {
		__real_free(old);
		return NULL;
	}
	if (refused)
		asked++;
	return __real_realloc(old, (size_t)size);
}

static void
on_timer(void *arg)
{
	if (++fired == TIMERS)
		assert_int_equal(mely_stop(arg, MELY_STOP_DISCARD), 0);
}

/* Many timers are armed, in a core that sleeps in libev's loop, and fire together. */
static void
libev_needs_nothing(void **state)
{
	static struct mely_handler handler = MELY_HANDLER(on_timer);
	struct mely_color *color;
	mely_watch timer;
	int i;

	(void)state;
	ev_set_allocator(allocate_for_libev);
	config.cores = 1;
	assert_int_equal(mely_runtime_new(&rt, &config), 0);
	assert_int_equal(mely_color_of_id(rt, 1, &color), 0);
	refused = true;
	for (i = 0; i < TIMERS; i++)
		assert_int_equal(mely_timer_start(color, 20000000, 0, 0, &handler, rt, &timer), 0);
	assert_int_equal(mely_run(rt), 0);
	refused = false;
	assert_int_equal(fired, TIMERS);
	assert_int_equal(asked, 0);
	assert_int_equal(mely_runtime_free(rt), 0);
	config.cores = 2;
}

static int
setup(void **state)
{
	(void)state;
	assert_int_equal(mely_config_init(&config), 0);
	config.cores = 2;
	/* What is allocated once for the process. */
	assert_int_equal(mely_runtime_new(&rt, &config), 0);
	assert_int_equal(mely_runtime_free(rt), 0);
	counting = true;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	counting = false;
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_runtime),
	    cmocka_unit_test(libev_needs_nothing),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
