/* SPDX-License-Identifier: MIT */
/*
 * mely_callback.cc: callbacks of dialect "mely": argument binding, and when the runtime frees
 * callbacks. Section 0.1 of the facts.
 */
#include "mely.h"

/* Programs of the family include nothing else for these names, so they stand before facts.h. */
static int
brought_along()
{
	struct sockaddr_in address;
	pthread_t self = pthread_self();
	char text[16];
	void *p = malloc(1);

	assert(p != NULL);
	free(p);
	errno = 0;
	snprintf(text, sizeof text, "%d", 12);
	address.sin_port = htons(80);
	return strcmp(text, "12") == 0 && errno == 0 && ntohs(address.sin_port) == 80 &&
	    pthread_equal(self, pthread_self());
}

#include "bound.h"
#include "facts.h"

static void
nothing()
{
	seen[0] = -1;
}

struct subject {
	int base;

	subject() : base(100) {}
	virtual ~subject() {}
	void put(int a) { seen[0] = base + a; }
	int get(int a, int b) { return base + a + b; }
	virtual int which(int a) { return a; }
};

struct other_subject : subject {
	int which(int a) { return -a; }
};

static void
header_brings()
{
	FACT(brought_along());
	FACTS_END();
}

/* ---- annotations ---- */

static void
check_notes(melycompat::call *cb, int color, int prio, int timeleft)
{
	FACT_EQ(cb->getcolor(), color);
	FACT_EQ(cb->getprio(), prio);
	FACT_EQ(cb->get_timeleft(), timeleft);
	FACT(cb->getFlagAutoFree());
	delete cb;
}

static void
annotations()
{
	subject s;

	check_notes(wrap(see_one, 1), 0, 0, 0);
	check_notes(cwrap(see_one, 1, 7), 7, 0, 0);
	check_notes(cpwrap(see_one, 1, 7, 8), 7, 8, 0);
	check_notes(wrap_timeleft(see_one, 1, 9), 0, 0, 9);
	check_notes(cwrap_timeleft(see_one, 1, 7, 9), 7, 0, 9);
	check_notes(cpwrap_timeleft(see_one, 1, 7, 8, 9), 7, 8, 9);
	check_notes(wrap(&s, &subject::put, 1), 0, 0, 0);
	check_notes(cwrap(&s, &subject::put, 1, -2), -2, 0, 0);
	check_notes(cpwrap(&s, &subject::put, 1, 7, -8), 7, -8, 0);
	check_notes(wrap_timeleft(&s, &subject::put, 1, 9), 0, 0, 9);
	check_notes(cwrap_timeleft(&s, &subject::put, 1, 7, 9), 7, 0, 9);
	check_notes(cpwrap_timeleft(&s, &subject::put, 1, 7, 8, 9), 7, 8, 9);
	/* Stored as given; the runtime reduces it. */
	check_notes(cwrap(nothing, 40000), 40000, 0, 0);
	FACTS_END();
}

/* ---- the number of bound arguments ---- */

static void
arity()
{
	/* All arguments bound, then a color. */
	cbv all = cwrap(see, 1, 2, 3, 4, 5, 6);
	(*all)();
	FACT_EQ(seen[0], 1);
	FACT_EQ(seen[4], 5);
	FACT_EQ(all->getcolor(), 6);
	delete all;
	/* The last three are left to the call. */
	callback<void, int, int, int> *three = wrap(see, 1, 2);
	(*three)(30, 40, 50);
	FACT_EQ(seen[1], 2);
	FACT_EQ(seen[4], 50);
	delete three;
	callback<int, int, int> *two = cwrap(sum, 1, 9);
	FACT_EQ((*two)(10, 100), 111);
	FACT_EQ(two->getcolor(), 9);
	delete two;
	/* The color is left out: the argument becomes the color, and the type shows that. */
	cbi left_out = cwrap(see_one, 1);
	FACT_EQ(left_out->getcolor(), 1);
	(*left_out)(77);
	FACT_EQ(seen[0], 77);
	delete left_out;
	callback<int, int, int, int> *none = cpwrap(sum, 3, 4);
	FACT_EQ((*none)(1, 1, 1), 3);
	FACT_EQ(none->getprio(), 4);
	delete none;
	FACTS_END();
}

static void
methods()
{
	subject s;
	other_subject o;
	subject *base = &o;

	cbv put = cwrap(&s, &subject::put, 5, 1);
	(*put)();
	FACT_EQ(seen[0], 105);
	delete put;
	callback<int, int> *get = wrap(&s, &subject::get, 20);
	FACT_EQ((*get)(3), 123);
	delete get;
	callback<int, int> *which = wrap(base, &subject::which);
	FACT_EQ((*which)(4), -4);
	delete which;
	FACTS_END();
}

/* ---- how bound arguments are stored ---- */

static void
declared_types()
{
	counted c(3);

	cbv by_reference = wrap(take_reference, c);
	FACT_EQ(counted::alive, 1);
	(*by_reference)();
	FACT(address == &c);
	delete by_reference;
	cbv by_value = wrap(take_value, c);
	FACT_EQ(counted::alive, 2);
	c.value = 4;
	(*by_value)();
	FACT_EQ(seen[0], 3);
	delete by_value;
	FACT_EQ(counted::alive, 1);
	/* Converted when bound, not when called. */
	cbv from_int = wrap(take_value, 9);
	FACT_EQ(counted::alive, 2);
	(*from_int)();
	FACT_EQ(seen[0], 9);
	delete from_int;
	cbv pointers = wrap(take_pointer, "abc", NULL);
	(*pointers)();
	FACT(seen[0] && seen[1]);
	delete pointers;
	FACTS_END();
}

static void
raw_pointers()
{
	bool yes = true;
	cbv either = yes ? wrap(nothing) : NULL;
	CBV_PTR_TYPE same = yes ? NULL : wrap(nothing);
	cbv uninitialised;

	uninitialised = either;
	FACT(uninitialised != NULL && same == NULL);
	FACT(either->getfaddr() == (void *)nothing);
	/* A call by the program is an ordinary call, whatever the color. */
	(*either)();
	FACT_EQ(seen[0], -1);
	delete either;
	FACTS_END();
}

#if __cplusplus >= 201103L
static void
lambdas()
{
	cbv cb = cwrap(+[](int a) { seen[0] = a; }, 6, 1);

	(*cb)();
	FACT_EQ(seen[0], 6);
	delete cb;
	FACTS_END();
}
#endif

/* ---- freeing ---- */

static void
check_freed(int times)
{
	FACT_EQ(seen[7], times);
	FACT_EQ(counted::alive, 0);
	FACTS_END();
}

static void
count_value(counted)
{
	seen[7]++;
}

/* The flag is read after the call returns, so the callback itself may change it. */
static void
auto_free()
{
	cpucb_tail(wrap(count_value, counted(1)));
	cpucb(wrap(count_value, counted(1)));
	cpucb_tail(wrap(check_freed, 2));
	FACT_EQ(counted::alive, 2);
	amain();
}

static cbv reused;

static void
reuse(counted)
{
	if (++seen[7] == 5) {
		reused->setFlagAutoFree(true);
		cpucb_tail(wrap(check_freed, 5));
	} else {
		cpucb_tail(reused);
	}
}

/* One object is armed again in its own call; the last call sets auto-free. */
static void
callback_reuse()
{
	reused = wrap(reuse, counted(1));
	reused->setFlagAutoFree(false);
	FACT(!reused->getFlagAutoFree());
	cpucb_tail(reused);
	amain();
}

static void
check_kept()
{
	FACT_EQ(seen[7], 3);
	FACT_EQ(counted::alive, 1);
	delete reused;
	FACTS_END();
}

/* The runtime does not own it: it may be queued several times, and stays. */
static void
kept()
{
	reused = wrap(count_value, counted(1));
	reused->setFlagAutoFree(false);
	cpucb_tail(reused);
	cpucb_tail(reused);
	cpucb_tail(reused);
	cpucb_tail(wrap(check_kept));
	amain();
}

/* The runtime frees only callbacks that it runs; NULL runs nothing. */
static void
null_is_nothing()
{
	cpucb(NULL);
	cpucb_tail(NULL);
	cpucb_tail(wrap(check_freed, 0));
	amain();
}

static const struct fact facts[] = {
	CASE_ON(1, header_brings),
	CASE_ON(1, annotations),
	CASE_ON(1, arity),
	CASE_ON(1, methods),
	CASE_ON(1, declared_types),
	CASE_ON(1, raw_pointers),
#if __cplusplus >= 201103L
	CASE_ON(1, lambdas),
#endif
	CASE(auto_free),
	CASE(callback_reuse),
	CASE(kept),
	CASE(null_is_nothing),
};

FACTS_MAIN(facts)
