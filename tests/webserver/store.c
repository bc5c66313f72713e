/* SPDX-License-Identifier: MIT */
/*
 * store.c: the store of pages: look-up, replacement, the second chance at the cap, and the
 * account of bytes.
 */
#include <pthread.h>
#include <stdio.h>

#include "pages.h"
#define calloc failing_calloc
#include "../../webserver/site/store.c"
#undef calloc

#define ROOM 1000

/* All that must hold of a store between two calls. */
static void
validate(struct sws_store *store)
{
	struct sws_page *page = store->hand;
	size_t pages = 0, bytes = 0, in_buckets = 0;

	if (page != NULL)
		do {
			assert_ptr_equal(page->newer->older, page);
			assert_ptr_equal(page->older->newer, page);
			assert_ptr_equal(*find(store, page->site, page->hash, page->key,
			    page->key_len), page);
			assert_false(atomic_load(&page->dead));
			assert_ptr_equal(page->account, &store->bytes);
			assert_true(test_refs(page) >= 1);
			bytes += page->size;
			pages++;
			page = page->newer;
		} while (page != store->hand);
	for (size_t i = 0; i <= store->buckets_mask; i++)
		for (page = store->buckets[i]; page != NULL; page = page->next)
			in_buckets++;
	assert_int_equal(pages, store->pages);
	assert_int_equal(in_buckets, store->pages);
	assert_true(bytes <= atomic_load(&store->bytes));
	assert_true(atomic_load(&store->bytes) <= store->cap);
}

static bool
put(struct sws_store *store, struct sws_page *page)
{
	bool crowded, in = sws_store_put(store, page, &crowded);

	validate(store);
	return in;
}

/* Put a new page in and keep no reference to it. */
static struct sws_page *
put_new(struct sws_store *store, const char *key, uint64_t hash, size_t room)
{
	struct sws_page *page = test_page(key, hash, room);

	assert_true(put(store, page));
	sws_page_unref(page);
	return page;
}

static struct sws_page *
get(struct sws_store *store, const char *key, uint64_t hash)
{
	return sws_store_get(store, SITE, hash, key, strlen(key));
}

static bool
holds(struct sws_store *store, const char *key, uint64_t hash)
{
	struct sws_page *page = get(store, key, hash);

	if (page != NULL)
		sws_page_unref(page);
	return page != NULL;
}

/* Room for exactly n pages with a path of two bytes and ROOM. */
static size_t
cap_of(size_t n)
{
	return n * (sizeof(struct sws_page) + 3 + ROOM);
}

static void
buckets(void **state)
{
	static const struct { size_t cap, buckets; } sizes[] = {
		{0, 1024}, {1, 1024}, {(size_t)4096 * 1024, 1024}, {(size_t)4096 * 1025, 2048},
		{(size_t)4096 * 4096, 4096}, {SIZE_MAX / 2, (size_t)1 << 20},
	};
	struct sws_store store;

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		assert_int_equal(sws_store_init(&store, sizes[i].cap), 0);
		assert_int_equal(store.buckets_mask + 1, sizes[i].buckets);
		sws_store_fini(&store);
	}
	allocations_left = 0;
	assert_int_equal(sws_store_init(&store, ROOM), -ENOMEM);
	assert_int_equal(allocations_left, NEVER);
}

static void
look_up(void **state)
{
	struct sws_store store;
	struct sws_page *a, *page;

	(void)state;
	assert_int_equal(sws_store_init(&store, cap_of(10)), 0);
	assert_null(get(&store, "/a", 1));
	a = test_page("/a", 1, ROOM);
	assert_true(put(&store, a));
	assert_int_equal(test_refs(a), 2);
	/* The same hash, the same bucket, and the beginning of a path are other paths. */
	put_new(&store, "/b", 1, ROOM);
	put_new(&store, "/c", 1 + 1024, ROOM);
	assert_null(get(&store, "/a", 1 + 1024));
	assert_null(get(&store, "/", 1));
	assert_null(get(&store, "/aa", 1));
	page = get(&store, "/a", 1);
	assert_ptr_equal(page, a);
	assert_int_equal(test_refs(a), 3);
	sws_page_unref(page);
	assert_true(holds(&store, "/b", 1));
	assert_true(holds(&store, "/c", 1 + 1024));
	assert_int_equal(store.pages, 3);
	sws_page_unref(a);
	sws_store_fini(&store);
}

/* The pages of two sites have the same paths; one of the sites ends. */
static void
sites(void **state)
{
	struct sws_page *mine = test_page("/a", 1, ROOM), *other = test_page("/a", 1, ROOM);
	struct sws_store store;
	bool crowded;

	(void)state;
	other->site = SITE + 1;
	assert_int_equal(sws_store_init(&store, cap_of(2)), 0);
	assert_true(sws_store_put(&store, mine, &crowded));
	assert_true(sws_store_put(&store, other, &crowded));
	assert_int_equal(store.pages, 2);
	validate(&store);
	sws_store_remove_site(&store, SITE);
	assert_true(atomic_load(&mine->dead));
	assert_false(atomic_load(&other->dead));
	assert_false(holds(&store, "/a", 1));
	assert_int_equal(store.pages, 1);
	validate(&store);
	sws_page_unref(mine);
	sws_page_unref(other);
	sws_store_fini(&store);
}

static void
replacement(void **state)
{
	struct sws_store store;
	struct sws_page *old = test_page("/a", 1, ROOM), *new = test_page("/a", 1, ROOM), *page;

	(void)state;
	assert_int_equal(sws_store_init(&store, cap_of(10)), 0);
	assert_true(put(&store, old));
	assert_true(put(&store, new));
	assert_true(atomic_load(&old->dead));
	assert_int_equal(test_refs(old), 1);
	assert_int_equal(store.pages, 1);
	/* The old page counts until its last reference ends. */
	assert_int_equal(atomic_load(&store.bytes), old->size + new->size);
	page = get(&store, "/a", 1);
	assert_ptr_equal(page, new);
	sws_page_unref(page);
	/* A late removal of the old page leaves the new one alone. */
	sws_store_remove(&store, old);
	validate(&store);
	assert_true(holds(&store, "/a", 1));
	sws_page_unref(old);
	assert_int_equal(atomic_load(&store.bytes), new->size);

	sws_store_remove(&store, new);
	validate(&store);
	assert_true(atomic_load(&new->dead));
	assert_false(holds(&store, "/a", 1));
	sws_store_remove(&store, new);
	assert_int_equal(test_refs(new), 1);
	sws_page_unref(new);
	assert_int_equal(atomic_load(&store.bytes), 0);
	sws_store_fini(&store);
}

static void
too_large(void **state)
{
	struct sws_store store;
	struct sws_page *fits = test_page("/a", 1, ROOM), *large = test_page("/b", 2, ROOM + 1);
	bool crowded = true;

	(void)state;
	assert_int_equal(sws_store_init(&store, cap_of(1)), 0);
	assert_true(put(&store, fits));
	/* What can never fit evicts nothing, and no sweep would help it. */
	assert_false(sws_store_put(&store, large, &crowded));
	assert_false(crowded);
	assert_int_equal(test_refs(large), 1);
	assert_null(large->account);
	assert_true(holds(&store, "/a", 1));
	sws_page_unref(large);
	sws_page_unref(fits);
	sws_store_fini(&store);
}

static void
referenced_pages_count(void **state)
{
	struct sws_store store;
	struct sws_page *held = test_page("/a", 1, ROOM), *next = test_page("/b", 2, ROOM);
	bool crowded = false;

	(void)state;
	assert_int_equal(sws_store_init(&store, cap_of(1)), 0);
	assert_true(put(&store, held));
	/* It leaves the store, but its bytes stay in use: the caller is asked to sweep. */
	assert_false(sws_store_put(&store, next, &crowded));
	assert_true(crowded);
	validate(&store);
	assert_true(atomic_load(&held->dead));
	assert_int_equal(atomic_load(&store.bytes), held->size);
	assert_int_equal(test_refs(next), 1);
	sws_page_unref(held);
	assert_int_equal(atomic_load(&store.bytes), 0);
	assert_true(sws_store_put(&store, next, &crowded));
	assert_false(crowded);
	sws_page_unref(next);
	sws_store_fini(&store);
}

/* Pages that an index still refers to: one put evicts what it needs, not one page after another. */
static void
put_evicts_what_it_needs(void **state)
{
	struct sws_store store;
	struct sws_page *held[8], *page = test_page("/y", 99, ROOM);
	char key[3] = "/x";
	bool crowded = false;

	(void)state;
	assert_int_equal(sws_store_init(&store, cap_of(8)), 0);
	for (uint64_t i = 0; i < 8; i++) {
		held[i] = test_page(key, i, ROOM);
		assert_true(put(&store, held[i]));
	}
	for (size_t i = 1; i <= 3; i++) {
		assert_false(sws_store_put(&store, page, &crowded));
		assert_true(crowded);
		validate(&store);
		assert_int_equal(store.pages, 8 - i);
	}
	/* The sweep: what was evicted is freed, and there is room. */
	for (size_t i = 0; i < 3; i++)
		sws_page_unref(held[i]);
	assert_true(put(&store, page));
	assert_int_equal(store.pages, 6);
	for (size_t i = 3; i < 8; i++)
		sws_page_unref(held[i]);
	sws_page_unref(page);
	sws_store_fini(&store);
}

static void
second_chance(void **state)
{
	struct sws_store store;
	struct sws_page *a;

	(void)state;
	assert_int_equal(sws_store_init(&store, cap_of(3)), 0);
	a = put_new(&store, "/a", 1, ROOM);
	put_new(&store, "/b", 2, ROOM);
	put_new(&store, "/c", 3, ROOM);
	/* The hand spares what was used since it last came by, once. */
	atomic_store(&a->used, true);
	put_new(&store, "/d", 4, ROOM);
	assert_true(holds(&store, "/a", 1));
	assert_false(atomic_load(&a->used));
	assert_false(holds(&store, "/b", 2));
	put_new(&store, "/e", 5, ROOM);
	assert_false(holds(&store, "/c", 3));
	put_new(&store, "/f", 6, ROOM);
	assert_false(holds(&store, "/a", 1));
	/* A large page pushes out as many as it needs. */
	put_new(&store, "/g", 7, ROOM + cap_of(2));
	assert_int_equal(store.pages, 1);
	sws_store_fini(&store);
}

/* A put takes a bounded number of steps, even when all pages were used. */
static void
bounded_put(void **state)
{
	struct sws_store store;
	struct sws_page *page;
	bool crowded = false;
	char key[3] = "/x";

	(void)state;
	assert_int_equal(sws_store_init(&store, cap_of(HAND_STEPS_MAX)), 0);
	for (uint64_t i = 0; i < HAND_STEPS_MAX; i++) {
		page = put_new(&store, key, i, ROOM);
		atomic_store(&page->used, true);
	}
	page = test_page("/y", HAND_STEPS_MAX, ROOM);
	assert_false(sws_store_put(&store, page, &crowded));
	assert_true(crowded);
	validate(&store);
	assert_int_equal(store.pages, HAND_STEPS_MAX);
	/* The hand has been round: the next one succeeds. */
	assert_true(put(&store, page));
	assert_int_equal(store.pages, HAND_STEPS_MAX);
	sws_page_unref(page);
	sws_store_fini(&store);
}

/* ---- any order of calls -------------------------------------------------------------------- */

#define PATHS 40

static uint32_t
dice(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

/* Random calls; pages that are got are held for a while. */
static void
play(struct sws_store *store, uint64_t seed, int calls, bool alone)
{
	struct sws_page *held[8] = {NULL};

	for (int i = 0; i < calls; i++) {
		uint64_t hash = dice(&seed) % PATHS;
		struct sws_page **slot = &held[dice(&seed) % 8], *page;
		char key[8];
		bool crowded;

		snprintf(key, sizeof key, "/%d", (int)hash);
		if (*slot != NULL) {
			if (dice(&seed) % 2 == 0)
				sws_store_remove(store, *slot);
			sws_page_unref(*slot);
			*slot = NULL;
		} else if (dice(&seed) % 2 == 0) {
			*slot = get(store, key, hash % 4);
			if (*slot != NULL) {
				assert_string_equal((*slot)->key, key);
				atomic_store_explicit(&(*slot)->used, true, memory_order_relaxed);
			}
		} else {
			page = test_page(key, hash % 4, dice(&seed) % (2 * ROOM));
			(void)sws_store_put(store, page, &crowded);
			sws_page_unref(page);
		}
		if (alone)
			validate(store);
	}
	for (int i = 0; i < 8; i++)
		if (held[i] != NULL)
			sws_page_unref(held[i]);
}

static void
random_calls(void **state)
{
	struct sws_store store;

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		assert_int_equal(sws_store_init(&store, cap_of(20)), 0);
		play(&store, seed, 4000, true);
		validate(&store);
		sws_store_fini(&store);
		assert_int_equal(atomic_load(&store.bytes), 0);
	}
}

static void *
play_thread(void *arg)
{
	play(arg, (uintptr_t)&arg, 4000, false);
	return NULL;
}

static void
threads(void **state)
{
	struct sws_store store;
	pthread_t other[3];

	(void)state;
	assert_int_equal(sws_store_init(&store, cap_of(20)), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&other[i], NULL, play_thread, &store), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(other[i], NULL);
	validate(&store);
	sws_store_fini(&store);
	assert_int_equal(atomic_load(&store.bytes), 0);
}

/* An addition finds the place taken, and leaves it as it is. */
static void
add_only(void **state)
{
	struct sws_store store;
	struct sws_page *first = test_page("/a", 1, 0), *second = test_page("/a", 1, 0);

	(void)state;
	assert_int_equal(sws_store_init(&store, 1 << 20), 0);
	assert_true(sws_store_add(&store, first));
	assert_false(sws_store_add(&store, second));
	assert_false(atomic_load(&first->dead));
	assert_null(second->account);
	assert_int_equal(store.pages, 1);
	assert_int_equal(test_refs(first), 2);
	sws_store_remove(&store, first);
	assert_true(sws_store_add(&store, second));
	sws_page_unref(first);
	sws_page_unref(second);
	sws_store_fini(&store);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(add_only),
		cmocka_unit_test(buckets),
		cmocka_unit_test(look_up),
		cmocka_unit_test(sites),
		cmocka_unit_test(replacement),
		cmocka_unit_test(too_large),
		cmocka_unit_test(referenced_pages_count),
		cmocka_unit_test(put_evicts_what_it_needs),
		cmocka_unit_test(second_chance),
		cmocka_unit_test(bounded_put),
		cmocka_unit_test(random_calls),
		cmocka_unit_test(threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
