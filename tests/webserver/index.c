/* SPDX-License-Identifier: MIT */
/*
 * index.c: the index of one core: look-up, replacement, the references of answers under way, the
 * limit, and the sweep of dead pages.
 */
#include <stdio.h>

#include "pages.h"
#define malloc failing_malloc
#define calloc failing_calloc
#include "../../webserver/site/index.c"
#undef malloc
#undef calloc

#define HERE 3
#define ELSEWHERE 4

static size_t
busy(const struct sws_index *index)
{
	size_t n = 0;

	for (struct sws_entry *e = index->busy; e != NULL; e = e->next)
		n++;
	return n;
}

/* All that must hold of an index between two calls. */
static void
validate(struct sws_index *index)
{
	size_t n = 0;

	for (size_t i = 0; i < SWS_INDEX_BUCKETS; i++)
		for (struct sws_entry *e = index->buckets[i]; e != NULL; e = e->next) {
			assert_int_equal(e->hash & (SWS_INDEX_BUCKETS - 1), i);
			assert_int_equal(e->hash, e->page->hash);
			assert_int_equal(e->core, index->core);
			assert_true(test_refs(e->page) >= 1);
			n++;
		}
	assert_int_equal(n, index->entries);
	assert_true(n <= SWS_INDEX_MAX);
	assert_true(index->hand < SWS_INDEX_BUCKETS);
}

static struct sws_entry *
find(struct sws_index *index, const char *key, uint64_t hash)
{
	return sws_index_find(index, SITE, hash, key, strlen(key));
}

/* Enter a page that nothing but the index refers to. */
static struct sws_entry *
insert_new(struct sws_index *index, const char *key, uint64_t hash)
{
	struct sws_page *page = test_page(key, hash, 0);
	struct sws_entry *e = sws_index_insert(index, page);

	assert_non_null(e);
	sws_page_unref(page);
	return e;
}

static void
look_up(void **state)
{
	struct sws_index index;
	struct sws_page *page = test_page("/a", 1, 0);
	struct sws_entry *e;

	(void)state;
	assert_int_equal(sws_index_init(&index, HERE), 0);
	assert_null(find(&index, "/a", 1));
	e = sws_index_insert(&index, page);
	assert_non_null(e);
	assert_int_equal(test_refs(page), 2);
	assert_ptr_equal(e->page, page);
	assert_true(is_idle(e));
	/* The same hash, the same bucket, and the beginning of a path are other paths. */
	insert_new(&index, "/b", 1);
	insert_new(&index, "/c", 1 + SWS_INDEX_BUCKETS);
	assert_ptr_equal(find(&index, "/a", 1), e);
	assert_null(find(&index, "/a", 1 + SWS_INDEX_BUCKETS));
	assert_null(find(&index, "/", 1));
	assert_null(find(&index, "/aa", 1));
	assert_int_equal(index.entries, 3);
	validate(&index);
	sws_index_drop(&index, e);
	assert_int_equal(test_refs(page), 1);
	assert_null(find(&index, "/a", 1));
	assert_non_null(find(&index, "/b", 1));
	validate(&index);
	sws_index_fini(&index);
	sws_page_unref(page);
}

static void
replacement(void **state)
{
	struct sws_index index;
	struct sws_page *old = test_page("/a", 1, 0), *new = test_page("/a", 1, 0);
	struct sws_entry *e;

	(void)state;
	assert_int_equal(sws_index_init(&index, HERE), 0);
	assert_non_null(sws_index_insert(&index, old));
	e = sws_index_insert(&index, new);
	assert_ptr_equal(find(&index, "/a", 1), e);
	assert_ptr_equal(e->page, new);
	assert_int_equal(index.entries, 1);
	assert_int_equal(test_refs(old), 1);
	assert_int_equal(test_refs(new), 2);
	validate(&index);
	sws_index_fini(&index);
	assert_int_equal(test_refs(new), 1);
	sws_page_unref(old);
	sws_page_unref(new);
}

/* An entry that an answer under way refers to outlives its place in the table. */
static void
answers_under_way(void **state)
{
	struct sws_index index;
	struct sws_page *page = test_page("/a", 1, 0);
	struct sws_entry *e;

	(void)state;
	for (int core = HERE; core <= ELSEWHERE; core++) {
		assert_int_equal(sws_index_init(&index, HERE), 0);
		e = sws_index_insert(&index, page);
		sws_entry_ref(e);
		sws_entry_ref(e);
		assert_false(is_idle(e));
		sws_index_drop(&index, e);
		assert_int_equal(index.entries, 0);
		assert_null(find(&index, "/a", 1));
		assert_int_equal(busy(&index), 1);
		sws_index_sweep(&index);
		assert_int_equal(busy(&index), 1);
		/* One answer ends here, the other on a core that stole the connection. */
		sws_entry_unref(e, HERE);
		sws_index_sweep(&index);
		assert_int_equal(busy(&index), 1);
		assert_int_equal(test_refs(page), 2);
		sws_entry_unref(e, core);
		assert_true(is_idle(e));
		/* An insertion looks through the busy entries as well. */
		insert_new(&index, "/b", 2);
		assert_int_equal(busy(&index), 0);
		assert_int_equal(test_refs(page), 1);
		validate(&index);
		sws_index_fini(&index);
	}
	sws_page_unref(page);
}

static void
references_balance(void **state)
{
	struct sws_index index;
	struct sws_entry *e;

	(void)state;
	assert_int_equal(sws_index_init(&index, HERE), 0);
	e = insert_new(&index, "/a", 1);
	/* The two words meet also when both have wrapped around. */
	e->home_refs = UINT32_MAX;
	atomic_store(&e->away_drops, UINT32_MAX);
	assert_true(is_idle(e));
	sws_entry_ref(e);
	assert_int_equal(e->home_refs, 0);
	assert_false(is_idle(e));
	sws_entry_unref(e, ELSEWHERE);
	assert_int_equal(atomic_load(&e->away_drops), 0);
	assert_true(is_idle(e));
	sws_index_fini(&index);
}

static void
sweep(void **state)
{
	struct sws_index index;
	struct sws_entry *used;
	char key[16];

	(void)state;
	assert_int_equal(sws_index_init(&index, HERE), 0);
	for (uint64_t i = 0; i < 100; i++) {
		snprintf(key, sizeof key, "/%d", (int)i);
		/* Ten to a bucket; each third page dies. */
		if (i % 3 == 0)
			atomic_store(&insert_new(&index, key, i / 10)->page->dead, true);
		else
			insert_new(&index, key, i / 10);
	}
	used = find(&index, "/33", 3);
	sws_entry_ref(used);
	sws_index_sweep(&index);
	validate(&index);
	assert_int_equal(index.entries, 66);
	assert_int_equal(busy(&index), 1);
	assert_null(find(&index, "/33", 3));
	assert_non_null(find(&index, "/34", 3));
	sws_entry_unref(used, ELSEWHERE);
	sws_index_sweep(&index);
	assert_int_equal(busy(&index), 0);
	assert_int_equal(index.entries, 66);
	sws_index_fini(&index);
}

static void
limit(void **state)
{
	struct sws_index index;
	char key[16];

	(void)state;
	assert_int_equal(sws_index_init(&index, HERE), 0);
	for (uint64_t i = 0; i < SWS_INDEX_MAX; i++) {
		snprintf(key, sizeof key, "/%d", (int)i);
		insert_new(&index, key, i);
	}
	validate(&index);
	assert_int_equal(index.entries, SWS_INDEX_MAX);
	/* A path that is known takes its own place; a new one evicts an entry of the bucket whose
	 * turn it is. */
	insert_new(&index, "/7", 7);
	assert_int_equal(index.entries, SWS_INDEX_MAX);
	assert_int_equal(index.hand, 0);
	insert_new(&index, "/new", 1);
	assert_int_equal(index.entries, SWS_INDEX_MAX);
	assert_int_equal(index.hand, 1);
	assert_non_null(find(&index, "/new", 1));
	snprintf(key, sizeof key, "/%d", SWS_INDEX_BUCKETS);
	assert_int_equal((find(&index, "/0", 0) != NULL)
	    + (find(&index, key, SWS_INDEX_BUCKETS) != NULL), 1);
	/* The hand comes round. */
	index.hand = SWS_INDEX_BUCKETS - 1;
	insert_new(&index, "/newer", 2);
	assert_int_equal(index.hand, 0);
	validate(&index);
	sws_index_fini(&index);
}

static void
no_memory(void **state)
{
	struct sws_index index;
	struct sws_page *page = test_page("/a", 1, 0);

	(void)state;
	allocations_left = 0;
	assert_int_equal(sws_index_init(&index, HERE), -ENOMEM);
	sws_index_fini(&index);
	assert_int_equal(sws_index_init(&index, HERE), 0);
	allocations_left = 0;
	assert_null(sws_index_insert(&index, page));
	assert_int_equal(allocations_left, NEVER);
	assert_int_equal(test_refs(page), 1);
	assert_int_equal(index.entries, 0);
	assert_null(find(&index, "/a", 1));
	validate(&index);
	sws_index_fini(&index);
	sws_page_unref(page);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(look_up),
		cmocka_unit_test(replacement),
		cmocka_unit_test(answers_under_way),
		cmocka_unit_test(references_balance),
		cmocka_unit_test(sweep),
		cmocka_unit_test(limit),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
