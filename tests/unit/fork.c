/* SPDX-License-Identifier: MIT */
/*
 * fork.c: the child of a fork finds every color in a queue, waits for no lock that a thread of the
 * parent held, and counts nothing in the counters of a core.
 */
#include <errno.h>
#include <mely/stats.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "core/core.h"

enum { FORKS = 100 };
enum { HANG_S = 60 }; /* a child that takes longer hangs */

static struct mely_runtime *rt;

static int
begin(void **state)
{
	struct mely_config config;

	(void)state;
	assert_int_equal(mely_config_init(&config), 0);
	config.cores = 2;
	return mely_runtime_new(&rt, &config);
}

static int
end(void **state)
{
	(void)state;
	return mely_runtime_free(rt);
}

/* Run fn in a child. Returns the child's exit status. */
static int
in_child(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(HANG_S);
		_exit(fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* ---- lock waits ------------------------------------------------------------------------------ */

static int
counts_waits(void)
{
	return melyint_lock_waits.times != NULL || melyint_lock_waits.ns != NULL;
}

static void
waits_are_nobodys(void **state)
{
	struct melyint_counters *c = &rt->cores[0].counters;

	(void)state;
	melyint_lock_waits = (struct melyint_lock_waits){&c->lock_waits, &c->lock_wait_ns};
	assert_int_equal(in_child(counts_waits), 0);
	assert_ptr_equal(melyint_lock_waits.times, &c->lock_waits);
	melyint_lock_waits = (struct melyint_lock_waits){NULL, NULL};
}

/* ---- outboxes -------------------------------------------------------------------------------- */

static struct mely_color *object;
static int released;

static void
on_release(void *arg)
{
	(void)arg;
	released++;
}

static int
release(void)
{
	return mely_color_release(object, on_release, NULL) == 0 && released == 1 ? 0 : 1;
}

/* One thread of the parent delivers an outbox while another forks. */
static void
release_does_not_hang(void **state)
{
	struct melyint_outbox *out = &rt->cores[1].outbox;

	(void)state;
	object = aligned_alloc(MELY_CACHE_LINE, sizeof *object);
	assert_non_null(object);
	assert_int_equal(mely_color_init_on(object, rt, 0), 0);
	/* relaxed, all: one thread */
	MELY_STORE(&rt->flow.outboxes, true, relaxed);
	MELY_STORE(&out->tail, 1, relaxed);
	melyint_lock_take(&out->lock);
	assert_int_equal(in_child(release), 0);
	melyint_lock_drop(&out->lock);
	MELY_STORE(&out->tail, 0, relaxed);
	assert_int_equal(release(), 0);
	free(object);
}

/* ---- colors on their way --------------------------------------------------------------------- */

static _Atomic uint32_t *moving, arrived;

static void
nap(void)
{
	struct timespec ns = {0, 20000000};

	nanosleep(&ns, NULL);
}

/* End a move under the lock of a core, as pull in steal.c does. */
static void *
arrive(void *arg)
{
	(void)arg;
	nap();
	melyint_lock_take(&rt->cores[0].lock);
	MELY_STORE(moving, 0, relaxed); /* under the lock */
	melyint_lock_drop(&rt->cores[0].lock);
	MELY_STORE(&arrived, 1, release); /* it has finished with the runtime */
	return NULL;
}

static int
on_its_way(void)
{
	return MELY_LOAD(moving, relaxed) != 0; /* one thread */
}

static void
fork_while_moving(_Atomic uint32_t *word)
{
	pthread_t thread;

	moving = word;
	/* relaxed, both: the thread starts afterwards */
	MELY_STORE(&arrived, 0, relaxed);
	MELY_STORE(moving, 1, relaxed);
	assert_int_equal(pthread_create(&thread, NULL, arrive, NULL), 0);
	/* The race detector would report a joinable thread as a leak of the child. */
	assert_int_equal(pthread_detach(thread), 0);
	assert_int_equal(in_child(on_its_way), 0);
	while (MELY_LOAD(&arrived, acquire) == 0) /* pairs with the release in arrive */
		nap();
}

static void
moves_end_before(void **state)
{
	(void)state;
	fork_while_moving(&rt->cores[0].hint.moving);
	fork_while_moving(&rt->cores[1].hint.moving);
	fork_while_moving((_Atomic uint32_t *)&rt->flow.arriving);
}

/* ---- names ----------------------------------------------------------------------------------- */

static _Atomic bool naming;
static struct mely_color *named[2];

static void *
names(void *arg)
{
	char name[16];

	(void)arg;
	while (MELY_LOAD(&naming, relaxed)) { /* only to end */
		assert_int_equal(mely_color_set_name(named[0], "parent"), 0);
		assert_int_equal(mely_color_name(named[0], name, sizeof name), 6);
	}
	return NULL;
}

static int
name_in_child(void)
{
	struct mely_stats *stats;

	if (mely_runtime_renew(rt) != 0 || mely_color_set_name(named[1], "child") != 0 ||
	    mely_stats_take(rt, 0, 10, &stats) != 0)
		return 1;
	mely_stats_free(stats);
	return 0;
}

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif
#ifndef ASAN
#define ASAN 0
#endif

/* One thread names a color while another forks. */
static void
names_do_not_hang(void **state)
{
	pthread_t thread;
	int i;

	(void)state;
	/* A fork may leave the locks of the sanitizer's own malloc held in the child. */
	if (ASAN)
		skip();
	for (i = 0; i < 2; i++)
		assert_int_equal(mely_color_of_id(rt, (uint32_t)i + 1, &named[i]), 0);
	MELY_STORE(&naming, true, relaxed); /* the thread starts afterwards */
	assert_int_equal(pthread_create(&thread, NULL, names, NULL), 0);
	for (i = 0; i < FORKS; i++)
		assert_int_equal(in_child(name_in_child), 0);
	MELY_STORE(&naming, false, relaxed); /* as above */
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ---- relief ---------------------------------------------------------------------------------- */

static int
relieves_nobody(void)
{
	return mely_runtime_renew(rt) != 0 || rt->cores[1].others.relieved != NULL;
}

/* A core of the parent was serving the poller of another one. */
static void
relief_is_forgotten(void **state)
{
	(void)state;
	rt->cores[1].others.relieved = &rt->cores[0];
	assert_int_equal(in_child(relieves_nobody), 0);
	rt->cores[1].others.relieved = NULL;
}

/* ---- a handler in the parent ----------------------------------------------------------------- */

static struct mely_event in_parent;

static void
on_nothing(void *arg)
{
	(void)arg;
}

static struct mely_handler nothing = MELY_HANDLER(on_nothing);

static int
cancels_nothing(void)
{
	return mely_runtime_renew(rt) != 0 ||
	    mely_event_cancel(&in_parent, NULL, NULL) != -ENOENT;
}

/* A core of the parent was in the handler of an event. In the child no handler runs. */
static void
handlers_are_forgotten(void **state)
{
	struct melyint_core *core = &rt->cores[1];

	(void)state;
	mely_event_init(&in_parent, &nothing, NULL);
	assert_int_equal(mely_event_post_id(rt, 1, &in_parent), 0);
	assert_int_equal(mely_event_cancel(&in_parent, NULL, NULL), 0);
	/* relaxed, both: one thread */
	MELY_STORE(&core->shown.current, &in_parent, relaxed);
	assert_int_equal(in_child(cancels_nothing), 0);
	MELY_STORE(&core->shown.current, NULL, relaxed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(waits_are_nobodys, begin, end),
	    cmocka_unit_test_setup_teardown(release_does_not_hang, begin, end),
	    cmocka_unit_test_setup_teardown(moves_end_before, begin, end),
	    cmocka_unit_test_setup_teardown(names_do_not_hang, begin, end),
	    cmocka_unit_test_setup_teardown(relief_is_forgotten, begin, end),
	    cmocka_unit_test_setup_teardown(handlers_are_forgotten, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
