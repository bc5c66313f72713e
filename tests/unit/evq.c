/* SPDX-License-Identifier: MIT */
/*
 * evq.c: lists of events. Every short sequence of operations is compared with an array; the
 * validator finds each kind of damage.
 */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "queue/evq.h"

enum { EVENTS = 5, STEPS = 6 };

static struct mely_event events[EVENTS];

struct model {
	int length;
	struct mely_event *at[EVENTS];
};

static void
compare(struct mely_event *first, const struct model *model)
{
	struct mely_event *ev = first;
	int i;

	assert_true(melyint_evq_validate(first));
	if (model->length == 0) {
		assert_null(first);
		return;
	}
	for (i = 0; i < model->length; i++) {
		assert_ptr_equal(ev, model->at[i]);
		assert_ptr_equal(ev->_next->_prev, ev);
		assert_ptr_equal(ev->_prev->_next, ev);
		ev = ev->_next;
	}
	assert_ptr_equal(ev, first);
}

static void
model_remove(struct model *model, int index)
{
	memmove(&model->at[index], &model->at[index + 1],
	    (size_t)(model->length - index - 1) * sizeof model->at[0]);
	model->length--;
}

/* An event that is not in the list, or NULL. */
static struct mely_event *
spare(const struct model *model)
{
	int i, k;

	for (i = 0; i < EVENTS; i++) {
		for (k = 0; k < model->length; k++)
			if (model->at[k] == &events[i])
				break;
		if (k == model->length)
			return &events[i];
	}
	return NULL;
}

/* One operation, chosen by a number: append, pop, or remove the nth. */
static void
step(struct mely_event **first, struct model *model, int op)
{
	struct mely_event *ev;

	if (op == 0) {
		ev = spare(model);
		if (ev == NULL)
			return;
		*first = melyint_evq_append(*first, ev);
		model->at[model->length++] = ev;
	} else if (op == 1 && model->length > 0) {
		ev = melyint_evq_pop(first);
		assert_ptr_equal(ev, model->at[0]);
		model_remove(model, 0);
	} else if (op >= 2 && op - 2 < model->length) {
		*first = melyint_evq_remove(*first, model->at[op - 2]);
		model_remove(model, op - 2);
	}
	compare(*first, model);
}

static void
all_sequences(void **state)
{
	enum { OPS = 2 + EVENTS };
	long total = 1, sequence;
	int i;

	(void)state;
	for (i = 0; i < STEPS; i++)
		total *= OPS;
	for (sequence = 0; sequence < total; sequence++) {
		struct mely_event *first = NULL;
		struct model model = {0, {NULL}};
		long rest = sequence;

		/* Start with a few events: short sequences then reach the interesting lengths. */
		for (i = 0; i < (int)(sequence % 4); i++)
			step(&first, &model, 0);
		for (i = 0; i < STEPS; i++, rest /= OPS)
			step(&first, &model, (int)(rest % OPS));
	}
}

static struct mely_event *
list_of(int from, int to, struct model *model)
{
	struct mely_event *first = NULL;
	int i;

	for (i = from; i < to; i++) {
		first = melyint_evq_append(first, &events[i]);
		model->at[model->length++] = &events[i];
	}
	return first;
}

static void
all_joins(void **state)
{
	int split, total;

	(void)state;
	for (total = 0; total <= EVENTS; total++)
		for (split = 0; split <= total; split++) {
			struct model model = {0, {NULL}};
			struct mely_event *a = list_of(0, split, &model);
			struct mely_event *b = list_of(split, total, &model);

			compare(melyint_evq_join(a, b), &model);
		}
}

static void
all_cuts(void **state)
{
	int total, at;

	(void)state;
	for (total = 2; total <= EVENTS; total++)
		for (at = 1; at < total; at++) {
			struct model all = {0, {NULL}}, front = {0, {NULL}}, back = {0, {NULL}};
			struct mely_event *first = list_of(0, total, &all), *rest;
			int i;

			for (i = 0; i < total; i++) {
				struct model *side = i < at ? &front : &back;

				side->at[side->length++] = all.at[i];
			}
			rest = melyint_evq_cut(first, all.at[at]);
			compare(first, &front);
			compare(rest, &back);
			/* Joined again, they are the whole list. */
			compare(melyint_evq_join(first, rest), &all);
		}
}

static void
validator_sees_damage(void **state)
{
	struct model model = {0, {NULL}};
	struct mely_event *first = list_of(0, EVENTS, &model);
	int i;

	(void)state;
	assert_true(melyint_evq_validate(NULL));
	for (i = 0; i < EVENTS; i++) {
		struct mely_event *next = events[i]._next, *prev = events[i]._prev;

		events[i]._next = next->_next;
		assert_false(melyint_evq_validate(first));
		events[i]._next = next;
		events[i]._prev = prev->_prev;
		assert_false(melyint_evq_validate(first));
		events[i]._prev = prev;
		assert_true(melyint_evq_validate(first));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sequences),
		cmocka_unit_test(all_joins),
		cmocka_unit_test(all_cuts),
		cmocka_unit_test(validator_sees_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
