/* SPDX-License-Identifier: MIT */
/*
 * async_vec.cc: vectors and arrays of dialect "async". Section 1.7 of the facts.
 */
#define CHECK_BOUNDS 1
#include "async.h"

#include "async_dice.h"
#include "facts.h"
#include "itree.h"
#include "qhash.h"

#include <deque>
#include <string>

/* A program may specialise it here, since the headers do not use vec<int>. */
template <> struct vec_obj_id_t<int> {
	vec_obj_id_t() {}
	int operator()() const { return 77; }
};

/* An object that counts its instances and records how it was constructed. */
struct item {
	static int alive, copies;
	int value;

	item() : value(-1) { alive++; }
	item(int v) : value(v) { alive++; }
	item(int a, int b) : value(10 * a + b) { alive++; }
	item(const item &i) : value(i.value)
	{
		alive++;
		copies++;
	}
	~item() { alive--; }
	item &
	operator=(const item &i)
	{
		value = i.value;
		return *this;
	}
};

int item::alive, item::copies;

/* ---- elements ---- */

static void
both_ends()
{
	vec<str> v;

	FACT(v.empty());
	FACT_EQ(v.size(), 0);
	v.push_back("b");
	v.push_back() = "c";
	v.push_back("d");
	v.front() = "a";
	v.back() = "e";
	FACT_EQ(v.size(), 3);
	FACT(v[0] == "a" && v[1] == "c" && v[2] == "e");

	/* Returned by value: it outlives the element. */
	str last = v.pop_back();
	str first = v.pop_front();

	FACT(last == "e" && first == "a");
	FACT_EQ(v.size(), 1);
	FACT(v.front() == "c" && v.back() == "c");
	FACTS_END();
}

static void
drop_some()
{
	vec<item> v;

	for (int i = 0; i < 10; i++)
		v.push_back(i);
	v.popn_front(3);
	v.popn_back(2);
	FACT_EQ(v.size(), 5);
	FACT_EQ(v.front().value, 3);
	FACT_EQ(v.back().value, 7);
	FACT_EQ(item::alive, 5);
	v.popn_front(0);
	v.popn_back(5);
	FACT(v.empty());
	FACT_EQ(item::alive, 0);
	FACTS_END();
}

static void
pointers()
{
	vec<int> v;
	const vec<int> &same = v;
	int sum = 0;

	for (int i = 1; i <= 4; i++)
		v.push_back(i);
	for (int *p = v.base(); p < v.lim(); p++)
		*p *= 10;
	for (const int *p = same.base(); p < same.lim(); p++)
		sum += *p;
	for (vec<int>::const_iterator p = same.begin(); p != same.end(); ++p)
		sum += *p;
	for (vec<int>::iterator p = v.begin(); p != v.end(); ++p)
		sum += *p;
	FACT_EQ(sum, 300);
	FACT_EQ(same[2], 30);
	FACT_EQ(same.front() + same.back(), 50);
	FACTS_END();
}

static void
set_size()
{
	vec<item> v;

	v.setsize(5);
	FACT_EQ(v.size(), 5);
	FACT_EQ(v[4].value, -1);
	v[1] = item(8);
	v.setsize(2);
	FACT_EQ(item::alive, 2);
	v.setsize(3);
	FACT(v[1].value == 8 && v[2].value == -1);
	v.clear();
	FACT(v.empty());
	FACT_EQ(item::alive, 0);
	FACTS_END();
}

static void
emplace()
{
	vec<item> v;
	item &made = v.emplace_back(4, 2);

	FACT_EQ(made.value, 42);
	v.emplace_back(7);
	v.emplace_back();
	FACT(v[1].value == 7 && v[2].value == -1);
	FACTS_END();
}

/* ---- room ---- */

static void
reserve_means_more()
{
	vec<int> v;

	for (int i = 0; i < 5; i++)
		v.push_back(i);
	v.reserve(100);

	const int *base = v.base();

	for (int i = 0; i < 100; i++)
		v.push_back(i);
	FACT(v.base() == base);
	FACT_EQ(v.size(), 105);
	FACTS_END();
}

static void
growth_copies()
{
	{
		vec<item> v;

		for (int i = 0; i < 1000; i++)
			v.push_back(i);
		FACT_EQ(item::alive, 1000);
		FACT(item::copies > 1000);
		for (int i = 0; i < 1000; i++)
			FACT_EQ(v[i].value, i);
	}
	FACT_EQ(item::alive, 0);
	FACTS_END();
}

static void
inline_slots()
{
	vec<item, 4> v;
	const char *begin = reinterpret_cast<const char *>(&v);
	const char *end = begin + sizeof v;

	for (int i = 0; i < 4; i++)
		v.push_back(i);

	const char *at = reinterpret_cast<const char *>(v.base());

	FACT(at >= begin && at < end);
	FACT_EQ(item::copies, 4);
	v.push_back(4);
	at = reinterpret_cast<const char *>(v.base());
	FACT(at < begin || at >= end);
	for (int i = 0; i < 5; i++)
		FACT_EQ(v[i].value, i);
	v.clear();
	v.push_back(9);
	at = reinterpret_cast<const char *>(v.base());
	FACT(at >= begin && at < end);
	FACTS_END();
}

/* The memory of elements removed at the front is used again. */
static void
queue_stays()
{
	vec<int> v;
	const int *last = 0;
	int moves = 0;

	for (int i = 0; i < 100000; i++) {
		v.push_back(i);
		if (i >= 10)
			FACT_EQ(v.pop_front(), i - 10);
		moves += last != 0 && v.base() != last + 1;
		last = v.base();
	}
	FACT(moves < 50000);
	FACT_EQ(v.size(), 10);
	FACTS_END();
}

struct resizer : vec_resizer_t {
	static int calls, gone;
	u_int nalloc, nwanted;
	int objid;

	~resizer() { gone++; }
	size_t
	resize(u_int have, u_int want, int id)
	{
		calls++;
		nalloc = have;
		nwanted = want;
		objid = id;
		return 3 * want;
	}
};

int resizer::calls, resizer::gone;

static void
growth_hook()
{
	resizer *mine = New resizer();
	vec<int> v;
	vec<str> s;

	FACT_EQ(vec_resize_fn(0, 1, 0), 2);
	FACT_EQ(vec_resize_fn(2, 3, 0), 4);
	FACT_EQ(vec_resize_fn(8, 9, 0), 16);
	FACT_EQ(vec_resize_fn(8, 5, 0), 16);
	set_vec_resizer(mine);
	v.push_back(1);
	FACT_EQ(resizer::calls, 1);
	FACT(mine->nalloc == 0 && mine->nwanted == 1 && mine->objid == 77);
	v.push_back(2);
	v.push_back(3);
	FACT_EQ(resizer::calls, 1);
	v.push_back(4);
	FACT_EQ(resizer::calls, 2);
	FACT(mine->nalloc == 3 && mine->nwanted == 4);
	s.push_back("x");
	FACT_EQ(mine->objid, 0);
	set_vec_resizer(NULL);
	FACT_EQ(resizer::gone, 1);
	FACT_EQ(vec_resize_fn(0, 1, 0), 2);
	FACTS_END();
}

struct stingy : vec_resizer_t {
	size_t resize(u_int, u_int, int) { return 0; }
};

static void
growth_is_enough()
{
	vec<int> v;

	set_vec_resizer(New stingy());
	for (int i = 0; i < 100; i++)
		v.push_back(i);
	for (int i = 99; i >= 0; i--)
		FACT_EQ(v.pop_back(), i);
	set_vec_resizer(NULL);
	FACTS_END();
}

/* ---- as a whole ---- */

static void
copies()
{
	vec<item> v;
	vec<item, 2> small;

	v.push_back(1);
	v.push_back(2);
	v.push_back(3);

	vec<item> same(v);
	vec<item, 8> other(v);

	small = v;
	v[0] = 9;
	FACT(same[0].value == 1 && other[0].value == 1 && small[0].value == 1);
	FACT(same.size() == 3 && other.size() == 3 && small.size() == 3);
	same = v;
	FACT_EQ(same[0].value, 9);
	const vec<item> &itself = same;
	same = itself;
	FACT_EQ(same.size(), 3);
	same += small;
	FACT(same.size() == 6 && same[5].value == 3);
	same += same;
	FACT(same.size() == 12 && same[6].value == 9 && same[11].value == 3);
	FACTS_END();
}

static void
push_own_element()
{
	vec<str> v;

	v.push_back("x");
	for (int i = 0; i < 100; i++)
		v.push_back(v[0]);
	FACT_EQ(v.size(), 101);
	FACT(v.back() == "x");
	FACTS_END();
}

template <size_t N> static void
check_swap()
{
	vec<item, N> a, b;

	for (int i = 0; i < 5; i++)
		a.push_back(i);
	b.push_back(7);
	a.swap(b);
	FACT(a.size() == 1 && a[0].value == 7);
	FACT(b.size() == 5 && b[4].value == 4);
	b.reverse();
	for (int i = 0; i < 5; i++)
		FACT_EQ(b[i].value, 4 - i);
	a.reverse();
	a.clear();
	a.reverse();
	FACT(a.empty());
}

static void
swap_and_reverse()
{
	check_swap<0>();
	check_swap<2>();
	check_swap<8>();
	FACT_EQ(item::alive, 0);
	FACTS_END();
}

static void
random_as_deque()
{
	for (unsigned long seed = 1; seed <= 20; seed++) {
		dice roll(seed);
		vec<str, 3> v;
		std::deque<std::string> same;

		for (int i = 0; i < 3000; i++) {
			char text[16];
			unsigned n = roll(4);

			sprintf(text, "%u", roll(1000));
			switch (roll(7)) {
			case 0:
			case 1:
			case 2:
				v.push_back(text);
				same.push_back(text);
				break;
			case 3:
				if (!same.empty()) {
					FACT(v.pop_front() == same.front().c_str());
					same.pop_front();
				}
				break;
			case 4:
				if (!same.empty()) {
					FACT(v.pop_back() == same.back().c_str());
					same.pop_back();
				}
				break;
			case 5:
				v.reserve(n);
				break;
			default:
				if (same.size() >= n) {
					v.popn_front(n);
					same.erase(same.begin(), same.begin() + n);
				}
			}
			FACT_EQ(v.size(), same.size());
			for (size_t j = 0; j < same.size(); j++)
				FACT(v[j] == same[j].c_str());
		}
	}
	FACTS_END();
}

/* ---- arrays ---- */

static void
array_elements()
{
	vec<int[3]> v;

	for (int i = 0; i < 20; i++) {
		v.push_back();
		v.back()[0] = i;
		v.back()[2] = -i;
	}
	for (int i = 0; i < 20; i++)
		FACT(v[i][0] == i && v[i][2] == -i);

	array<int, 3> last = v.pop_back();

	FACT_EQ(last[0], 19);
	v.push_back(last);
	FACT_EQ(v.back()[2], -19);
	FACTS_END();
}

static array<char, 8>
text_of(const char *p)
{
	array<char, 8> a = {{0}};

	strncpy(a.base(), p, a.size() - 1);
	return a;
}

static void
array_values()
{
	array<char, 8> a = text_of("one"), b = a;
	toarray(char[8]) c = text_of("two");
	toarray(int) plain = 3;
	array<int[2], 3> table;

	b[0] = 'O';
	FACT(strcmp(a.base(), "one") == 0 && strcmp(b.base(), "One") == 0);
	a = c;
	FACT(strcmp(a.base(), "two") == 0);
	FACT_EQ(plain, 3);
	table[2][1] = 5;
	array<int[2], 3> same = table;
	FACT_EQ(same[2][1], 5);
	FACT_EQ(sizeof table, 6 * sizeof(int));
	FACT_EQ(a.lim() - a.base(), 8);
	FACTS_END();
}

/* ---- misuse ---- */

static void
pop_of_nothing()
{
	vec<int> v;

	v.pop_front();
}

static void
front_of_nothing()
{
	vec<int, 4> v;

	v.front() = 1;
}

static void
drop_too_many()
{
	vec<int> v;

	v.push_back(1);
	v.popn_front(2);
}

static void
index_past_end()
{
	vec<int> v;

	v.push_back(1);
	v[1] = 2;
}

static void
array_index_past_end()
{
	array<int, 3> a = {{1, 2, 3}};
	volatile size_t three = 3;

	a[three] = 2;
}

#define ABORTS(fn, prints) {#fn, fn, 1000 + SIGABRT, prints, 1}

static const struct fact facts[] = {
	CASE_ON(1, both_ends),
	CASE_ON(1, drop_some),
	CASE_ON(1, pointers),
	CASE_ON(1, set_size),
	CASE_ON(1, emplace),
	CASE_ON(1, reserve_means_more),
	CASE_ON(1, growth_copies),
	CASE_ON(1, inline_slots),
	CASE_ON(1, queue_stays),
	CASE_ON(1, growth_hook),
	CASE_ON(1, growth_is_enough),
	CASE_ON(1, copies),
	CASE_ON(1, push_own_element),
	CASE_ON(1, swap_and_reverse),
	CASE_ON(1, random_as_deque),
	CASE_ON(1, array_elements),
	CASE_ON(1, array_values),
	ABORTS(pop_of_nothing, "too few elements"),
	ABORTS(front_of_nothing, "too few elements"),
	ABORTS(drop_too_many, "too few elements"),
	ABORTS(index_past_end, "index out of range"),
	ABORTS(array_index_past_end, "index out of range"),
};

FACTS_MAIN(facts)
