/* SPDX-License-Identifier: MIT */
/*
 * async_list.cc: lists of dialect "async": list, tailq, dllist, and the lists that hold handles or
 * own copies. Section 1.7 of the facts.
 */
#include "async.h"
#include "list.h"
#include "qtailq.h"
#include "rclist.h"
#include "rctailq.h"

#include "async_dice.h"
#include "facts.h"

#include <algorithm>
#include <vector>

struct job {
	int id;
	list_entry<job> link;
	tailq_entry<job> qlink;
	dllist_entry<job> dlink;

	explicit job(int i) : id(i) {}
};

typedef list<job, &job::link> job_list;
typedef tailq<job, &job::qlink> job_queue;
typedef dllist<job, &job::dlink> job_deque;

/* The ids of a list, as digits. */
static str seen;

static void
see(job *j)
{
	seen = strbuf("%s%d", seen.cstr(), j->id);
}

template <class L> static str
ids(L &l)
{
	seen = "";
	for (job *j = l.first; j != NULL; j = l.next(j))
		see(j);

	str walked = seen;

	seen = "";
	l.traverse(wrap(see));
	FACT(seen == walked);
	return walked;
}

/* ---- common to all three ---- */

static void
list_order()
{
	job a(1), b(2), c(3);
	job_list l;

	FACT(l.first == NULL);
	l.insert_head(&a);
	l.insert_head(&b);
	l.insert_head(&c);
	FACT(ids(l) == "321");
	FACT(job_list::next(&c) == &b);
	FACT(job_list::next(&a) == NULL);
	FACT(job_list::remove(&b) == &b);
	FACT(ids(l) == "31");
	l.remove(&c);
	l.remove(&a);
	FACT(l.first == NULL);
	l.insert_head(&b);
	FACT(ids(l) == "2");
	FACTS_END();
}

template <class Q> static void
check_both_ends()
{
	job a(1), b(2), c(3), d(4), e(5);
	Q q;

	q.insert_tail(&b);
	q.insert_tail(&c);
	q.insert_head(&a);
	FACT(ids(q) == "123");
	q.insert_after(&c, &d);
	q.insert_before(&a, &e);
	FACT(ids(q) == "51234");
	FACT(q.remove(&d) == &d);
	q.insert_tail(&d);
	FACT(ids(q) == "51234");
	q.remove(&e);
	q.remove(&b);
	FACT(ids(q) == "134");
	q.remove(&a);
	q.remove(&c);
	q.remove(&d);
	FACT(q.first == NULL);
	q.insert_tail(&a);
	q.insert_after(&a, &c);
	q.insert_before(&c, &b);
	q.insert_tail(&d);
	FACT(ids(q) == "1234");
	q.clear();
	FACT(q.first == NULL);
}

static void
tailq_order()
{
	job_queue q;

	check_both_ends<job_queue>();
	FACT(q.plast == &q.first);
	/* An element that is the last already: no cycle. */
	job a(1), b(2);
	q.insert_tail(&a);
	q.insert_tail(&b);
	q.insert_tail(&b);
	FACT(q.first == &a && q.next(&a) == &b && q.next(&b) == NULL);
	q.remove(&b);
	FACT(q.next(&a) == NULL && q.plast == &a.qlink.next);
	FACTS_END();
}

static void
dllist_order()
{
	job a(1), b(2), c(3);
	job_deque d;

	check_both_ends<job_deque>();
	d.insert_tail(&a);
	d.insert_tail(&b);
	d.insert_tail(&c);
	FACT(d.last == &c);
	FACT(d.prev(&c) == &b && d.prev(&b) == &a && job_deque::prev(&a) == NULL);
	d.remove(&c);
	FACT(d.last == &b);
	FACTS_END();
}

/* ---- removing ---- */

static job_list jobs;
static job_queue queue;

static void
drop_even(job *j)
{
	if (j->id % 2 == 0) {
		jobs.remove(j);
		queue.remove(j);
		delete j;
	}
}

/* The current element may be removed and deleted. */
static void
traverse_removes()
{
	for (int i = 0; i < 8; i++) {
		job *j = New job(i);

		jobs.insert_head(j);
		queue.insert_tail(j);
	}
	jobs.traverse(wrap(drop_even));
	FACT(ids(jobs) == "7531");
	FACT(ids(queue) == "1357");
	while (jobs.first != NULL) {
		job *j = jobs.first;

		queue.remove(j);
		delete jobs.remove(j);
	}
	FACT(queue.first == NULL);
	FACTS_END();
}

static void
delete_it(job *j)
{
	delete j;
}

/* Like a destructor that frees all elements and then drops the list. */
static void
traverse_deletes()
{
	job_queue q;

	for (int i = 0; i < 8; i++)
		q.insert_tail(New job(i));
	q.traverse(wrap(delete_it));
	q.clear();
	FACT(q.first == NULL);
	FACTS_END();
}

static void
remove_of_no_member()
{
	job a(1), b(2);

	queue.insert_tail(&a);
	jobs.insert_head(&a);
	queue.remove(&b);
	jobs.remove(&b);
	queue.remove(&a);
	queue.remove(&a);
	jobs.remove(&a);
	jobs.remove(&a);
	queue.insert_tail(&b);
	FACT(ids(queue) == "2");
	FACT(jobs.first == NULL);
	queue.remove(&b);
	FACTS_END();
}

static void
copy_is_not_linked()
{
	job a(1);

	queue.insert_tail(&a);

	job b(a), c(3);

	c = a;
	queue.remove(&b);
	FACT(ids(queue) == "1");
	c.id = 3;
	queue.insert_tail(&b);
	queue.insert_tail(&c);
	/* An assignment does not move an element that is in a list. */
	b = a;
	FACT(ids(queue) == "113");
	queue.clear();
	FACTS_END();
}

/* ---- against std ---- */

template <class Q> static void
check_random(unsigned long seed)
{
	std::vector<job *> all, in;
	dice roll(seed);
	Q q;

	for (int i = 0; i < 30; i++)
		all.push_back(New job(i));
	for (int i = 0; i < 2000; i++) {
		job *j = all[roll(30)];
		std::vector<job *>::iterator at = std::find(in.begin(), in.end(), j);

		if (at != in.end()) {
			in.erase(at);
			q.remove(j);
		} else if (roll(2) == 0 || in.empty()) {
			in.push_back(j);
			q.insert_tail(j);
		} else {
			unsigned k = roll(unsigned(in.size()));

			if (roll(2) == 0) {
				q.insert_before(in[k], j);
				in.insert(in.begin() + k, j);
			} else {
				q.insert_after(in[k], j);
				in.insert(in.begin() + k + 1, j);
			}
		}

		job *p = q.first;

		for (size_t k = 0; k < in.size(); k++, p = q.next(p))
			FACT(p == in[k]);
		FACT(p == NULL);
	}
	for (int i = 0; i < 30; i++)
		delete all[i];
}

static void
random_as_vector()
{
	for (unsigned long seed = 1; seed <= 10; seed++) {
		check_random<job_queue>(seed);
		check_random<job_deque>(seed);
	}
	FACTS_END();
}

/* ---- with handles ---- */

struct task {
	static int alive;
	int id;
	rclist_entry_t<task> link;
	rctailq_entry_t<task> qlink;

	explicit task(int i) : id(i) { alive++; }
	~task() { alive--; }
};

int task::alive;

typedef rclist_t<task, &task::link> task_list;
typedef rctailq_t<task, &task::qlink> task_queue;

template <class L> static str
task_ids(L &l)
{
	str s = "";

	for (ptr<task> t = l.first(); t; t = l.next(t))
		s = strbuf("%s%d", s.cstr(), t->id);
	return s;
}

static void
handles()
{
	{
		task_list l;
		task_queue q;

		for (int i = 0; i < 4; i++) {
			ptr<task> t = New refcounted<task>(i);

			l.insert_head(t);
			q.insert_tail(t);
		}
		FACT(task_ids(l) == "3210");
		FACT(task_ids(q) == "0123");

		ptr<task> two = q.next(q.next(q.first()));

		FACT_EQ(two->id, 2);
		FACT(l.remove(two) == two);
		FACT(task_ids(l) == "310");
		FACT_EQ(task::alive, 4);
		q.remove(two);
		two = NULL;
		FACT_EQ(task::alive, 3);
		q.clear();
		FACT(q.empty());
		FACT_EQ(task::alive, 3);
	}
	FACT_EQ(task::alive, 0);
	FACTS_END();
}

static void
leave(task_queue *q, ptr<task> t)
{
	if (t->id % 2 == 0)
		q->remove(t);
}

static void
handles_traverse()
{
	task_queue q;

	for (int i = 0; i < 6; i++)
		q.insert_tail(New refcounted<task>(i));
	q.traverse(wrap(leave, &q));
	FACT(task_ids(q) == "135");
	FACT_EQ(task::alive, 3);
	FACTS_END();
}

static void
handle_in_twice()
{
	task_list l;
	ptr<task> t = New refcounted<task>(1);

	l.insert_head(t);
	l.insert_head(t);
}

static void
handle_not_in()
{
	task_list l;

	l.remove(New refcounted<task>(1));
}

/* ---- with copies ---- */

static void
lengthen(str *s)
{
	*s = strbuf("%s!", s->cstr());
}

static void
owned_copies()
{
	qtailq_t<str> q;

	q.insert_tail("b");
	q.insert_tail("c");
	*q.insert_head("x") = "a";
	FACT_EQ(q.size(), 3);

	qtailq_t<str> same(q);

	q.traverse(wrap(lengthen));
	q.remove(q.next(q.first()));
	FACT(q.pop_head() == "a!");
	FACT(q.pop_head() == "c!");
	FACT(q.empty());
	FACT(same.size() == 3 && same.first()->value == "a");
	same = q;
	FACT(same.empty() && same.first() == NULL);
	FACTS_END();
}

static void
pop_of_nothing()
{
	qtailq_t<str> q;

	q.pop_head();
}

#define ABORTS(fn, prints) {#fn, fn, 1000 + SIGABRT, prints, 1}

static const struct fact facts[] = {
	CASE_ON(1, list_order),
	CASE_ON(1, tailq_order),
	CASE_ON(1, dllist_order),
	CASE_ON(1, traverse_removes),
	CASE_ON(1, traverse_deletes),
	CASE_ON(1, remove_of_no_member),
	CASE_ON(1, copy_is_not_linked),
	CASE_ON(1, random_as_vector),
	CASE_ON(1, handles),
	CASE_ON(1, handles_traverse),
	ABORTS(handle_in_twice, "inserted twice"),
	ABORTS(handle_not_in, "not in the container"),
	CASE_ON(1, owned_copies),
	ABORTS(pop_of_nothing, "queue is empty"),
};

FACTS_MAIN(facts)
