/* SPDX-License-Identifier: MIT */
/*
 * async_backoff.cc: tmoq of dialect "async", which sends requests again until they are answered.
 * Section 1.10 of the facts.
 */
#include "async.h"
#include "backoff.h"

#include "facts.h"

static time_t
now()
{
	timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec;
}

struct query;
static void sent(query *q, int n);
static void timed_out(query *q);

struct query {
	static int alive;
	const char kind;
	int xmits;
	time_t begun;
	tmoq_entry<query> link;

	explicit query(char k) : kind(k), xmits(0), begun(now()) { alive++; }
	~query() { alive--; }
	void xmit(int n) { sent(this, n); }
	void timeout() { timed_out(this); }
};

int query::alive;

static tmoq<query, &query::link, 1, 2> queries;
static tmoq<query, &query::link> with_defaults;
static query *answer, *removed;
static str order = "";

static void
note(const query *q, char what)
{
	order = strbuf("%s%c%c ", order.cstr(), q->kind, what);
}

/* Whether these events happened, in this order. */
static bool
in_order(const char *events)
{
	const char *at = order.cstr();

	for (; *events != '\0'; events += 3) {
		char event[] = {events[0], events[1], ' ', '\0'};

		at = strstr(at, event);
		if (at == NULL)
			return false;
	}
	return true;
}

/* The kinds of requests: given up; removed, deleted or replaced when sent for the second time. */
static void
sent(query *q, int n)
{
	FACT_EQ(n, q->xmits++);
	note(q, char('0' + n));
	if (n == 0)
		return;
	FACT(now() >= q->begun + 1);
	if (q->kind == 'r') {
		queries.remove(q);
		removed = q;
	}
	if (q->kind == 'd' || q->kind == 'n') {
		bool replaced = q->kind == 'n';

		queries.remove(q);
		delete q;
		if (replaced)
			queries.start(New query('l'));
	}
}

static void
timed_out(query *q)
{
	bool is_last = q->kind == 'l';

	note(q, '!');
	FACT_EQ(q->xmits, 2);
	FACT(now() >= q->begun + 3);
	/* It is in no queue any more. */
	queries.remove(q);
	delete q;
	if (!is_last)
		return;
	FACT(in_order("g0 x0 r0 h0 d0 n0 g1 r1 h1 d1 n1 l0 l1 l! "));
	FACT(in_order("h1 g! h! l! "));
	FACT_EQ(query::alive, 2);
	FACT_EQ(answer->xmits, 1);
	FACT_EQ(removed->xmits, 2);
	delete answer;
	delete removed;
	FACTS_END();
}

static void
answered()
{
	queries.remove(answer);
}

/* Sent at once, again after 1 second, given up after 2 more; in the order of the starts. */
static void
sends_again()
{
	static const char kinds[] = "gxrhdn";

	for (int i = 0; kinds[i] != '\0'; i++) {
		query *q = New query(kinds[i]);

		queries.start(q);
		FACT_EQ(q->xmits, 1);
		if (kinds[i] == 'x')
			answer = q;
	}
	delaycb(0, 0, wrap(answered));
	amain();
}

/* When xmit blocks the loop, as a slow network might, all calls still happen, in order. */
struct slow {
	int xmits;
	tmoq_entry<slow> link;

	slow() : xmits(0) {}
	void
	xmit(int n)
	{
		FACT_EQ(n, xmits++);
		if (n == 0)
			sleep(2);
	}
	void
	timeout()
	{
		FACT_EQ(xmits, 2);
		FACTS_END();
	}
};

static void
held_up()
{
	static tmoq<slow, &slow::link, 1, 2> q;
	static slow s;

	q.start(&s);
	amain();
}

/* Given up, and then not: it is sent again at once, as if for the last time. No wait takes long. */
struct patient {
	str numbers;
	tmoq_entry<patient> link;

	patient() : numbers("") {}
	void xmit(int n) { numbers = numbers << n; }
	void timeout();
};

static tmoq<patient, &patient::link, 0, 3> patients;

void
patient::timeout()
{
	if (numbers == "0122")
		FACTS_END();
	FACT(numbers == "012");
	patients.keeptrying(this);
	FACT(numbers == "0122");
}

static void
keeps_trying()
{
	static patient p;

	patients.start(&p);
	amain();
}

static void
tries_what_waits()
{
	patient p;

	patients.start(&p);
	patients.keeptrying(&p);
}

template <class T, tmoq_entry<T> T::*field, u_int minto, u_int maxsend> static bool
waits(const tmoq<T, field, minto, maxsend> &, u_int seconds, u_int times)
{
	return minto == seconds && maxsend == times;
}

/* The defaults: 5 transmissions, the second one after 2 seconds. */
static void
defaults()
{
	FACT(waits(with_defaults, 2, 5));
	FACT(waits(queries, 1, 2));
	FACTS_END();
}

static void
remove_of_no_member()
{
	query q('x');

	with_defaults.remove(&q);
	with_defaults.start(&q);
	FACT_EQ(q.xmits, 1);
	with_defaults.remove(&q);
	with_defaults.remove(&q);
	q.xmits = 0;
	with_defaults.start(&q);
	with_defaults.remove(&q);
	FACTS_END();
}

static const struct fact facts[] = {
	CASE_ON(8, sends_again),
	CASE_ON(1, held_up),
	CASE_ON(1, keeps_trying),
	{"tries_what_waits", tries_what_waits, 1000 + SIGABRT, "is waiting", 1},
	CASE_ON(1, defaults),
	CASE_ON(1, remove_of_no_member),
};

FACTS_MAIN(facts)
