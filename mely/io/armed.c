/* SPDX-License-Identifier: MIT */
/*
 * armed.c: a leftist heap, linked through the timers' own records: a timer that exists has all the
 * memory that arming it needs.
 *
 * The rank of a timer is the number of timers on the way to the nearest free place below it. The
 * left side never has the lower rank, so the way down the right side is the short one: at most
 * log2(n + 1) timers. Only that way is walked down. It is not walked for a timer that is due after
 * the one that was armed last, if that has none below it: timeouts of one length, the most frequent
 * timers, form a list on the left.
 */
#include "io/armed.h"

#include "base/assert.h"

static uint32_t
rank_of(const struct melyint_watch *w)
{
	return w != NULL ? w->u.timer.rank : 0;
}

/* It is in order with its neighbors. */
static void
assert_in_place(const struct melyint_watch *w)
{
	const struct melyint_watch_timer *t = &w->u.timer;

	MELY_DEBUG_ASSERT(t->rank == rank_of(t->right) + 1 && t->rank <= rank_of(t->left) + 1);
	MELY_DEBUG_ASSERT(t->left == NULL || (t->left->u.timer.up == w &&
	    t->left->u.timer.armed_ns >= t->armed_ns));
	MELY_DEBUG_ASSERT(t->right == NULL || (t->right->u.timer.up == w &&
	    t->right->u.timer.armed_ns >= t->armed_ns));
}

/* After a change below: the side with the lower rank is the right one. */
static void
settle(struct melyint_watch *w)
{
	struct melyint_watch_timer *t = &w->u.timer;

	if (rank_of(t->left) < rank_of(t->right)) {
		struct melyint_watch *left = t->left;

		t->left = t->right;
		t->right = left;
	}
	t->rank = rank_of(t->right) + 1;
	assert_in_place(w);
}

/* After a change below w, up to where nothing changes. */
static void
settle_up(struct melyint_watch *w)
{
	uint32_t rank;

	for (; w != NULL; w = w->u.timer.up) {
		rank = w->u.timer.rank;
		settle(w);
		if (w->u.timer.rank == rank)
			break;
	}
}

/* One heap of two, either of which may be empty. */
static struct melyint_watch *
merge(struct melyint_watch *a, struct melyint_watch *b)
{
	struct melyint_watch *first = NULL, **link = &first, *up = NULL, *rest;

	while (a != NULL && b != NULL) {
		if (b->u.timer.armed_ns < a->u.timer.armed_ns) {
			struct melyint_watch *later = a;

			a = b;
			b = later;
		}
		*link = a;
		a->u.timer.up = up;
		up = a;
		link = &a->u.timer.right;
		a = *link;
	}
	rest = a != NULL ? a : b;
	*link = rest;
	if (rest != NULL)
		rest->u.timer.up = up;
	for (; up != NULL; up = up->u.timer.up)
		settle(up);
	return first;
}

void
melyint_armed_add(struct melyint_poller *p, struct melyint_watch *w)
{
	struct melyint_watch_timer *t = &w->u.timer;
	struct melyint_watch *up = p->newest, **link = &p->first;

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold) && melyint_watch_guarded(w));
	MELY_DEBUG_ASSERT(t->left == NULL && t->right == NULL && t->up == NULL && t->rank == 0);
	p->armed++;
	p->newest = w;
	t->rank = 1;
	if (up != NULL && up->u.timer.left == NULL && up->u.timer.armed_ns <= t->armed_ns) {
		up->u.timer.left = w;
		t->up = up;
		assert_in_place(up);
		return;
	}
	up = NULL;
	while (*link != NULL && (*link)->u.timer.armed_ns <= t->armed_ns) {
		up = *link;
		link = &up->u.timer.right;
	}
	t->left = *link;
	t->up = up;
	if (t->left != NULL)
		t->left->u.timer.up = w;
	*link = w;
	settle_up(up);
}

void
melyint_armed_remove(struct melyint_poller *p, struct melyint_watch *w)
{
	struct melyint_watch_timer *t = &w->u.timer;
	struct melyint_watch *up = t->up, *rest = merge(t->left, t->right);

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold) && t->rank > 0);
	MELY_ASSERT(p->armed > 0 && (up != NULL || p->first == w));
	if (rest != NULL)
		rest->u.timer.up = up;
	if (up == NULL)
		p->first = rest;
	else if (up->u.timer.left == w)
		up->u.timer.left = rest;
	else
		up->u.timer.right = rest;
	settle_up(up);
	if (p->newest == w)
		p->newest = NULL;
	t->left = t->right = t->up = NULL;
	t->rank = 0;
	p->armed--;
}
