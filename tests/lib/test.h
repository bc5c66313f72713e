/* SPDX-License-Identifier: MIT */
/*
 * test.h: what every test program shares: checks, a watchdog, a seed, runtimes and waiting.
 *
 * A check that fails prints where and what and ends the process at once with status 1, from any
 * thread. Time never decides: waiting has no limit of its own, only the watchdog of the whole
 * program (test_init), so that a hang fails and a slow machine does not.
 */
#ifndef MELY_TEST_H
#define MELY_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mely/mely.h>

#if defined(__SANITIZE_THREAD__)
#define TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEST_TSAN 1
#endif
#endif
#ifndef TEST_TSAN
#define TEST_TSAN 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define TEST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_ASAN 1
#endif
#endif
#ifndef TEST_ASAN
#define TEST_ASAN 0
#endif

/* ---- checks --------------------------------------------------------------------------------- */

_Noreturn void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define TEST_CHECK(cond) \
	do { \
		if (!(cond)) \
			test_fail(__FILE__, __LINE__, "%s", #cond); \
	} while (0)

/* Two integers are equal; prints both when they are not. */
#define TEST_EQ(a, b) \
	do { \
		long long test_a_ = (long long)(a), test_b_ = (long long)(b); \
		if (test_a_ != test_b_) \
			test_fail(__FILE__, __LINE__, "%s is %lld, not %lld (%s)", #a, test_a_, \
			    test_b_, #b); \
	} while (0)

/* A call of the library returns 0; prints the error when it does not. */
#define TEST_OK(call) \
	do { \
		int test_rc_ = (call); \
		if (test_rc_ != 0) \
			test_fail(__FILE__, __LINE__, "%s: %s", #call, \
			    test_rc_ < 0 ? strerror(-test_rc_) : "a positive result"); \
	} while (0)

/* Run one case of the program, by its function; a name on the command line runs that one only. */
#define TEST_CASE(fn) \
	do { \
		if (test_begin(#fn)) { \
			fn(); \
			test_end(); \
		} \
	} while (0)

/* ---- the program ---------------------------------------------------------------------------- */

/* First call of main. After so many seconds the program fails as hung, later if instrumented. */
void test_init(int argc, char **argv, unsigned watchdog_seconds);
bool test_begin(const char *name);
void test_end(void);
/* Last call of main: its exit status. */
int test_done(void);
/* Print the reason and leave with the status that automake counts as skipped. */
_Noreturn void test_skip(const char *reason);

/* MELY_TEST_LONG=1: minutes are allowed. */
bool test_long(void);
/* n, or fewer in an instrumented build. */
unsigned test_scale(unsigned n);
/* From MELY_TEST_SEED or new for each run; printed by test_init. */
extern uint64_t test_seed;
/* The next number of a sequence whose state is plain data. */
uint64_t test_random(uint64_t *state);

/* ---- runtimes ------------------------------------------------------------------------------- */

void test_config(struct mely_config *config, int cores);
struct mely_runtime *test_runtime(int cores);
struct mely_runtime *test_runtime_with(const struct mely_config *config);
struct mely_counters test_counters(const struct mely_runtime *rt);

/* A thread inside mely_run. */
struct test_runner {
	struct mely_runtime *rt;
	pthread_t thread;
	int result;
};

/* Start mely_run on a thread of its own; returns when handlers run. */
void test_run_start(struct test_runner *runner, struct mely_runtime *rt);
/* Wait for it; mely_run must have returned 0. */
void test_run_join(struct test_runner *runner);
/* mely_stop and test_run_join. */
void test_run_stop(struct test_runner *runner, enum mely_stop_mode mode);

/* A handler that stops its runtime by draining. */
extern struct mely_handler test_stop_handler;
extern struct mely_handler test_discard_handler;
/* Run what has been posted, and all that comes of it, on this thread; returns at the end. */
void test_run_dry(struct mely_runtime *rt);

/* Until the handlers of the color that run now, or are queued, have ended. The runtime runs. */
void test_settle(struct mely_color *color);

/* A color object, 64-byte aligned, on the heap. */
struct mely_color *test_color(struct mely_runtime *rt);
struct mely_color *test_color_on(struct mely_runtime *rt, int core);

/* ---- waiting -------------------------------------------------------------------------------- */

/*
 * Until *word >= value. All that was done before a release of the word is visible after; what a
 * handler does after it may still be to come, and a stop may come before it.
 */
void test_await(_Atomic uint64_t *word, uint64_t value);
void test_add(_Atomic uint64_t *word, uint64_t n);
uint64_t test_get(_Atomic uint64_t *word);
void test_nap_us(unsigned us);
/* Keep the processor busy. */
void test_spin_ns(uint64_t ns);
/* A thread that must start. */
pthread_t test_thread(void *(*fn)(void *arg), void *arg);
void test_thread_join(pthread_t thread);

#endif
