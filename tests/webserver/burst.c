/* SPDX-License-Identifier: MIT */
/*
 * burst.c: bursts: the spare ones of a core and their limit, a fresh state each time, and what
 * answers hold until they are sent or given up.
 */
#include <fcntl.h>
#include <unistd.h>

#include "pages.h"
#define malloc failing_malloc
#include "../../webserver/burst.c"
#undef malloc

#define HERE 3
#define ELSEWHERE 4

static void
free_spares(struct sws_core *core)
{
	while (core->bursts != NULL) {
		struct sws_burst *burst = core->bursts;

		core->bursts = burst->next;
		free(burst);
	}
}

static void
fresh_state(void **state)
{
	static struct sws_core core;
	struct sws_burst *burst = sws_burst_get(&core), *again;

	(void)state;
	assert_non_null(burst);
	/* The scanners read up to HTTP_PAD bytes behind the input, whatever these hold. */
	for (size_t i = 0; i < sizeof burst->in; i++)
		assert_int_equal(burst->in[i], 0);
	burst->in_len = burst->in_at = 7;
	burst->count = burst->checked = burst->out = 5;
	burst->stalled = true;
	burst->bad = 400;
	burst->out_at = 9;
	sws_burst_put(&core, burst);
	assert_int_equal(core.bursts_count, 1);
	again = sws_burst_get(&core);
	assert_ptr_equal(again, burst);
	assert_int_equal(core.bursts_count, 0);
	assert_int_equal(burst->in_len, 0);
	assert_int_equal(burst->in_at, 0);
	assert_int_equal(burst->count, 0);
	assert_int_equal(burst->checked, 0);
	assert_int_equal(burst->out, 0);
	assert_false(burst->stalled);
	assert_int_equal(burst->bad, 0);
	assert_int_equal(burst->out_at, 0);
	free(burst);
}

static void
spares(void **state)
{
	static struct sws_core core;
	struct sws_burst *bursts[SPARE_MAX + 1];

	(void)state;
	for (int i = 0; i <= SPARE_MAX; i++) {
		bursts[i] = sws_burst_get(&core);
		assert_non_null(bursts[i]);
	}
	/* The one above the limit is freed; a sanitizer or valgrind sees to that. */
	for (int i = 0; i <= SPARE_MAX; i++)
		sws_burst_put(&core, bursts[i]);
	assert_int_equal(core.bursts_count, SPARE_MAX);
	/* The last one put is the warmest, and the first one out. */
	for (int i = SPARE_MAX - 1; i >= 0; i--)
		assert_ptr_equal(sws_burst_get(&core), bursts[i]);
	assert_int_equal(core.bursts_count, 0);
	assert_null(core.bursts);
	for (int i = 0; i < SPARE_MAX; i++)
		sws_burst_put(&core, bursts[i]);
	free_spares(&core);
}

static void
no_memory(void **state)
{
	static struct sws_core core;

	(void)state;
	allocations_left = 0;
	assert_null(sws_burst_get(&core));
	assert_int_equal(allocations_left, NEVER);
	assert_int_equal(core.bursts_count, 0);
}

static int
open_file(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static bool
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* An answer holds its page directly, or by way of an entry; and possibly a descriptor. */
static void
release(void **state)
{
	struct sws_page *page = test_page("/a", 1, 0);
	struct sws_index index;
	struct sws_answer a = {.page = page, .fd = -1};
	int fd = open_file();

	(void)state;
	assert_int_equal(sws_index_init(&index, HERE), 0);
	sws_page_ref(page);
	sws_answer_release(&a, HERE);
	assert_int_equal(test_refs(page), 1);

	sws_page_ref(page);
	a = (struct sws_answer){.page = page, .fd = fd};
	sws_answer_release(&a, HERE);
	assert_int_equal(test_refs(page), 1);
	assert_false(is_open(fd));

	for (int core = HERE; core <= ELSEWHERE; core++) {
		a = (struct sws_answer){
			.page = page, .entry = sws_index_insert(&index, page), .fd = -1
		};
		assert_non_null(a.entry);
		sws_entry_ref(a.entry);
		sws_answer_release(&a, core);
		/* The entry keeps its reference to the page; the answer's has ended. */
		assert_int_equal(test_refs(page), 2);
		assert_int_equal(a.entry->home_refs, core == HERE ? 0 : 1);
		assert_int_equal(atomic_load(&a.entry->away_drops), core == HERE ? 0 : 1);
	}
	sws_index_fini(&index);
	assert_int_equal(test_refs(page), 1);
	sws_page_unref(page);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fresh_state),
		cmocka_unit_test(spares),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
