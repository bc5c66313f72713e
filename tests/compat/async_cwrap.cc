/* SPDX-License-Identifier: MIT */
/*
 * async_cwrap.cc: the annotations of callbacks of dialect "async" that the runtime reads: color,
 * priority, time left, and the address of the function. Section 1.2 of the facts, with
 * async_callback.cc.
 */
#include "callback.h"

#undef NULL
#define NULL 0

#include "bound.h"
#include "facts.h"

struct subject {
	virtual ~subject() {}
	void put(int a) { seen[0] = a; }
	virtual int which(int a) { return a; }
};

struct other_subject : subject {
	int which(int a) { return -a; }
};

/* The number of arguments of f decides which argument is the color. */
static void
colored_arity()
{
	cbv all = cwrap(see, 1, 2, 3, 4, 5, 6);
	callback<int, int, int>::ref two = cwrap(sum, 1, 9);
	cbi left_out = cwrap(see_one, 1);
	callback<int, int, int, int>::ref none = cpwrap(sum, 3, 4);
	cbi timeleft = wrap_timeleft(see_one, 5);

	all();
	FACT_EQ(seen[4], 5);
	FACT_EQ(all->getcolor(), 6);
	FACT_EQ(two(10, 100), 111);
	FACT_EQ(two->getcolor(), 9);
	/* The color is left out: the argument becomes the color, and the type shows that. */
	FACT_EQ(left_out->getcolor(), 1);
	left_out(77);
	FACT_EQ(seen[0], 77);
	FACT_EQ(none->getcolor(), 3);
	FACT_EQ(none->getprio(), 4);
	FACT_EQ(timeleft->get_timeleft(), 5);
	FACTS_END();
}

/* ---- annotations ---- */

static void
check_notes(cbv cb, int color, int prio, int timeleft)
{
	cbv shared = cb;

	FACT_EQ(cb->getcolor(), color);
	FACT_EQ(cb->getprio(), prio);
	FACT_EQ(cb->get_timeleft(), timeleft);
	/* They belong to the object: a copy of the handle shares them. */
	FACT_EQ(shared->getcolor(), color);
}

static void
annotations()
{
	ref<subject> counted = New refcounted<subject>;
	ptr<subject> p = counted;
	subject s;

	check_notes(wrap(see_one, 1), 0, 0, 0);
	check_notes(cwrap(see_one, 1, 7), 7, 0, 0);
	check_notes(cpwrap(see_one, 1, 7, 8), 7, 8, 0);
	check_notes(wrap_timeleft(see_one, 1, 9), 0, 0, 9);
	check_notes(cwrap_timeleft(see_one, 1, 7, 9), 7, 0, 9);
	check_notes(cpwrap_timeleft(see_one, 1, 7, 8, 9), 7, 8, 9);
	check_notes(wrap(&s, &subject::put, 1), 0, 0, 0);
	check_notes(cwrap(&s, &subject::put, 1, -2), -2, 0, 0);
	check_notes(cpwrap(counted, &subject::put, 1, 7, -8), 7, -8, 0);
	check_notes(wrap_timeleft(p, &subject::put, 1, 9), 0, 0, 9);
	check_notes(cwrap_timeleft(&s, &subject::put, 1, 7, 9), 7, 0, 9);
	check_notes(cpwrap_timeleft(counted, &subject::put, 1, 7, 8, 9), 7, 8, 9);
	/* Stored as given; the runtime reduces it. */
	check_notes(cwrap(count, 40000), 40000, 0, 0);
	FACTS_END();
}

static void
addresses()
{
	other_subject o;
	subject *base = &o;
	ptr<subject> p = New refcounted<other_subject>;
	cbv f = wrap(see_one, 1);

	FACT(f->getfaddr() == (void *)see_one);
	FACT(mkref(wrap(base, &subject::put, 1))->getfaddr() != NULL);
	/* For a virtual method, the address of the override that runs. */
	callback<int, int>::ref here = wrap(base, &subject::which);
	callback<int, int>::ref there = wrap(p, &subject::which);
	FACT(here->getfaddr() == there->getfaddr());
	there = wrap(New refcounted<subject>, &subject::which);
	FACT(here->getfaddr() != there->getfaddr());
	FACTS_END();
}

static const struct fact facts[] = {
	CASE_ON(1, colored_arity),
	CASE_ON(1, annotations),
	CASE_ON(1, addresses),
};

FACTS_MAIN(facts)
