/* SPDX-License-Identifier: MIT */
/*
 * test.h: what every test program shares: assertions, a watchdog, a seed, runtimes and waiting.
 *
 * A failed assertion prints its place and condition and ends the process at once with status 1,
 * from any thread. Time never decides: waiting has no separate limit. Only the watchdog of the
 * whole program (test_init) ends a hang, so that a slow machine does not fail.
 */
#ifndef MELY_TEST_H
#define MELY_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <pthread.h>
#ifndef __cplusplus
#include <stdatomic.h>
#endif
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

/* ---- assertions ----------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

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

/* Run a case, named by its function; a name on the command line runs only that case. */
#define TEST_CASE(fn) \
	do { \
		if (test_begin(#fn)) { \
			fn(); \
			test_end(); \
		} \
	} while (0)

/* ---- the program ---------------------------------------------------------------------------- */

/* Makes fork safe under AddressSanitizer. test_init calls it, before any thread starts. */
void test_hold_sanitizer_at_forks(void);

/* First call of main. A case has hung after three times watchdog_seconds, six if instrumented. */
void test_init(int argc, char **argv, unsigned watchdog_seconds);
bool test_begin(const char *name);
void test_end(void);
/* Last call of main: its exit status. */
int test_done(void);
/* Print the reason and exit with the status that automake counts as skipped. */
void test_skip(const char *reason) __attribute__((noreturn));

/* MELY_TEST_LONG=1: tests may take minutes. */
bool test_long(void);
/* n, or fewer in an instrumented build. */
unsigned test_scale(unsigned n);
/* From MELY_TEST_SEED or new for each run; printed by test_init. */
extern uint64_t test_seed;
/* The next number of a sequence whose state is plain data. */
uint64_t test_random(uint64_t *state);

/* Run fn in a child of this process: its wait status; what it wrote to standard error is in text.
 * No runtime may exist. */
int test_child(void (*fn)(void), char *text, size_t size);

/* ---- runtimes ------------------------------------------------------------------------------- */

void test_config(struct mely_config *config, int cores);
struct mely_runtime *test_runtime(int cores);
struct mely_runtime *test_runtime_with(const struct mely_config *config);
struct mely_counters test_counters(struct mely_runtime *rt);

/* A thread inside mely_run. */
struct test_runner {
	struct mely_runtime *rt;
	pthread_t thread;
	int result;
};

/* Start mely_run on a separate thread; returns when handlers run. */
void test_run_start(struct test_runner *runner, struct mely_runtime *rt);
/* Wait for the thread; mely_run must have returned 0. */
void test_run_join(struct test_runner *runner);
/* mely_stop and test_run_join. */
void test_run_stop(struct test_runner *runner, enum mely_stop_mode mode);

/* A handler that stops its runtime by draining. */
extern struct mely_handler test_stop_handler;
extern struct mely_handler test_discard_handler;
/* Run all posted events, and all that they post, on this thread; returns at the end. */
void test_run_dry(struct mely_runtime *rt);

/* Wait until the running and queued handlers of the color have ended. The runtime must run. */
void test_settle(struct mely_color *color);

/* A color object, 64-byte aligned, on the heap. */
struct mely_color *test_color(struct mely_runtime *rt);
struct mely_color *test_color_on(struct mely_runtime *rt, int core);

/* ---- waiting -------------------------------------------------------------------------------- */

/*
 * Wait until *word >= value. All that happened before the release of the word is visible
 * afterwards. What the handler does after the release may still follow, and a stop may precede it.
 */
void test_await(MELY_ATOMIC(uint64_t) *word, uint64_t value);
void test_add(MELY_ATOMIC(uint64_t) *word, uint64_t n);
uint64_t test_get(MELY_ATOMIC(uint64_t) *word);
void test_nap_us(unsigned us);
/* Close n descriptors. */
void test_close(const int *fds, int n);
/* Keep the processor busy. */
void test_spin_ns(uint64_t ns);
/* Start a thread; failure ends the program. */
pthread_t test_thread(void *(*fn)(void *arg), void *arg);
void test_thread_join(pthread_t thread);

#ifdef __cplusplus
}
#endif

#endif
