/* SPDX-License-Identifier: MIT */
/*
 * async_refcnt.cc: counted objects and their handles, and the allocation macros. Section 1.3 of the
 * facts.
 */
#include "refcnt.h"

#include <stdlib.h>
#undef NULL
#define NULL 0

#include "facts.h"

/* ---- objects ---- */

struct animal {
	static int alive;
	int legs;

	animal(int n = 4) : legs(n) { alive++; }
	~animal() { alive--; } /* not virtual: the counted object knows its type */
};
int animal::alive;

struct bird : animal {
	static int alive;
	const char *song;

	bird(const char *s, int n) : animal(n), song(s) { alive++; }
	~bird() { alive--; }
};
int bird::alive;

struct wings {
	int span;
};

struct sparrow : wings, bird {
	sparrow() : bird("tweet", 2) { span = 25; }
};

static int
legs_of(const animal *a)
{
	return a == NULL ? -1 : a->legs;
}

static int
legs_by_ref(ref<animal> a)
{
	return a->legs;
}

static void
making()
{
	{
		ptr<bird> p = New refcounted<bird>("quack", 2);
		ref<bird> r(New refcounted<bird>("hoot", 2));
		ptr<animal> plain = New refcounted<animal>;

		FACT(strcmp(p->song, "quack") == 0 && strcmp((*r).song, "hoot") == 0);
		FACT_EQ(plain->legs, 4);
		FACT_EQ(bird::alive, 2);
		p = New refcounted<bird>("caw", 2);
		FACT_EQ(bird::alive, 2);
		r = New refcounted<bird>("coo", 2);
		FACT_EQ(bird::alive, 2);
		FACT(strcmp(p.get()->song, "caw") == 0 && strcmp(r->song, "coo") == 0);
		ptr<bird> made = ptr<bird>::alloc("peep", 3);
		ref<animal> made_base = ref<bird>::alloc("chirp", 5);
		FACT_EQ(made->legs + made_base->legs, 8);
	}
	FACT_EQ(bird::alive, 0);
	FACT_EQ(animal::alive, 0);
	FACTS_END();
}

/* A type without members cannot be a base class. */
static void
builtins()
{
	ptr<int> i = New refcounted<int>(5);
	ref<int> zero = New refcounted<int>;
	ptr<double> d = New refcounted<double>(2.5);
	ptr<const char *> s = New refcounted<const char *>("abc");

	FACT_EQ(*i, 5);
	FACT_EQ(*zero, 0);
	FACT(*d == 2.5);
	FACT(strcmp(*s, "abc") == 0);
	++*i;
	ptr<const int> same = i;
	FACT_EQ(*same, 6);
	FACTS_END();
}

/* ---- null and not null ---- */

static void
nullable()
{
	ptr<animal> p, q = NULL;
	bool there = true;

	FACT(!p && p == NULL && NULL == q && p == q && p.get() == NULL);
	FACT(!(p != NULL));
	p = New refcounted<animal>(6);
	FACT(p && p != NULL && p != q && !(p == q));
	if (ptr<animal> again = p)
		FACT_EQ(again->legs, 6);
	else
		FACT(0);
	ptr<animal> either = there ? p : NULL, other = there ? NULL : p;
	FACT(either == p && !other);
	p = NULL;
	either = NULL;
	FACT_EQ(animal::alive, 0);
	q = p;
	p = ptr<animal>();
	FACT(!p && !q);
	/* A factory's NULL makes a null ptr. */
	refcounted<animal> *none = NULL;
	p = none;
	ptr<animal> from_none(none);
	FACT(!p && !from_none);
	FACTS_END();
}

static void
null_to_ref()
{
	ptr<animal> none;
	ref<animal> r = none;

	FACT(0);
}

static void
null_assigned_to_ref()
{
	ptr<animal> none;
	ref<animal> r = New refcounted<animal>;

	r = none;
	FACT(0);
}

/* ---- conversions, equality ---- */

static void
conversions()
{
	ref<sparrow> s = New refcounted<sparrow>;
	ref<bird> b = s;
	ptr<animal> a = b;
	ref<const animal> c = a;
	ptr<wings> w = s;
	ptr<void> v = w;
	ref<const void> cv = c;

	FACT_EQ(legs_of(s), 2);
	FACT_EQ(legs_of(c), 2);
	FACT_EQ(legs_of(ptr<animal>()), -1);
	FACT_EQ(legs_by_ref(s), 2);
	FACT_EQ(legs_by_ref(a), 2);
	FACT_EQ(w->span, 25);
	const animal *raw = s;
	FACT(raw == a && a == raw && raw == c.get());
	/* Equal if it is the same object, whatever the addresses of its parts. */
	FACT((void *)w != (void *)a);
	FACT(w == a && a == b && v == s && cv == s && !(cv != v));
	s = New refcounted<sparrow>;
	FACT(s != b);
	a = s;
	FACT(a == s);
	b = s;
	w = NULL;
	v = NULL;
	c = s;
	FACT_EQ(bird::alive, 2);
	cv = s;
	FACT_EQ(bird::alive, 1);
	FACTS_END();
}

struct told : public virtual refcount {
	int n;

	told(int i) : n(i) {}
};

/* Equality compares the counts, not the addresses: here one object has two counts. */
static void
control_blocks()
{
	ptr<told> p = New refcounted<told, vbase>(1);
	ptr<told> q = mkref(p.get());

	FACT(p.get() == q.get());
	FACT(p != q && !(p == q));
	FACTS_END();
}

/* Pointers without handles still work. */
static void
as_pointers()
{
	ref<int> i = New refcounted<int>(3);
	ptr<int> j = i;
	int *raw = i;

	FACT_EQ(i[0], 3);
	FACT(&*j == raw && raw == j && i.operator->() == raw);
	FACTS_END();
}

/* ---- when objects are destroyed ---- */

static ptr<struct watcher> watched;

struct watcher {
	static bool saw_null;

	~watcher() { saw_null = watched == NULL; }
};
bool watcher::saw_null;

/* The handle has its new value when the destructor of the old object runs. */
static void
reentrant_drop()
{
	watched = New refcounted<watcher>;
	watched = NULL;
	FACT(watcher::saw_null);
	FACTS_END();
}

static void
self_assignment()
{
	ptr<animal> p = New refcounted<animal>;
	ptr<animal> &same = p;
	ref<animal> r = p;

	p = same;
	p = p.get() ? r : r;
	r = p;
	FACT_EQ(animal::alive, 1);
	p = NULL;
	FACT_EQ(animal::alive, 1);
	FACTS_END();
}

static void
leak_and_plug()
{
	ptr<animal> p = New refcounted<animal>;
	animal *raw = p;
	void *first = p.Xleak();

	p = NULL;
	FACT_EQ(animal::alive, 1);
	FACT_EQ(raw->legs, 4);
	p = New refcounted<animal>;
	ref<animal> r = p;
	p.Xleak();
	r.Xplug();
	p = NULL;
	FACT_EQ(animal::alive, 2);
	r = New refcounted<animal>;
	FACT_EQ(animal::alive, 2);
	/* Later, with the result of Xleak. */
	void *leaked = r.Xleak();
	r = New refcounted<animal>;
	FACT_EQ(animal::alive, 3);
	ptr<animal>::Xplug(leaked);
	FACT_EQ(animal::alive, 2);
	ptr<animal>::Xplug(first);
	FACT_EQ(animal::alive, 1);
	FACTS_END();
}

/* ---- other kinds of objects ---- */

struct tail {
	static int alive;
	size_t length;
	char bytes[1];

	tail() : length(0) { alive++; }
	~tail() { alive--; }
};
int tail::alive;

struct aligned_tail {
	char c;
	double d __attribute__((aligned(16)));
};

static void
with_room()
{
	refcounted<tail, vsize> *made = refcounted<tail, vsize>::alloc(1000);
	tail *t = made->tptr();
	ref<tail> r = made;

	FACT(r.get() == t);
	memset((char *)(t + 1), 'x', 1000);
	FACT_EQ(r->length, 0);
	ptr<void> v = r;
	r = refcounted<tail, vsize>::alloc(0);
	FACT_EQ(tail::alive, 2);
	v = NULL;
	FACT_EQ(tail::alive, 1);
	ptr<aligned_tail> a = refcounted<aligned_tail, vsize>::alloc(64);
	memset((char *)(a + 1), 'x', 64);
	FACT_EQ((unsigned long)a.get() % 16, 0);
	FACTS_END();
}

struct founder {
	int year;

	founder(int y) : year(y) {} /* there is no default constructor */
	virtual ~founder() {}
};

struct house : virtual founder {
	static int alive;

	house(int y) : founder(y) { alive++; }
	~house() { alive--; }
};
int house::alive;

static void
virtual_bases()
{
	ptr<house> h = New refcounted<house, vbase>(1815);
	ptr<founder> f = h;

	FACT_EQ(f->year, 1815);
	h = NULL;
	FACT_EQ(house::alive, 1);
	f = NULL;
	FACT_EQ(house::alive, 0);
	ptr<int> i = New refcounted<int, vbase>(3);
	FACT_EQ(*i, 3);
	FACTS_END();
}

/* ---- globals that are neither constructed nor destroyed ---- */

struct relic {
	static int alive;
	int age;

	relic(int n) : age(n) { alive++; }
	~relic() { alive--; }
};
int relic::alive;

extern bssptr<relic> early;
static bool looks_at_end;

/* Constructed before the constructor of early would run, and destroyed after its destructor
 * would. */
static struct before {
	before() { early = New refcounted<relic>(8); }
	~before()
	{
		if (looks_at_end && early && early->age == 8 && relic::alive == 1)
			_exit(FACTS_PASSED);
	}
} before;

bssptr<relic> early;
static bssptr<relic> never;

static void
in_bss()
{
	FACT(early != NULL);
	FACT_EQ(early->age, 8);
	FACT(!never && never == NULL);
	ptr<relic> p = early;
	FACT(p == early);
	never = New refcounted<relic>(2);
	early = never;
	FACT_EQ(relic::alive, 2);
	FACT_EQ(early->age, 2);
	early = p;
	never = NULL;
	FACT_EQ(relic::alive, 1);
	p = NULL;
	looks_at_end = true;
	exit(0);
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 50000 };

static void *
copy_and_drop(void *arg)
{
	ptr<animal> *shared = (ptr<animal> *)arg;

	for (int i = 0; i < ROUNDS; i++) {
		ptr<animal> mine = *shared;
		ref<animal> more = mine;
		FACT_EQ(more->legs, 4);
	}
	*shared = NULL;
	return NULL;
}

/* Each thread has its own handle; the last one destroys the object, once. */
static void
atomic_counts()
{
	ptr<animal> mine = New refcounted<animal>, handles[THREADS];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		handles[i] = mine;
		FACT_EQ(pthread_create(&threads[i], NULL, copy_and_drop, &handles[i]), 0);
	}
	mine = NULL;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	FACT_EQ(animal::alive, 0);
	FACTS_END();
}

/* ---- allocation macros ---- */

static int sides;

struct on_the_side {
	on_the_side() { sides++; }
};

struct unaffordable {
	static void *operator new(size_t) { abort(); }
	static void *operator new(size_t, const std::nothrow_t &) throw() { return NULL; }
	static void operator delete(void *p) { free(p); }
};

static void
allocating()
{
	animal *a = New animal(3), *b = ntNew animal(5);
	int *numbers = New int[10];
	void *bytes = opnew(100);

	FACT_EQ(a->legs + b->legs, 8);
	delete a;
	delete b;
	delete[] numbers;
	memset(bytes, 0, 100);
	operator delete(bytes);
	vNew on_the_side;
	FACT_EQ(sides, 1);
	FACT((ntNew unaffordable) == NULL);
	FACTS_END();
}

#define ENDS_ON(workers, fn, status) {#fn, fn, status, NULL, workers}

static const struct fact facts[] = {
	CASE_ON(1, making),
	CASE_ON(1, builtins),
	CASE_ON(1, nullable),
	ENDS_ON(1, null_to_ref, 1000 + SIGSEGV),
	ENDS_ON(1, null_assigned_to_ref, 1000 + SIGSEGV),
	CASE_ON(1, conversions),
	CASE_ON(1, control_blocks),
	CASE_ON(1, as_pointers),
	CASE_ON(1, reentrant_drop),
	CASE_ON(1, self_assignment),
	CASE_ON(1, leak_and_plug),
	CASE_ON(1, with_room),
	CASE_ON(1, virtual_bases),
	CASE_ON(1, in_bss),
	CASE_ON(1, atomic_counts),
	CASE_ON(1, allocating),
};

FACTS_MAIN(facts)
