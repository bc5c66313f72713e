/* SPDX-License-Identifier: MIT */
/*
 * fifo.c: the FIFO of the other scheduler against a model: an array of (color, head?, number).
 */
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "queue/coreq.h"

enum { COLORS = 5, MAX = 64 };

struct entry {
	int color;
	bool head;
	struct mely_event *ev;
};

static struct melyint_coreq q;
static struct mely_color colors[COLORS];
static struct entry model[MAX];
static int length;

static void
compare(void)
{
	struct mely_event *ev = q.first;
	int i;

	assert_true(melyint_fifo_validate(&q));
	assert_int_equal(q.length, length);
	for (i = 0; i < length; i++, ev = ev->_next)
		assert_ptr_equal(ev, model[i].ev);
}

static int
model_place(int color, bool head)
{
	int i, at = length;

	if (!head)
		return length;
	for (i = 0; i < length; i++) {
		if (model[i].color != color)
			continue;
		if (!model[i].head)
			return i;
		at = i + 1;
	}
	return at;
}

static void
add(int color, bool head)
{
	struct mely_event *ev = calloc(1, sizeof *ev);
	int at = model_place(color, head);

	assert_non_null(ev);
	ev->_flags = head ? MELYINT_EV_HEAD : 0;
	atomic_store(&ev->_color, &colors[color]);
	melyint_fifo_add(&q, &colors[color], ev);
	memmove(&model[at + 1], &model[at], (size_t)(length - at) * sizeof model[0]);
	model[at].color = color;
	model[at].head = head;
	model[at].ev = ev;
	length++;
}

static void
take(int at)
{
	struct entry e = model[at];

	melyint_fifo_remove(&q, &colors[e.color], e.ev);
	length--;
	memmove(&model[at], &model[at + 1], (size_t)(length - at) * sizeof model[0]);
	free(e.ev);
}

/* Collected and appended again: all of the color's events are last, in their order. */
static void
move(int color, bool full)
{
	struct entry moved[MAX];
	int i, kept = 0, n = 0;

	for (i = 0; i < length; i++) {
		if (model[i].color == color)
			moved[n++] = model[i];
		else
			model[kept++] = model[i];
	}
	melyint_fifo_collect(&q, &colors[color], full);
	length = kept;
	compare();
	assert_int_equal(melyint_fifo_count(&colors[color]), 0);
	assert_int_equal(melyint_fifo_count_away(&colors[color]), n);
	melyint_fifo_append(&q, &colors[color]);
	memcpy(&model[length], moved, (size_t)n * sizeof moved[0]);
	length += n;
}

static void
like_the_model(void **state)
{
	unsigned seed = 1;
	int i;

	(void)state;
	for (i = 0; i < 50000; i++) {
		unsigned r = (seed = seed * 1664525u + 1013904223u) >> 8;
		int color = (int)(r >> 4) % COLORS;

		if (length < MAX && (length == 0 || r % 16 < 9))
			add(color, r % 16 < 3);
		else if (r % 16 < 15)
			take(r >> 12 & 1 ? 0 : (int)(r >> 13) % length);
		else
			move(color, r >> 12 & 1);
		compare();
	}
	while (length > 0)
		take(0);
	compare();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
