/* SPDX-License-Identifier: MIT */
/*
 * async_callback.cc: callbacks of dialect "async": what the factories bind, how callbacks are
 * called, and what they keep alive. Section 1.2 of the facts.
 */
#include "async.h"

#include "bound.h"
#include "facts.h"

#ifndef _CALLBACK_H_INCLUDED_
#error "headers of programs leave out what needs callbacks"
#endif

static void
see_bool(bool a)
{
	seen[0] = a;
}

static int
eight(int a, int b, int c, int d, int e, int f, int g, int h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

class subject
{
public:
	static int alive;
	int base;

	subject(int b = 100) : base(b) { alive++; }
	virtual ~subject() { alive--; }
	void put(int a) { seen[0] = base + a; }
	int get(int a, int b) { return base + a + b; }
	int constant(int a) const { return base - a; }
	virtual int which(int a) { return a; }
	int overloaded(int a) { return base + a; }
	int overloaded(int a) const { return base - a; }
};
int subject::alive;

struct other_subject : subject {
	int which(int a) { return -a; }
};

/* ---- the types ---- */

static void
call_twice(cbv cb)
{
	cb();
	(*cb)();
}

static bool
call_if(cbv::ptr cb)
{
	if (cb)
		(*cb)();
	return cb != NULL;
}

template <class T> struct same_type {
	static bool as(T *) { return true; }
	template <class U> static bool as(U *) { return false; }
};

static void
types()
{
	FACT(same_type<ref<callback<void> > >::as((cbv *)NULL));
	FACT((same_type<ref<callback<void, int> > >::as((cbi *)NULL)));
	FACT((same_type<ref<callback<void, class str> > >::as((cbs *)NULL)));
	FACT((same_type<ref<callback<void, bool> > >::as((cbb *)NULL)));
	FACT(same_type<ptr<callback<void> > >::as((cbv::ptr *)NULL));
	FACT(same_type<callback<void> >::as((cbv::type *)NULL));
	FACT((same_type<ptr<callback<int, char> > >::as((callback<int, char>::ptr *)NULL)));
	FACT((same_type<ref<callback<int, char> > >::as((callback<int, char>::ptr::ref *)NULL)));

	call_twice(wrap(count));
	FACT_EQ(seen[7], 2);
	FACT(call_if(wrap(count)));
	FACT(!call_if(NULL));
	FACT_EQ(seen[7], 3);
	cbv cb = wrap(see_one, 1);
	cbv::ptr none, some = cb;
	cb = some;
	cb = wrap(count);
	FACT(!none && some != NULL && some != cb);
	some = NULL;
	FACT(!some);
	FACTS_END();
}

/* ---- calls ---- */

static void
calling()
{
	callback<int, int, int, int>::ref three = wrap(sum);
	callback<int, int, int>::ptr two = wrap(sum, 100);
	callback<int, int>::ref one = wrap(sum, 100, 20);
	callback<int>::ref none = wrap(sum, 100, 20, 3);

	FACT_EQ(three(1, 2, 3), 6);
	FACT_EQ((*three)(1, 2, 4), 7);
	FACT_EQ(three->trigger(1, 2, 5), 8);
	FACT_EQ(two(20, 3), 123);
	FACT_EQ((*two)(20, 4), 124);
	FACT_EQ(two->trigger(20, 5), 125);
	FACT_EQ(one(3), 123);
	FACT_EQ((*one)(4), 124);
	FACT_EQ(one->trigger(5), 125);
	FACT_EQ(none(), 123);
	FACT_EQ((*none)(), 123);
	FACT_EQ(none->trigger(), 123);
	/* Arguments of the call are converted, a literal NULL as well. */
	FACT_EQ(one('\1'), 121);
	FACTS_END();
}

static void
set_through(int &a, const char *s)
{
	a = s == NULL ? 1 : 2;
}

/* An open parameter may be a reference to the caller's variable. */
static void
open_references()
{
	callback<void, int &, const char *>::ref cb = wrap(set_through);
	int n = 0;

	cb(n, NULL);
	FACT_EQ(n, 1);
	(*cb)(n, "");
	FACT_EQ(n, 2);
	cb->trigger(n, NULL);
	FACT_EQ(n, 1);
	FACTS_END();
}

/* ---- the number of bound arguments ---- */

static void
arity()
{
	cbv all = wrap(see, 1, 2, 3, 4, 5);
	callback<void, int>::ref four = wrap(see, 1, 2, 3, 4);
	callback<void, int, int, int>::ref two = wrap(see, 1, 2);

	all();
	FACT_EQ(seen[0], 1);
	FACT_EQ(seen[4], 5);
	four(50);
	FACT_EQ(seen[3], 4);
	FACT_EQ(seen[4], 50);
	two(30, 40, 51);
	FACT_EQ(seen[1], 2);
	FACT_EQ(seen[2], 30);
	FACT_EQ(seen[4], 51);
	callback<int, int, int, int>::ref most = wrap(eight, 1, 1, 1, 1, 1);
	FACT_EQ(most(1, 10, 100), 15 + 6 + 70 + 800);
	FACTS_END();
}

/* ---- methods ---- */

static void
methods()
{
	subject s;
	const subject constant(10);
	other_subject o;
	subject *base = &o;

	cbv put = wrap(&s, &subject::put, 5);
	put();
	FACT_EQ(seen[0], 105);
	callback<int, int>::ref get = wrap(&s, &subject::get, 20);
	FACT_EQ(get(3), 123);
	callback<int, int>::ref which = wrap(base, &subject::which);
	FACT_EQ(which(4), -4);
	/* Const and other methods, of const and other objects. */
	callback<int>::ref of_const = wrap(&constant, &subject::constant, 1);
	callback<int, int>::ref of_other = wrap(&s, &subject::constant);
	FACT_EQ(of_const(), 9);
	FACT_EQ(of_other(1), 99);
	/* Of two overloads, the one that accepts this object. */
	of_const = wrap(&s, &subject::overloaded, 1);
	FACT_EQ(of_const(), 101);
	of_const = wrap(&constant, &subject::overloaded, 1);
	FACT_EQ(of_const(), 9);
	FACTS_END();
}

static callback<int>::ptr
bound_to_new(int how)
{
	ref<subject> r = New refcounted<subject>(how);
	ptr<subject> p = r;
	ref<const subject> cr = r;
	ptr<const subject> cp = r;

	switch (how) {
	case 0:
		return wrap(r, &subject::get, 1, 2);
	case 1:
		return wrap(p, &subject::get, 1, 2);
	case 2:
		return wrap(New refcounted<subject>(2), &subject::get, 1, 2);
	case 3:
		return wrap(r, &subject::constant, -3);
	case 4:
		return wrap(p, &subject::constant, -3);
	case 5:
		return wrap(New refcounted<subject>(5), &subject::constant, -3);
	case 6:
		return wrap(cr, &subject::constant, -3);
	case 7:
		return wrap(cp, &subject::constant, -3);
	case 8:
		return cwrap(r, &subject::which, how + 3, 1);
	case 9:
		return cpwrap(p, &subject::constant, -3, 1, 2);
	default:
		return NULL;
	}
}

/* A ref, a ptr or a new counted object is kept; a plain pointer is not. */
static void
objects_kept()
{
	for (int how = 0; how < 10; how++) {
		callback<int>::ptr cb = bound_to_new(how);
		FACT_EQ(subject::alive, 1);
		FACT_EQ(cb(), how + 3);
		cb = NULL;
		FACT_EQ(subject::alive, 0);
	}
	ptr<subject> p = New refcounted<subject>;
	callback<int>::ptr loose = wrap(p.get(), &subject::get, 1, 2);
	p = NULL;
	FACT_EQ(subject::alive, 0);
	FACTS_END();
}

/* The callback keeps it as a ref. */
static void
null_object()
{
	ptr<subject> none;

	cbv cb = wrap(none, &subject::put, 1);
	FACT(0);
}

class last_of_itself
{
	cbv::ptr self;
	int after;

public:
	static int alive;
	last_of_itself() : after(0) { alive++; }
	~last_of_itself() { alive--; }
	void keep(cbv cb) { self = cb; }
	void
	end()
	{
		cbv hold = self;

		self = NULL;
		FACT_EQ(alive, 2);
		after = 1;
	}
};
int last_of_itself::alive;

/* A callback and its object may keep each other alive until one drops its handle. */
static void
cycles()
{
	static last_of_itself *lost;
	{
		ref<last_of_itself> r = New refcounted<last_of_itself>;
		r->keep(wrap(r, &last_of_itself::end));
		lost = r;
	}
	FACT(lost != NULL);
	FACT_EQ(last_of_itself::alive, 1);
	ptr<last_of_itself> p = New refcounted<last_of_itself>;
	cbv cb = wrap(p, &last_of_itself::end);
	p->keep(cb);
	p = NULL;
	FACT_EQ(last_of_itself::alive, 2);
	cb();
	cb = cbv_null;
	FACT_EQ(last_of_itself::alive, 1);
	FACTS_END();
}

/* ---- how bound arguments are stored ---- */

static void
take_base(ptr<subject> p, double d)
{
	seen[0] = p->which((int)(d * 2));
}

static void
declared_types()
{
	counted c(3);

	cbv::ptr by_reference = wrap(take_reference, c);
	FACT_EQ(counted::alive, 1);
	by_reference();
	FACT(address == &c);
	cbv::ptr by_value = wrap(take_value, c);
	FACT_EQ(counted::alive, 2);
	c.value = 4;
	by_value();
	FACT_EQ(seen[0], 3);
	by_value = NULL;
	FACT_EQ(counted::alive, 1);
	/* Converted when bound, not when called. */
	cbv::ptr from_int = wrap(take_value, 9);
	FACT_EQ(counted::alive, 2);
	from_int();
	FACT_EQ(seen[0], 9);
	cbv pointers = wrap(take_pointer, "abc", NULL);
	pointers();
	FACT(seen[0] && seen[1]);
	/* A new counted object may be bound without a handle. */
	cbv::ptr derived = wrap(take_base, New refcounted<other_subject>, 3);
	FACT_EQ(subject::alive, 1);
	derived();
	FACT_EQ(seen[0], -6);
	derived = NULL;
	FACT_EQ(subject::alive, 0);
	FACTS_END();
}

/* Without a handle it is a new object without an owner. */
static void
raw_pointers()
{
	bool yes = seen[0] == 0;
	cbv::ptr either = yes ? wrap(count) : NULL;
	cbv::ptr neither = yes ? NULL : wrap(count);
	cbi::ptr method = yes ? wrap((subject *)NULL, &subject::put) : NULL;

	FACT(either && !neither && method);
	either();
	FACT_EQ(seen[7], 1);
	static void *lost;
	lost = wrap(take_value, 1);
	FACT(lost != NULL);
	FACT_EQ(counted::alive, 1);
	FACTS_END();
}

/* Dropping the last handle of a callback frees what it binds, even during the call. */
static cbv::ptr current;

static void
drop_current(counted c)
{
	current = NULL;
	seen[0] = c.value;
}

static void
last_handle()
{
	current = wrap(drop_current, 5);
	cbv::ptr copy = current;
	FACT_EQ(counted::alive, 1);
	copy();
	FACT_EQ(seen[0], 5);
	FACT_EQ(counted::alive, 1);
	copy = NULL;
	FACT_EQ(counted::alive, 0);
	ptr<void> anything = wrap(take_value, 1);
	FACT_EQ(counted::alive, 1);
	anything = NULL;
	FACT_EQ(counted::alive, 0);
	FACTS_END();
}

/* ---- predefined callbacks ---- */

static void
take_str(int n, str s)
{
	seen[0] = n;
	seen[1] = s && s == "abc";
}

static void
strings()
{
	cbs cb = wrap(take_str, 3);

	cb("abc");
	FACT(seen[0] == 3 && seen[1]);
	(*cb)(NULL);
	FACT(!seen[1]);
	cb->trigger(str("abc"));
	FACT(seen[1]);
	cbv bound = wrap(take_str, 4, "abc");
	bound();
	FACT(seen[0] == 4 && seen[1]);
	cbs_null("x");
	(*cbs_null)(NULL);
	FACTS_END();
}

static cbv::ptr at_start = cbv_null;
static cbv global = gwrap(count);

static void
ready_made()
{
	FACT(at_start == cbv_null);
	cbv_null();
	(*cbi_null)(3);
	cbb_null->trigger(true);
	cbv cb = cbv_null;
	cb();
	cb = global;
	cb();
	FACT_EQ(seen[7], 1);
	cbb b = wrap(see_bool);
	b(true);
	FACT_EQ(seen[0], 1);
	FACTS_END();
}

/* ---- callback classes of the program ---- */

class adder : public callback<int, int>
{
	int _n;

public:
	adder(int n) : _n(n) {}
	int operator()(int m) { return _n + m; }
	callback<int, int>::ref me() { return mkref(this); }
};

static void
derived()
{
	ref<adder> a = New refcounted<adder>(3);
	callback<int, int>::ref cb = a;

	FACT_EQ(cb(4), 7);
	FACT_EQ(a->trigger(5), 8);
	FACT(a->me() == cb);
	FACT_EQ(cb->getcolor(), 0);
	cb->set_gdb_info("a_type", &seen);
	FACTS_END();
}

class own : public callback<void>
{
	int _n;

public:
	static int alive;
	own(int n) : _n(n) { alive++; }
	~own() { alive--; }
	void operator()() { seen[7] += _n; }
};
int own::alive;

static void
check_posted()
{
	FACT_EQ(seen[7], 11);
	FACT_EQ(own::alive, 0);
	FACTS_END();
}

/* The loop keeps the counter of a callback alive, whether it is a base of it or an object around
 * it. */
static void
derived_posted()
{
	cpucb_tail(New refcounted<own>(1));
	cpucb_tail(New refcounted<own, vbase>(10));
	FACT_EQ(own::alive, 2);
	cpucb_tail(wrap(check_posted));
	amain();
}

#if __cplusplus >= 201103L
static void
lambdas()
{
	cbv cb = cwrap(+[](int a) { seen[0] = a; }, 6, 1);

	cb();
	FACT_EQ(seen[0], 6);
	cbv::ptr none = nullptr;
	FACT(none == nullptr);
	FACTS_END();
}
#endif

static const struct fact facts[] = {
	CASE_ON(1, types),
	CASE_ON(1, calling),
	CASE_ON(1, open_references),
	CASE_ON(1, arity),
	CASE_ON(1, methods),
	CASE_ON(1, objects_kept),
	{"null_object", null_object, 1000 + SIGSEGV, "null ptr", 1},
	CASE_ON(1, cycles),
	CASE_ON(1, declared_types),
	CASE_ON(1, raw_pointers),
	CASE_ON(1, last_handle),
	CASE_ON(1, strings),
	CASE_ON(1, ready_made),
	CASE_ON(1, derived),
	CASE(derived_posted),
#if __cplusplus >= 201103L
	CASE_ON(1, lambdas),
#endif
};

FACTS_MAIN(facts)
