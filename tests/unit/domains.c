/* SPDX-License-Identifier: MIT */
/*
 * domains.c: the cores that share a cache: E of NOTE(park). Which cores are a domain, what counts
 * its sleepers, and in which domain a poster has a core search. One thread plays the cores.
 */
#include "cores.h"
#include "sched/wake.h"

/* relaxed, all: one thread */
static int
domains_with_sleepers(void)
{
	return MELY_LOAD(&rt->idle.domains, relaxed);
}

static int
searching(int domain)
{
	return MELY_LOAD(&rt->domains[domain].searching, relaxed);
}

static bool
asleep(int number)
{
	return MELY_LOAD(&rt->cores[number].locked.sleep, relaxed) != MELYINT_AWAKE;
}

static void
end_searches(void)
{
	int i;

	for (i = 0; i < CORES; i++)
		rt->cores[i].locked.searching = false;
	for (i = 0; i < rt->domains_count; i++)
		MELY_STORE(&rt->domains[i].searching, MELYINT_SEARCH_NONE, relaxed);
}

/* ---- which cores ----------------------------------------------------------------------------- */

/* The domain of each core, as a row of digits. */
static void
check_domains(const char *topology, const char *expected)
{
	char row[CORES + 1] = "";
	int i;

	cores_topology = topology;
	assert_int_equal(cores_setup(NULL), 0);
	for (i = 0; i < CORES; i++)
		row[i] = (char)('0' + (rt->cores[i].fixed.domain - rt->domains));
	assert_string_equal(row, expected);
	assert_int_equal(cores_teardown(NULL), 0);
}

static void
cores_that_share_a_cache(void **state)
{
	(void)state;
	check_domains("pack:1 l3:1 core:4 pu:1", "000");
	check_domains("pack:2 l3:1 core:2 pu:1", "001");
	check_domains("pack:2 l2:1 core:2 pu:1", "001");
	check_domains("pack:2 l3:1 l2:2 core:1 pu:1", "001"); /* the L3 cache, not the L2 */
	check_domains("pack:3 l3:1 core:1 pu:1", "000");      /* none is shared */
	check_domains("pack:4 core:1 pu:1", "000");
}

/* ---- sleep and wake: cores 0 and 1 are a domain, core 2 is another --------------------------- */

static void
each_domain_counts_once(void **state)
{
	(void)state;
	assert_int_equal(rt->cores[2].fixed.domains[0], 1);
	assert_int_equal(rt->cores[2].fixed.domains[1], 0);
	put_to_sleep(&rt->cores[0], MELYINT_ASLEEP);
	put_to_sleep(&rt->cores[1], MELYINT_ASLEEP);
	assert_int_equal(domains_with_sleepers(), 1);
	put_to_sleep(&rt->cores[2], MELYINT_ASLEEP);
	assert_int_equal(domains_with_sleepers(), 2);
	melyint_lock_take(&one->lock);
	assert_true(melyint_wake_locked(one));
	melyint_lock_drop(&one->lock);
	assert_int_equal(domains_with_sleepers(), 2); /* core 1 still sleeps */
	melyint_wake_all(rt);
	assert_int_equal(domains_with_sleepers(), 0);
}

static void
the_own_domain_comes_first(void **state)
{
	(void)state;
	put_to_sleep(&rt->cores[2], MELYINT_ASLEEP);
	put_to_sleep(&rt->cores[0], MELYINT_ASLEEP);
	play(two);
	post(0, 1); /* on two */
	assert_false(asleep(0));
	assert_true(asleep(2));
	assert_int_equal(searching(0), MELYINT_SEARCH_ONE);
	/* While core 0 searches, it takes care of what two has: core 2 sleeps on. */
	melyint_offer(two, two);
	assert_true(asleep(2));
	assert_int_equal(searching(0), MELYINT_SEARCH_MORE);
	/* When no core of its domain sleeps or searches, the other one is asked. */
	end_searches();
	melyint_offer(two, two);
	assert_false(asleep(2));
	assert_int_equal(searching(0), MELYINT_SEARCH_NONE);
	assert_int_equal(searching(1), MELYINT_SEARCH_ONE);
	assert_int_equal(domains_with_sleepers(), 0);
	end_searches();
}

/* Each domain has a search of its own. */
static void
two_searches_at_a_time(void **state)
{
	(void)state;
	put_to_sleep(&rt->cores[2], MELYINT_ASLEEP);
	put_to_sleep(&rt->cores[0], MELYINT_ASLEEP);
	play(two);
	post(0, 1);
	assert_int_equal(searching(0), MELYINT_SEARCH_ONE);
	play(&rt->cores[2]);
	melyint_offer(&rt->cores[2], &rt->cores[2]); /* nothing waits there */
	assert_true(asleep(2));
	MELY_STORE(&rt->cores[2].hint.stealable, 1, relaxed);
	put_to_sleep(&rt->cores[0], MELYINT_ASLEEP);
	one->locked.searching = false;
	melyint_offer(NULL, &rt->cores[2]);
	assert_false(asleep(2));
	assert_true(asleep(0));
	assert_int_equal(searching(0), MELYINT_SEARCH_ONE);
	assert_int_equal(searching(1), MELYINT_SEARCH_ONE);
	MELY_STORE(&rt->cores[2].hint.stealable, 0, relaxed);
	end_searches();
	melyint_wake_all(rt);
}

static int
setup(void **state)
{
	cores_topology = "pack:2 l3:1 core:2 pu:1";
	return cores_setup(state);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, cores_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cores_that_share_a_cache),
	    CASE(each_domain_counts_once),
	    CASE(the_own_domain_comes_first),
	    CASE(two_searches_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
