/* SPDX-License-Identifier: MIT */
/*
 * slots.c: the ids of watchers: a slot that is used again has another generation, a slot whose
 * generations have run out is not used again, and a closed table refuses.
 */
#include <errno.h>

#include "unit.h"
#include "io/slots.h"
#include "io/watch.h"

static struct melyint_slots slots;
static struct mely_color color;

static struct melyint_watch *
take(void)
{
	struct melyint_watch *w = NULL;

	assert_int_equal(melyint_slots_take(&slots, &color, NULL, false, &w), 0);
	assert_non_null(w);
	assert_ptr_equal(MELY_LOAD(&w->guard, relaxed), &w->own);
	assert_int_equal(MELY_LOAD(&w->gen, relaxed) & 1, 1);
	return w;
}

static void
give_back(struct melyint_watch *w)
{
	melyint_slots_retire(w);
	melyint_lock_drop(&w->own);
	(void)melyint_slots_free(&slots, w);
}

static void
generations(void **state)
{
	struct melyint_watch *w;
	uint32_t slot, gen = 0;
	int i;

	(void)state;
	melyint_slots_init(&slots);
	assert_null(melyint_slots_at(&slots, 0));
	assert_int_equal(melyint_slots_used(&slots), 0);
	w = take();
	slot = w->slot;
	for (i = 0; i < 1000; i++) {
		assert_int_equal(w->slot, slot);
		assert_true(MELY_LOAD(&w->gen, relaxed) > gen);
		gen = MELY_LOAD(&w->gen, relaxed);
		give_back(w);
		w = take();
	}
	give_back(w);
	assert_int_equal(melyint_slots_used(&slots), 1);
	melyint_slots_fini(&slots);
}

static void
many_at_once(void **state)
{
	enum { MANY = 1000 };
	static struct melyint_watch *held[MANY];
	int i, round;

	(void)state;
	melyint_slots_init(&slots);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < MANY; i++) {
			held[i] = take();
			melyint_lock_drop(&held[i]->own);
		}
		assert_int_equal(melyint_slots_used(&slots), MANY);
		for (i = 0; i < MANY; i++) {
			assert_ptr_equal(melyint_slots_at(&slots, held[i]->slot), held[i]);
			melyint_lock_take(&held[i]->own);
			give_back(held[i]);
		}
	}
	assert_null(melyint_slots_at(&slots, MANY));
	melyint_slots_fini(&slots);
}

/* After the last generation the slot is never used again, so that every id is unique. */
static void
generations_run_out(void **state)
{
	struct melyint_watch *w, *other;

	(void)state;
	melyint_slots_init(&slots);
	w = take();
	MELY_STORE(&w->gen, UINT32_MAX, relaxed);
	give_back(w);
	assert_int_equal(MELY_LOAD(&w->gen, relaxed), 0);
	other = take();
	assert_ptr_not_equal(other, w);
	give_back(other);
	melyint_slots_fini(&slots);
}

/* Free groups go back to the system; the slots that they had are used again with other ids. */
static void
pages_go_back(void **state)
{
	enum { GROUPS = 10, MANY = GROUPS * MELYINT_SLOT_GROUP };
	static struct melyint_watch *held[MANY];
	static uint32_t highest[GROUPS];
	const size_t group_bytes = MELYINT_SLOT_GROUP * sizeof(struct melyint_watch);
	struct melyint_watch *kept;
	size_t idle;
	int i, round;

	(void)state;
	melyint_slots_init(&slots);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < MANY; i++) {
			held[i] = take();
			assert_true(MELY_LOAD(&held[i]->gen, relaxed) >
			    highest[held[i]->slot / MELYINT_SLOT_GROUP]);
		}
		assert_int_equal(melyint_slots_used(&slots), MANY);
		for (i = 0; i < MANY; i++) {
			uint32_t *most = &highest[held[i]->slot / MELYINT_SLOT_GROUP];

			/* Some are taken more often than others. */
			if (i % 7 == 0)
				MELY_ADD(&held[i]->gen, 2 * (uint32_t)i, relaxed);
			if (MELY_LOAD(&held[i]->gen, relaxed) > *most)
				*most = MELY_LOAD(&held[i]->gen, relaxed);
			give_back(held[i]);
		}
		kept = take(); /* its group stays */
		assert_true(melyint_slots_free_bytes(&slots) >= (GROUPS - 1) * group_bytes);
		(void)melyint_slots_idle_bytes(&slots);
		idle = melyint_slots_idle_bytes(&slots);
		assert_int_equal(idle, (GROUPS - 1) * group_bytes);
		melyint_slots_detach(&slots, idle);
		assert_int_equal(melyint_slots_free_bytes(&slots), 0);
		while (melyint_slots_give_back(&slots))
			continue;
		for (i = 0; i < MANY; i++)
			assert_int_equal(MELY_LOAD(&melyint_slots_at(&slots, (uint32_t)i)->gen,
			    relaxed) == 0,
			    (uint32_t)i / MELYINT_SLOT_GROUP != kept->slot / MELYINT_SLOT_GROUP);
		highest[kept->slot / MELYINT_SLOT_GROUP] = 0; /* each slot goes on with its own */
		give_back(kept);
	}
	melyint_slots_fini(&slots);
}

/* What was free for a moment only is not idle. */
static void
busy_pages_stay(void **state)
{
	enum { MANY = 4 * MELYINT_SLOT_GROUP };
	static struct melyint_watch *held[MANY];
	int i, round;

	(void)state;
	melyint_slots_init(&slots);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < MANY; i++)
			held[i] = take();
		for (i = 0; i < MANY; i++)
			give_back(held[i]);
		assert_true(melyint_slots_free_bytes(&slots) > 0);
		assert_int_equal(melyint_slots_idle_bytes(&slots), 0);
	}
	melyint_slots_fini(&slots);
}

static void
closing(void **state)
{
	struct melyint_watch *w = NULL;

	(void)state;
	melyint_slots_init(&slots);
	melyint_slots_close(&slots, true);
	assert_int_equal(melyint_slots_take(&slots, &color, NULL, false, &w), -ESHUTDOWN);
	assert_int_equal(melyint_slots_take(&slots, &color, NULL, true, &w), 0);
	give_back(w);
	melyint_slots_close(&slots, false);
	give_back(take());
	melyint_slots_fini(&slots);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generations),
		cmocka_unit_test(many_at_once),
		cmocka_unit_test(generations_run_out),
		cmocka_unit_test(pages_go_back),
		cmocka_unit_test(busy_pages_stay),
		cmocka_unit_test(closing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
