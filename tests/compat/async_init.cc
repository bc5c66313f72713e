/* SPDX-License-Identifier: MIT */
/*
 * async_init.cc: work before main and after it, and unions of objects. Section 1.10 of the facts.
 */
#define TUNION_DEBUG 1
#include "init.h"
#include "union.h"

#undef NULL
#define NULL 0

#include "facts.h"

static char order[16];

static void
note(char c)
{
	order[strlen(order)] = c;
}

struct noted {
	char c;

	noted(char made) : c(made) { note(c); }
	~noted() { note((char)(c - 'a' + 'A')); }
};

/* ---- what a header declares and one file defines ---- */

INIT(service);
static noted after_service('b');
INITFN(start_here);
EXITFN(stop_here);
static noted after_all('d');

int service::count;

void
service::start()
{
	note('a');
}

/* Runs last of all; its output ends up in the output of the case. */
void
service::stop()
{
	note('A');
	puts(order);
	fflush(stdout);
}

static void
start_here()
{
	note('c');
}

static void
stop_here()
{
	note('X');
}

static void
started()
{
	FACT(strcmp(order, "abcd") == 0);
	/* Another file that includes the header has a separate object. */
	{
		service other;
		FACT(strcmp(order, "abcd") == 0);
	}
	FACT(strcmp(order, "abcd") == 0);
	FACTS_END();
}

/* ---- unions ---- */

struct part {
	static int alive;
	int n;

	part() : n(7) { alive++; }
	part(const part &p) : n(p.n) { alive++; }
	~part() { alive--; }
};
int part::alive;

struct big {
	double d[4];
	part p;

	big() { d[0] = d[3] = 0.5; }
};

struct either {
	union {
		union_entry_base _base;
		union_entry<part> one;
		union_entry<big> other;
		union_entry<int> number;
		union_entry<void> none;
	};

	either() { _base.init(); }
	either(const either &e) { _base.init(e._base); }
	~either() { _base.destroy(); }
	either &
	operator=(const either &e)
	{
		_base.assign(e._base);
		return *this;
	}
};

static void
selecting()
{
	{
		either e;

		FACT_EQ(part::alive, 0);
		e.one.select();
		FACT_EQ(part::alive, 1);
		FACT_EQ(e.one->n, 7);
		e.one->n = 8;
		e.one.select(); /* already selected: no effect */
		FACT_EQ((*e.one).n, 8);
		e.other.select();
		FACT_EQ(part::alive, 1);
		FACT(e.other->d[3] == 0.5 && e.other->p.n == 7);
		e.number.select();
		FACT_EQ(part::alive, 0);
		FACT_EQ(*e.number, 0);
		*e.number = 5;
		const either &constant = e;
		FACT_EQ(*constant.number, 5);
		FACT(constant.number.addr() == e.number.addr());
		e.one.select();
		e.none.select();
		FACT_EQ(part::alive, 0);
		e.other.select();
		FACT_EQ(part::alive, 1);
		e._base.destroy();
		FACT_EQ(part::alive, 0);
		e.one.select();
	}
	FACT_EQ(part::alive, 0);
	FACTS_END();
}

static int
value(const int *p)
{
	return *p;
}

static void
as_pointers()
{
	either e;
	const either &constant = e;

	e.number.select();
	int *p = e.number;
	*p = 5;
	FACT_EQ(value(constant.number), 5);
	FACT_EQ(value(e.number), 5);
	FACT(p == constant.number && e.number);
	e.one.select();
	part *one = e.one;
	FACT(one->n == 7 && one == e.one.addr());
	FACTS_END();
}

static void
union_copies()
{
	either e, empty;

	e.one.select();
	e.one->n = 9;
	either f(e);
	FACT_EQ(part::alive, 2);
	FACT_EQ(f.one->n, 9);
	f.number.select();
	*f.number = 3;
	FACT_EQ(part::alive, 1);
	f = e;
	FACT_EQ(part::alive, 2);
	FACT_EQ(f.one->n, 9);
	f.one->n = 10;
	e = f;
	FACT_EQ(e.one->n, 10);
	e = empty;
	FACT_EQ(part::alive, 1);
	e = *&e;
	f = *&f;
	FACT_EQ(f.one->n, 10);
	e.other.select();
	f = e;
	FACT_EQ(part::alive, 2);
	FACT(f.other->d[0] == 0.5);
	FACTS_END();
}

/* With TUNION_DEBUG, access to an unselected member ends the program. */
static void
checked()
{
	either e;

	e.number.select();
	e.one->n = 3;
	FACT(0);
}

static const struct fact facts[] = {
	{"started", started, FACTS_PASSED, "abcdDXBA", 1},
	CASE_ON(1, selecting),
	CASE_ON(1, as_pointers),
	CASE_ON(1, union_copies),
	{"checked", checked, 1000 + SIGABRT, "another type is selected", 1},
};

FACTS_MAIN(facts)
