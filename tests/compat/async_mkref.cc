/* SPDX-License-Identifier: MIT */
/*
 * async_mkref.cc: objects that create handles of themselves, finalize, and access to the count.
 * Section 1.3 of the facts, with async_refcnt.cc.
 */
#include "refcnt.h"

#include <stdlib.h>
#undef NULL
#define NULL 0

#include "facts.h"

struct told : public virtual refcount {
	int n;

	told(int i) : n(i) {}
};

/* ---- handles of oneself ---- */

class self : public virtual refcount
{
public:
	static int alive;
	ptr<self> kept;
	unsigned in_constructor;

	self(bool keep) : in_constructor(refcount_getcnt())
	{
		alive++;
		if (keep)
			kept = mkref(this);
	}
	~self() { alive--; }
	ref<self> me() { return mkref(this); }
	ref<const self> const_me() const { return mkref(this); }
};
int self::alive;

static void
of_oneself()
{
	ptr<self> p = New refcounted<self>(false);
	FACT_EQ(p->in_constructor, 0);
	FACT_EQ(p->refcount_getcnt(), 1);
	{
		ref<self> again = p->me();
		ref<const self> constant = p->const_me();
		FACT(again == p && constant == p);
		FACT_EQ(p->refcount_getcnt(), 3);
	}
	FACT_EQ(p->refcount_getcnt(), 1);
	self *raw = p;
	ptr<self> by_address = mkref(raw);
	p = NULL;
	FACT_EQ(self::alive, 1);
	by_address = NULL;
	FACT_EQ(self::alive, 0);
	/* A handle that the constructor stores keeps the object alive. */
	ptr<self> keeper = New refcounted<self>(true);
	raw = keeper;
	keeper = NULL;
	FACT_EQ(self::alive, 1);
	ptr<self> last = raw->kept;
	raw->kept = NULL;
	last = NULL;
	FACT_EQ(self::alive, 0);
	ref<self> counted = mkref(New refcounted<self>(false));
	FACT_EQ(counted->refcount_getcnt(), 1);
	FACTS_END();
}

struct hasty : public virtual refcount {
	static int alive;

	hasty()
	{
		alive++;
		mkref(this);
	}
	~hasty()
	{
		mkref(this);
		alive--;
	}
};
int hasty::alive;

/* The original destroys an object whose constructor drops a handle of it. This library does not,
 * and a destructor that creates a handle does not destroy the object twice. */
static void
in_constructor()
{
	ptr<hasty> p = New refcounted<hasty>;

	FACT_EQ(hasty::alive, 1);
	p = NULL;
	FACT_EQ(hasty::alive, 0);
	FACTS_END();
}

/* The base may be private: then only the class and its friends can create handles. */
class discreet : private virtual refcount
{
	friend class refcounted<discreet>;
	discreet() { alive++; }
	~discreet() { alive--; }

public:
	static int alive;
	static ptr<discreet> alloc() { return New refcounted<discreet>; }
	ptr<discreet> me() { return mkref(this); }
	unsigned handles() { return refcount_getcnt(); }
};
int discreet::alive;

class discreet_end : private virtual refcount
{
	void finalize() { finalized++; }
	friend class refcounted<discreet_end>;

public:
	static int finalized;
};
int discreet_end::finalized;

static void
private_base()
{
	ptr<discreet> p = discreet::alloc(), q = p->me();

	FACT(p == q);
	FACT_EQ(p->handles(), 2);
	p = NULL;
	q = NULL;
	FACT_EQ(discreet::alive, 0);
	static discreet_end *kept;
	ptr<discreet_end> e = New refcounted<discreet_end>;
	kept = e;
	e = NULL;
	FACT_EQ(kept->finalized, 1);
	FACTS_END();
}

/* A copy is a separate object. */
static void
copies()
{
	ptr<told> p = New refcounted<told>(7), more = p;
	ptr<told> q = New refcounted<told>(*p);

	FACT_EQ(q->n, 7);
	FACT_EQ(q->refcount_getcnt(), 1);
	*q = told(8);
	FACT_EQ(q->refcount_getcnt(), 1);
	FACT_EQ(p->refcount_getcnt(), 2);
	FACTS_END();
}

/* ---- finalize ---- */

struct final_words : public virtual refcount {
	static int alive, finalized;

	final_words() { alive++; }
	virtual ~final_words() { alive--; }
	void finalize() { finalized++; }
};
int final_words::alive, final_words::finalized;

struct heir : final_words {
};

struct twice : public virtual refcount {
	static int finalized;

	void
	finalize()
	{
		if (++finalized == 2)
			delete this;
	}
};
int twice::finalized;

struct namesake {
	static int alive;

	namesake() { alive++; }
	~namesake() { alive--; }
	int finalize(int) { abort(); }
};
int namesake::alive;

/* Called each time the count becomes 0, instead of delete. */
static void
finalizing()
{
	ptr<final_words> p = New refcounted<final_words>, q = p;
	final_words *raw = p;

	p = NULL;
	FACT_EQ(final_words::finalized, 0);
	q = NULL;
	FACT_EQ(final_words::finalized, 1);
	q = mkref(raw);
	q = NULL;
	FACT_EQ(final_words::finalized, 2);
	FACT_EQ(final_words::alive, 1);
	delete raw;
	FACT_EQ(final_words::alive, 0);
	/* Also the finalize of a base class, and through a handle of another type. */
	ptr<heir> h = New refcounted<heir>;
	ptr<void> v = h;
	raw = h;
	h = NULL;
	FACT_EQ(final_words::finalized, 2);
	v = NULL;
	FACT_EQ(final_words::finalized, 3);
	delete raw;
	ptr<twice> t = New refcounted<twice>;
	twice *again = t;
	t = NULL;
	t = mkref(again);
	t = NULL;
	FACT_EQ(twice::finalized, 2);
	/* Without refcount as a base it is an ordinary name. */
	ptr<namesake> n = New refcounted<namesake>;
	n = NULL;
	FACT_EQ(namesake::alive, 0);
	FACTS_END();
}

/* ---- access ---- */

class secretive
{
	friend class refcounted<secretive>;
	secretive() {}
	~secretive() {}

public:
	static ptr<secretive> alloc() { return New refcounted<secretive>; }
	int answer() { return 42; }
};

class guarded
{
public:
	static ref<guarded> alloc(int n) { return New refcounted<guarded>(n); }
	int n;

protected:
	guarded(int i) : n(i) {}
	~guarded() {}
};

struct unknown;
struct has_unknown {
	ptr<unknown> p;
	ptr<unknown> get() { return p; }
};
struct unknown {
	int n;
};

static void
access_rights()
{
	FACT_EQ(secretive::alloc()->answer(), 42);
	FACT_EQ(guarded::alloc(4)->n, 4);
	has_unknown h;
	h.p = New refcounted<unknown>;
	FACT_EQ(h.get()->n, 0);
	FACTS_END();
}

static const struct fact facts[] = {
	CASE_ON(1, of_oneself),
	CASE_ON(1, in_constructor),
	CASE_ON(1, private_base),
	CASE_ON(1, copies),
	CASE_ON(1, finalizing),
	CASE_ON(1, access_rights),
};

FACTS_MAIN(facts)
