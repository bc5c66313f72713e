/* SPDX-License-Identifier: MIT */
/*
 * bycolor.c: the watchers of each color: a walk visits every one, also while others end; walks do
 * not disturb each other; the last watcher that leaves reports the end. Tests the table and the
 * library's calls; one thread plays all cores.
 */
#include <errno.h>

#include "unit.h"
#include "io/bycolor.h"
#include "io/slots.h"
#include "io/state.h"
#include "io/watch.h"

enum { COLORS = 300, EACH = 5 };

static struct mely_color colors[COLORS];
static struct melyint_slots slots;

/* ---- the lists ------------------------------------------------------------------------------ */

static int
length_of(struct melyint_bycolor *table, const struct mely_color *color)
{
	const struct melyint_mates *m = melyint_bycolor_first(table, color), *before = NULL;
	int n = 0;

	for (; m != NULL; m = m->next) {
		assert_ptr_equal(m->prev, before);
		assert_ptr_equal(m->color, color);
		before = m;
		n++;
	}
	return n;
}

static void
lists(void **state)
{
	static struct melyint_mates mates[COLORS][EACH];
	struct melyint_bycolor table;
	struct mely_event ended;
	int i, k;

	(void)state;
	melyint_bycolor_init(&table);
	for (k = 0; k < EACH; k++)
		for (i = 0; i < COLORS; i++)
			melyint_bycolor_add(&table, &mates[i][k], &colors[i]);
	assert_int_equal(table.lists, COLORS);
	assert_true(table.mask >= COLORS - 1);
	for (i = 0; i < COLORS; i++)
		assert_int_equal(length_of(&table, &colors[i]), EACH);
	/* The event moves from first to first. */
	melyint_bycolor_first(&table, &colors[7])->ended = &ended;
	for (k = 0; k < EACH; k++) {
		for (i = 0; i < COLORS; i++) {
			/* From the front, from the back, from the middle. */
			int which = i % 3 == 0 ? EACH - 1 - k : i % 3 == 1 ? k : (k + 2) % EACH;
			struct mely_event *ev = melyint_bycolor_remove(&table, &mates[i][which]);

			assert_ptr_equal(ev, i == 7 && k == EACH - 1 ? &ended : NULL);
			assert_int_equal(length_of(&table, &colors[i]), EACH - 1 - k);
		}
	}
	assert_int_equal(table.lists, 0);
	melyint_bycolor_fini(&table);
}

/* ---- walks ---------------------------------------------------------------------------------- */

static struct melyint_watch *
take(struct mely_color *color)
{
	struct melyint_watch *w = NULL;

	assert_int_equal(melyint_slots_take(&slots, color, NULL, false, &w), 0);
	melyint_lock_drop(&w->own);
	return w;
}

static struct mely_event *
give_back(struct melyint_watch *w)
{
	melyint_lock_take(&w->own);
	melyint_slots_retire(w);
	melyint_lock_drop(&w->own);
	return melyint_slots_free(&slots, w);
}

static struct visits {
	int count;
	bool all;                   /* end all in the first visit */
	bool this;                  /* end the one that is visited */
	bool nest;                  /* walk again in each */
	bool more;                  /* and start another */
	struct melyint_watch *held[EACH];
	struct mely_event *ended;
} visits;

static void
count_visit(void *arg, mely_watch id)
{
	assert_int_not_equal(id, 0);
	++*(int *)arg;
}

static void
visit(void *arg, mely_watch id)
{
	struct visits *v = arg;
	int i, inner = 0;

	v->count++;
	for (i = 0; i < EACH; i++) {
		struct melyint_watch *w = v->held[i];
		/* relaxed: one thread */
		bool same = w != NULL && w->slot == (uint32_t)id &&
		    MELY_LOAD(&w->gen, relaxed) == id >> 32;

		if (w != NULL && (v->all || (v->this && same))) {
			v->held[i] = NULL;
			assert_null(give_back(w));
		}
	}
	if (v->more)
		(void)take(&colors[0]);
	if (v->nest)
		assert_null(melyint_slots_each(&slots, &colors[0], count_visit, &inner));
	if (v->nest && !v->this && !v->more)
		assert_int_equal(inner, EACH);
}

static void
walk(struct visits how, int expected)
{
	struct mely_event ended;
	struct melyint_watch *refused;
	bool empties = how.all || how.this;
	int i;

	melyint_slots_init(&slots);
	visits = how;
	for (i = 0; i < EACH; i++) {
		visits.held[i] = take(&colors[0]);
		(void)take(&colors[1]);
	}
	assert_int_equal(melyint_slots_await(&slots, &colors[2], &ended), -ENOENT);
	if (!how.more) { /* a color that waits for its end accepts no more */
		assert_int_equal(melyint_slots_await(&slots, &colors[0], &ended), 0);
		assert_int_equal(melyint_slots_await(&slots, &colors[0], &ended), -EALREADY);
		assert_int_equal(melyint_slots_take(&slots, &colors[0], NULL, true, &refused),
		    -ESHUTDOWN);
	}
	assert_ptr_equal(melyint_slots_each(&slots, &colors[0], visit, &visits),
	    empties && !how.more ? &ended : NULL);
	assert_int_equal(visits.count, expected);
	assert_null(melyint_slots_each(&slots, &colors[2], visit, &visits));
	assert_int_equal(visits.count, expected);
	for (i = 0; i < EACH; i++) {
		if (visits.held[i] != NULL)
			assert_ptr_equal(give_back(visits.held[i]),
			    i == EACH - 1 && !how.more ? &ended : NULL);
	}
	melyint_slots_fini(&slots);
}

static void
walks(void **state)
{
	(void)state;
	walk((struct visits){0}, EACH);
	walk((struct visits){.nest = true}, EACH);
	walk((struct visits){.this = true}, EACH);
	walk((struct visits){.this = true, .nest = true}, EACH);
	walk((struct visits){.all = true}, 1);
	walk((struct visits){.more = true}, EACH);
	walk((struct visits){.this = true, .more = true, .nest = true}, EACH);
}

/* ---- the calls of the library --------------------------------------------------------------- */

static uint64_t ran;

static void
count(void *arg)
{
	++*(uint64_t *)arg;
}

static struct mely_handler handler = MELY_HANDLER(count);

static void
stop_all_of_a_color(void **state)
{
	struct mely_event ended = MELY_EVENT(&handler, &ran);
	struct mely_config config;
	struct mely_runtime *rt;
	struct mely_color *color = &colors[0], *other = &colors[1];
	mely_watch watch, kept;
	int i, visited = 0;

	(void)state;
	assert_int_equal(mely_config_init(&config), 0);
	config.cores = 1;
	assert_int_equal(mely_runtime_new(&rt, &config), 0);
	assert_int_equal(mely_color_init(color, rt), 0);
	assert_int_equal(mely_color_init(other, rt), 0);
	assert_int_equal(melyint_watches_await(rt->io, color, &ended), -ENOENT);
	for (i = 0; i < EACH; i++)
		assert_int_equal(mely_timer_start(color, 1000000000, 0, 0, &handler, &ran,
		    &watch), 0);
	assert_int_equal(mely_timer_start(other, 1000000000, 0, 0, &handler, &ran, &kept), 0);
	melyint_watches_of_color(rt->io, color, count_visit, &visited);
	assert_int_equal(visited, EACH);
	assert_int_equal(melyint_watches_await(rt->io, color, &ended), 0);
	melyint_watches_stop_all(rt->io, color);
	assert_true(mely_event_pending(&ended));
	melyint_watches_of_color(rt->io, color, count_visit, &visited);
	assert_int_equal(visited, EACH);
	assert_int_equal(mely_watch_stop(rt, watch, NULL, NULL), -ENOENT);
	assert_int_equal(mely_watch_stop(rt, kept, NULL, NULL), 0);
	assert_int_equal(ran, 0);
	assert_int_equal(mely_runtime_free(rt), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(walks),
		cmocka_unit_test(stop_all_of_a_color),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
