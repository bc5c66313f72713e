/* SPDX-License-Identifier: MIT */
/*
 * handlers.c: the registry of handlers: one number for each function and name, for every thread,
 * and a limit to the numbers.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "core/handlers.h"

static void
one(void *arg)
{
	(void)arg;
}

static void
two(void *arg)
{
	*(int *)arg = 2;
}

static int asked; /* for symbols */

/* Replaces the C library's: `one` is exported under this name, all other functions have none. */
int
dladdr(const void *address, Dl_info *info)
{
	void (*fn)(void *arg) = one;

	asked++;
	memset(info, 0, sizeof *info);
	if (memcmp(&address, &fn, sizeof fn) != 0)
		return 0;
	info->dli_sname = "one_exported";
	memcpy(&info->dli_saddr, &fn, sizeof fn);
	return 1;
}

static uint32_t
number(void (*fn)(void *arg), const char *name)
{
	struct mely_handler handler;
	uint32_t n;

	mely_handler_init(&handler, fn, name);
	n = melyint_handler_number(&handler);
	assert_int_equal(melyint_handler_number(&handler), n);
	return n;
}

static void
pairs(void **state)
{
	char name[200];
	uint32_t a = number(one, "a"), b = number(one, "b"), c = number(two, "a"), n;

	(void)state;
	assert_true(a != 0 && a != b && b != c && a != c);
	snprintf(name, sizeof name, "%s", "a");
	assert_int_equal(number(one, name), a);
	/* The name is a copy. */
	name[0] = 'x';
	assert_string_equal(melyint_handler_entry(a)->name, "a");
	assert_true(melyint_handler_entry(c)->fn == two);
	/* A long name is cut, the same way each time. */
	memset(name, 'y', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	n = number(one, name);
	assert_int_equal(strlen(melyint_handler_entry(n)->name), MELYINT_HANDLER_NAME - 1);
	name[150] = 'z';
	assert_int_equal(number(one, name), n);
	/* A handler without a name has that of its function, or its address. */
	n = number(one, NULL);
	assert_true(melyint_handler_name(n)[0] != '\0');
	assert_int_equal(number(one, ""), n);
	assert_true(number(two, NULL) != n);
	assert_null(melyint_handler_entry(0));
	assert_null(melyint_handler_entry(melyint_handlers_end()));
	assert_null(melyint_handler_entry(MELYINT_NO_HANDLER));
}

/* A thread may assign a number under a lock for which a running dlopen waits. */
static void
symbols_are_for_readers(void **state)
{
	int before = asked;
	uint32_t n = number(one, NULL), m = number(two, NULL);

	(void)state;
	assert_memory_equal(melyint_handler_name_known(m), "0x", 2);
	assert_int_equal(asked, before);
	assert_string_equal(melyint_handler_name(n), "one_exported");
	assert_string_equal(melyint_handler_name_known(n), "one_exported");
	assert_memory_equal(melyint_handler_name(m), "0x", 2);
	before = asked;
	assert_string_equal(melyint_handler_name(n), "one_exported");
	assert_memory_equal(melyint_handler_name(m), "0x", 2);
	assert_int_equal(asked, before);
}

/* As if the thread that assigned the number stopped before it made the entry ready. */
static void
found_before_it_is_ready(void **state)
{
	struct mely_handler first, second;
	struct melyint_handler_entry *entry;
	uint32_t n;

	(void)state;
	mely_handler_init(&first, one, "early");
	mely_handler_init(&second, one, "early");
	n = melyint_handler_number(&first);
	entry = melyint_handler_entry(n);
	MELY_STORE(&entry->ready, false, relaxed);
	assert_int_equal(melyint_handler_number(&second), n);
	assert_true(melyint_handler_entry(n) == entry);
	/* Also when the number is known. */
	MELY_STORE(&entry->ready, false, relaxed);
	mely_handler_set_stall(&first, 7);
	assert_int_equal(MELY_LOAD(&entry->stall_ms, relaxed), 7);
	assert_true(melyint_handler_entry(n) == entry);
	mely_handler_set_stall(&first, 0);
}

/* Threads that ask for one pair at the same time get one number. */
enum { THREADS = 4, NAMES = 300 };

static uint32_t found[THREADS][NAMES];
static pthread_barrier_t barrier;

static void *
ask(void *arg)
{
	uint32_t *numbers = arg;
	char name[16];
	int i;

	pthread_barrier_wait(&barrier);
	for (i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "n%d", i);
		numbers[i] = number(one, name);
		/* Another thread may be about to make it ready. */
		while (melyint_handler_entry(numbers[i]) == NULL)
			;
		assert_string_equal(melyint_handler_entry(numbers[i])->name, name);
	}
	return NULL;
}

static void
threads_agree(void **state)
{
	pthread_t threads[THREADS];
	int i, k;

	(void)state;
	assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask, found[i]), 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (i = 1; i < THREADS; i++)
		assert_memory_equal(found[i], found[0], sizeof found[0]);
	for (i = 0; i < NAMES; i++)
		for (k = 0; k < i; k++)
			assert_true(found[0][i] != found[0][k]);
}

/* A program that invents names gets one number for all of them in the end. */
static void
there_is_an_end(void **state)
{
	uint32_t n = 0, before = number(one, "a");
	char name[16];
	int i;

	(void)state;
	for (i = 0; i < 2 * MELYINT_HANDLERS; i++) {
		snprintf(name, sizeof name, "m%d", i);
		n = number(one, name);
		assert_true(n != 0 && n < MELYINT_HANDLERS);
	}
	assert_int_equal(n, MELYINT_HANDLER_OTHER);
	assert_non_null(melyint_handler_entry(n));
	assert_null(melyint_handler_entry(n)->fn);
	assert_int_equal(melyint_handlers_end(), MELYINT_HANDLER_OTHER);
	/* Earlier handlers keep their numbers. */
	assert_int_equal(number(one, "a"), before);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),
		cmocka_unit_test(symbols_are_for_readers),
		cmocka_unit_test(found_before_it_is_ready),
		cmocka_unit_test(threads_agree),
		cmocka_unit_test(there_is_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
