/* SPDX-License-Identifier: MIT */
/*
 * async_tree.cc: trees of dialect "async". Section 1.7 of the facts.
 */
#include "async.h"
#include "itree.h"
#include "rctree.h"

#include "async_dice.h"
#include "facts.h"

#include <map>
#include <vector>

struct node {
	static int alive;
	int key;
	int serial;
	itree_entry<node> link;

	explicit node(int k, int s = 0) : key(k), serial(s) { alive++; }
	node(const node &n) : key(n.key), serial(n.serial), link(n.link) { alive++; }
	~node() { alive--; }
};

int node::alive;

typedef itree<int, node, &node::key, &node::link> node_tree;

/* ---- the shape ---- */

/* The number of black elements on each path down; -1: not a red-black tree. */
static int
black_height(const node *n)
{
	if (n == NULL)
		return 0;

	const node *l = n->link.left(), *r = n->link.right();
	int lh = black_height(l), rh = black_height(r);
	bool red = n->link.color == melycompat::tree_red;

	if (lh < 0 || lh != rh)
		return -1;
	if ((l != NULL && l->link.up() != n) || (r != NULL && r->link.up() != n))
		return -1;
	if (red && l != NULL && l->link.color == melycompat::tree_red)
		return -1;
	if (red && r != NULL && r->link.color == melycompat::tree_red)
		return -1;
	return lh + !red;
}

static void
check_shape(const node_tree &t)
{
	FACT(t.root() == NULL || t.root()->link.up() == NULL);
	FACT(black_height(t.root()) >= 0);
}

/* ---- order ---- */

static void
order()
{
	node_tree t;

	FACT(t.first() == NULL && t.last() == NULL && t.root() == NULL);
	for (int i = 0; i < 100; i++)
		t.insert(New node(i * 37 % 100));
	check_shape(t);

	int k = 0;

	for (node *n = t.first(); n != NULL; n = t.next(n))
		FACT_EQ(n->key, k++);
	FACT_EQ(k, 100);
	for (node *n = t.last(); n != NULL; n = node_tree::prev(n))
		FACT_EQ(n->key, --k);
	FACT_EQ(k, 0);
	FACT_EQ(t[42]->key, 42);
	FACT(t[100] == NULL);
	t.deleteall();
	FACT(t.root() == NULL);
	FACT_EQ(node::alive, 0);
	FACTS_END();
}

/* Elements with equal keys keep the order of insertion; [] returns the first. */
static void
equal_keys()
{
	node_tree t;
	std::vector<node *> all;

	for (int i = 0; i < 200; i++) {
		all.push_back(New node(i % 3, i));
		t.insert(all.back());
	}
	for (int k = 0; k < 3; k++) {
		node *n = t[k];

		for (int i = k; i < 200; i += 3, n = t.next(n)) {
			FACT_EQ(n->key, k);
			FACT_EQ(n->serial, i);
		}
	}
	/* This still holds after some have been removed and inserted again. */
	t.remove(all[1]);
	FACT_EQ(t[1]->serial, 4);
	t.insert(all[1]);
	FACT_EQ(t.prev(t[2])->serial, 1);
	t.deleteall_correct();
	FACT_EQ(node::alive, 0);
	FACTS_END();
}

/* ---- walks ---- */

static void
drop_odd(node_tree *t, int *last, node *n)
{
	FACT(n->key > *last);
	*last = n->key;
	if (n->key % 2 != 0) {
		t->remove(n);
		delete n;
	}
}

static void
traverse_removes()
{
	node_tree t;
	int last = -1;

	for (int i = 0; i < 50; i++)
		t.insert(New node(i));
	t.traverse(wrap(drop_odd, &t, &last));
	FACT_EQ(last, 49);
	FACT_EQ(node::alive, 25);
	check_shape(t);
	for (node *n = t.first(), *next; n != NULL; n = next) {
		next = t.next(n);
		t.remove(n);
		delete n;
	}
	FACT(t.root() == NULL);
	FACTS_END();
}

static int
is_near(int k, const node *n)
{
	return k < n->key - 1 ? -1 : k > n->key + 1;
}

/* The first element for which the callback returns 0; its sign gives the direction of the
 * search. */
static void
search()
{
	node_tree t;

	for (int i = 0; i < 100; i += 10)
		t.insert(New node(i));
	FACT_EQ(t.search(wrap(is_near, 31))->key, 30);
	FACT_EQ(t.search(wrap(is_near, -1))->key, 0);
	FACT(t.search(wrap(is_near, 35)) == NULL);
	FACT(t.search(wrap(is_near, 1000)) == NULL);
	t.insert(New node(51));
	t.insert(New node(52));
	FACT_EQ(t.search(wrap(is_near, 51))->key, 50);
	t.deleteall();
	FACTS_END();
}

/* Each element is visited once, after its children. */
static void
postorder()
{
	for (int size = 0; size < 40; size++) {
		node_tree t;
		std::map<const node *, int> place;
		int n = 0;

		for (int i = 0; i < size; i++)
			t.insert(New node(i * 17 % 40));
		for (node *p = t.min_postorder(t.root()); p != NULL; p = t.next_postorder(p)) {
			FACT(place.find(p) == place.end());
			place[p] = ++n;
			FACT(t.left(p) == NULL || place[t.left(p)] != 0);
			FACT(t.right(p) == NULL || place[t.right(p)] != 0);
			FACT(t.up(p) == NULL || place.find(t.up(p)) == place.end());
		}
		FACT_EQ(n, size);
		t.deleteall();
	}
	FACTS_END();
}

/* ---- ownership of elements ---- */

struct self {
	int key;
	itree_entry<self> link;

	explicit self(int k) : key(k) {}
	~self();
};

static itree<int, self, &self::key, &self::link> selves;

self::~self()
{
	selves.remove(this);
}

/* A destructor may remove its object, even after deleteall has done so. */
static void
destructor_removes()
{
	for (int i = 0; i < 20; i++)
		selves.insert(New self(i));
	delete selves[7];
	FACT(selves[7] == NULL);
	FACT_EQ(selves.next(selves[6])->key, 8);
	selves.deleteall();
	FACT(selves.root() == NULL);
	FACTS_END();
}

static void
remove_of_no_member()
{
	node_tree t;
	node a(1), b(2), c(1);

	t.insert(&a);
	t.remove(&b);
	t.remove(&c);
	FACT(t.root() == &a);
	t.remove(&a);
	t.remove(&a);
	FACT(t.root() == NULL);
	t.insert(&a);

	node copy(a);

	t.remove(&copy);
	FACT(t[1] == &a);
	t.clear();
	FACT(t.first() == NULL);
	FACTS_END();
}

/* ---- other orders ---- */

struct downwards {
	downwards() {}
	int operator()(int a, int b) const { return a > b ? -1 : a < b; }
};

struct by_sum {
	by_sum() {}
	int
	operator()(const node &a, const node &b) const
	{
		int x = a.key + a.serial, y = b.key + b.serial;

		return x < y ? -1 : x > y;
	}
};

static void
other_orders()
{
	itree<int, node, &node::key, &node::link, downwards> t;
	itree_core<node, &node::link, by_sum> core;
	node a(1, 9), b(2, 0), c(3, 1);

	t.insert(&a);
	t.insert(&b);
	t.insert(&c);
	FACT(t.first() == &c && t.next(&c) == &b && t.last() == &a);
	FACT(t[2] == &b);
	t.remove(&a);
	t.remove(&b);
	t.remove(&c);
	core.insert(&a);
	core.insert(&b);
	core.insert(&c);
	FACT(core.first() == &b && core.next(&b) == &c && core.next(&c) == &a);
	FACTS_END();
}

/* ---- against std ---- */

static void
same_as(const node_tree &t, const std::multimap<int, int> &same)
{
	const node *n = t.first();

	for (std::multimap<int, int>::const_iterator i = same.begin(); i != same.end(); ++i) {
		FACT(n != NULL && n->key == i->first && n->serial == i->second);
		n = t.next(n);
	}
	FACT(n == NULL);
}

static void
random_as_multimap()
{
	for (unsigned long seed = 1; seed <= 10; seed++) {
		dice roll(seed);
		node_tree t;
		std::multimap<int, int> same;
		unsigned range = seed % 2 != 0 ? 20 : 1000;

		for (int i = 0; i < 3000; i++) {
			int k = int(roll(range));
			std::multimap<int, int>::iterator at = same.lower_bound(k);

			if (at == same.end() || roll(i % 1000 < 500 ? 3 : 2) != 0) {
				t.insert(New node(k, i));
				same.insert(std::make_pair(k, i));
			} else if (at->first == k) {
				node *n = t[k];

				FACT(n != NULL && n->serial == at->second);
				t.remove(n);
				delete n;
				same.erase(at);
			} else
				FACT(t[k] == NULL);
			check_shape(t);
			if (i % 50 == 0)
				same_as(t, same);
		}
		while (t.root() != NULL) {
			node *n = roll(2) != 0 ? t.root() : t.first();

			t.remove(n);
			delete n;
			check_shape(t);
		}
	}
	FACT_EQ(node::alive, 0);
	FACTS_END();
}

/* ---- with handles ---- */

struct task {
	static int alive;
	int id;
	rctree_entry_t<task> link;

	explicit task(int i) : id(i) { alive++; }
	~task() { alive--; }
};

int task::alive;

typedef rctree_t<int, task, &task::link> task_tree;

static void
collect(vec<int> *to, ptr<task> t)
{
	to->push_back(t->id);
}

static int
find_id(int id, ptr<task> t)
{
	return id < t->id ? -1 : id > t->id;
}

static void
handles()
{
	{
		task_tree t;
		vec<int> ids;

		FACT(!t.root() && !t.first() && !t.min_postorder(t.root()));
		for (int i = 0; i < 30; i++)
			t.insert(i % 10, New refcounted<task>(i));
		FACT_EQ(task::alive, 30);
		FACT_EQ(t[3]->id, 3);
		FACT(t[10] == NULL);
		t.remove(t[3]);
		FACT_EQ(t[3]->id, 13);
		FACT_EQ(task::alive, 29);
		t.traverse(wrap(collect, &ids));
		FACT(ids.size() == 29 && ids[0] == 0 && ids[1] == 10 && ids[2] == 20);

		const task_tree &same = t;
		ptr<const task> one = same[1];

		FACT_EQ(one->id, 1);
		FACT_EQ(t.next(t.first())->id, 10);
		FACT_EQ(t.prev(t.last())->id, 19);

		int n = 0;

		for (ptr<task> p = t.min_postorder(t.root()); p; p = t.next_postorder(p))
			n++;
		FACT_EQ(n, 29);
		t.deleteall();
		FACT_EQ(task::alive, 1);
		for (int i = 0; i < 9; i++)
			t.insert(i, New refcounted<task>(i));
		FACT_EQ(t.search(wrap(find_id, 5))->id, 5);
		FACT(t.up(t.root()) == NULL && t.left(t.root()) && t.right(t.root()));
	}
	FACT_EQ(task::alive, 0);
	FACTS_END();
}

static void
handle_in_twice()
{
	task_tree t;
	ptr<task> p = New refcounted<task>(1);

	t.insert(1, p);
	t.insert(2, p);
}

/* ---- the neighbours of a key ---- */

static void
bounds()
{
	node_tree t;

	FACT(t.lower_bound(5) == NULL && t.upper_bound(5) == NULL);
	for (int i = 0; i < 30; i++)
		t.insert(new node(10 * (i % 10), i));
	for (int k = -5; k < 100; k++) {
		node *low = t.lower_bound(k), *high = t.upper_bound(k);
		node *p = t.first();

		while (p != NULL && p->key < k)
			p = t.next(p);
		FACT(low == p);
		while (p != NULL && p->key == k)
			p = t.next(p);
		FACT(high == p);
		FACT(t[k] == (low == high ? NULL : low));
	}
	t.deleteall();
	FACTS_END();
}

#define ABORTS(fn, prints) {#fn, fn, 1000 + SIGABRT, prints, 1}

static const struct fact facts[] = {
	CASE_ON(1, order),
	CASE_ON(1, equal_keys),
	CASE_ON(1, traverse_removes),
	CASE_ON(1, search),
	CASE_ON(1, postorder),
	CASE_ON(1, destructor_removes),
	CASE_ON(1, remove_of_no_member),
	CASE_ON(1, other_orders),
	CASE_ON(1, random_as_multimap),
	CASE_ON(1, bounds),
	CASE_ON(1, handles),
	ABORTS(handle_in_twice, "inserted twice"),
};

FACTS_MAIN(facts)
