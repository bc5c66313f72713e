/* SPDX-License-Identifier: MIT */
/*
 * async_qhash.cc: hash tables and sets of dialect "async" that own their contents. Section 1.7 of
 * the facts.
 */
#include "async.h"
#include "qhash.h"

#include "async_dice.h"
#include "facts.h"

#include <map>
#include <string>

static void
owns_values()
{
	qhash<str, int> t;
	int v = -1;

	FACT(t["a"] == NULL);
	t.insert("a", 1);
	t.insert("b", 2);
	FACT_EQ(*t["a"], 1);
	t.insert("a", 3);
	FACT_EQ(*t["a"], 3);
	FACT_EQ(t.size(), 2);
	++*t["a"];
	t.insert("d");

	const qhash<str, int> &same = t;
	const int *p = same["a"];

	FACT(*p == 4 && same["c"] == NULL);
	FACT(t.remove("a", &v) && v == 4);
	FACT(!t.remove("a", &v) && v == 4);
	t.remove("b");
	t.remove("b");
	FACT(t["b"] == NULL && *t["d"] == 0);
	t.clear();
	FACT_EQ(t.size(), 0);
	t.insert("a", 5);
	FACT_EQ(*t["a"], 5);
	FACTS_END();
}

/* The lookup of a counted reference returns a new handle. */
static void
values_are_handles()
{
	qhash<str, ref<vec<str> > > lists;
	qhash<int, ptr<vec<str> > > perhaps;
	ref<vec<str> > one = New refcounted<vec<str> >();

	one->push_back("x");
	lists.insert("one", one);

	ptr<vec<str> > p = lists["one"];

	FACT(p == one && lists["two"] == NULL);
	lists.remove("one");
	FACT(p->front() == "x");

	const qhash<str, ref<vec<str> > > &same = lists;
	ptr<const vec<str> > none = same["one"];

	FACT(!none);
	perhaps.insert(1, p);
	perhaps.insert(2, NULL);
	FACT(*perhaps[1] == p && !*perhaps[2] && perhaps[3] == NULL);
	if (ptr<vec<str> > *q = perhaps[1])
		FACT((*q)->size() == 1);
	FACTS_END();
}

static void
add(int *sum, const str &k, int *v)
{
	*sum += *v + int(k.len());
	*v = 0;
}

static void
drop(qhash<int, int> *t, const int &k, int *v)
{
	FACT_EQ(*v, k * k);
	if (k % 2 == 0)
		t->remove(k);
}

static void
traverse_values()
{
	qhash<str, int> t;
	qhash<int, int> squares;
	int sum = 0;

	t.insert("a", 1);
	t.insert("bb", 10);
	t.insert("ccc", 100);
	t.traverse(wrap(add, &sum));
	FACT_EQ(sum, 117);
	FACT_EQ(*t["ccc"], 0);
	for (int i = 0; i < 100; i++)
		squares.insert(i, i * i);
	squares.traverse(wrap(drop, &squares));
	FACT_EQ(squares.size(), 50);
	FACTS_END();
}

static void
iterators()
{
	qhash<int, str> t;
	const qhash<int, str> &same = t;
	qhash_const_iterator_t<int, str> none(same);
	int sum = 0, n = 0;
	const int *k;
	str v;

	FACT(none.next() == NULL);
	for (int i = 0; i < 40; i++)
		t.insert(i, strbuf("%d", i));

	qhash_iterator_t<int, str> it(t);

	while ((k = it.next(&v)) != NULL) {
		FACT(v == str(strbuf("%d", *k)));
		sum += *k;
		if (*k % 2 == 0)
			t.remove(*k);
	}
	FACT_EQ(sum, 780);
	FACT(it.next() == NULL);
	FACT_EQ(t.size(), 20);
	it.reset();
	while (it.next() != NULL)
		n++;
	FACT_EQ(n, 20);
	FACTS_END();
}

static void
copies()
{
	qhash<str, int> t;

	t.insert("a", 1);
	t.insert("b", 2);

	qhash<str, int> same(t), other;

	other.insert("c", 3);
	*t["a"] = 9;
	FACT(*same["a"] == 1 && *same["b"] == 2 && same.size() == 2);
	other = t;
	FACT(*other["a"] == 9 && other["c"] == NULL && other.size() == 2);
	const qhash<str, int> &itself = other;
	other = itself;
	FACT_EQ(other.size(), 2);
	other.insert("d", 4);
	FACT(*other["d"] == 4 && t["d"] == NULL);
	FACTS_END();
}

static void
collect(vec<str> *to, const str &k)
{
	to->push_back(k);
}

static void
sets()
{
	bhash<str> s;
	vec<str> keys;

	FACT(s.insert("a"));
	FACT(s.insert("b"));
	FACT(!s.insert("a"));
	FACT_EQ(s.size(), 2);
	s.traverse(wrap(collect, &keys));
	FACT(keys.size() == 2 && keys[0] != keys[1]);

	const bhash<str> same(s);
	bhash_const_iterator_t<str> it(same);
	int n = 0;

	while (it.next() != NULL)
		n++;
	FACT_EQ(n, 2);
	s.remove("a");
	s.remove("a");
	FACT(!s["a"] && s["b"] && same["a"] && !same["c"]);
	s = same;
	FACT(s["a"]);
	s.clear();
	FACT(!s["a"] && s.size() == 0);
	FACTS_END();
}

static void
random_as_map()
{
	for (unsigned long seed = 1; seed <= 10; seed++) {
		dice roll(seed);
		qhash<u_int64_t, str> t;
		std::map<u_int64_t, std::string> same;

		for (int i = 0; i < 5000; i++) {
			/* Includes keys that differ only in bits that the hash ignores. */
			u_int64_t k = (u_int64_t(roll(3)) << 32) + roll(300);
			std::map<u_int64_t, std::string>::iterator at = same.find(k);
			str *v = t[k];

			FACT((v != NULL) == (at != same.end()));
			if (v != NULL)
				FACT(*v == at->second.c_str());
			if (roll(3) == 0) {
				t.remove(k);
				same.erase(k);
			} else {
				char text[16];

				sprintf(text, "%d", i);
				t.insert(k, text);
				same[k] = text;
			}
			FACT_EQ(t.size(), same.size());
		}

		qhash_iterator_t<u_int64_t, str> it(t);
		size_t n = 0;
		str v;

		for (const u_int64_t *k; (k = it.next(&v)) != NULL; n++)
			FACT(v == same[*k].c_str());
		FACT_EQ(n, same.size());
	}
	FACTS_END();
}

static const struct fact facts[] = {
	CASE_ON(1, owns_values),
	CASE_ON(1, values_are_handles),
	CASE_ON(1, traverse_values),
	CASE_ON(1, iterators),
	CASE_ON(1, copies),
	CASE_ON(1, sets),
	CASE_ON(1, random_as_map),
};

FACTS_MAIN(facts)
