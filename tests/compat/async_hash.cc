/* SPDX-License-Identifier: MIT */
/*
 * async_hash.cc: hash tables of dialect "async" whose elements carry their links, and their use of
 * keys. Section 1.7 of the facts.
 */
#include "async.h"
#include "ihash.h"
#include "keyfunc.h"
#include "qhash.h"

#include "async_dice.h"
#include "facts.h"

#include <map>
#include <set>
#include <string>

struct based {
	int number;
};

struct user : based {
	static int alive;
	const str name;
	int serial;
	ihash_entry<user> link;
	ihash_entry<user> nlink;
	ihash_entry<user> flink;
	ihash_entry<user> link2;

	user(const str &n, int s, int num = 0) : name(n), serial(s)
	{
		number = num;
		alive++;
	}
	~user() { alive--; }
	const str &key() const { return name; }
};

int user::alive;

typedef ihash<const str, user, &user::name, &user::link> name_table;
typedef ihash2<int, const str, user, &user::serial, &user::name, &user::link2> two_table;

/* ---- keys ---- */

static void
hashes()
{
	FACT_EQ(int(HASHSEED), 5381);
	FACT_EQ(hash_bytes("", 0), 5381);
	FACT_EQ(hash_bytes("a", 1), (5381u * 33) ^ 'a');
	FACT_EQ(hash_bytes("ab", 2), (((5381u * 33) ^ 'a') * 33) ^ 'b');
	FACT_EQ(hash_bytes("\xff", 1), (5381u * 33) ^ 255);
	FACT_EQ(hash_bytes("b", 1, hash_bytes("a", 1)), hash_string("ab"));
	FACT_EQ(hash_string("b", hash_string("a")), hash_string("ab"));
	FACT_EQ(sizeof(hash_t), 4);
	FACT_EQ(hashfn<int>()(7), 7);
	FACT_EQ(hashfn<unsigned short>()(65535), 65535);
	FACT_EQ(hashfn<u_int64_t>()((u_int64_t(5) << 32) + 3), 3);
	FACT_EQ(hashfn<const int>()(-1), 0xffffffffl);
	FACT_EQ(hashfn<str>()(str("ab")), hash_string("ab"));
	FACT_EQ(hashfn<const str>()(str("a\0b", 3)), hash_bytes("a\0b", 3));
	FACT_EQ(hashfn<const char *>()("ab"), hash_string("ab"));
	FACT_EQ(hashfn<char *>()(const_cast<char *>("ab")), hash_string("ab"));
	FACTS_END();
}

/* A hash is of a type of its own, and converts both ways. */
class hash_t;

static int
kind(hash_t)
{
	return 1;
}

static int
kind(u_int32_t)
{
	return 2;
}

struct program_and_version {
	u_int32_t program, version;

	operator hash_t() const { return program | hash_rotate(version, 20); }
};

static void
hash_values()
{
	program_and_version pv = {5, 0x1001};
	hash_t h = 7;

	FACT(kind(h) == 1 && kind(7u) == 2 && kind(hashfn<int>()(1)) == 1);
	FACT(kind(hash_string("a")) == 2);
	h = hash_bytes("b", 1, hash_t(hash_string("a")));
	FACT(h == hash_string("ab") && h % 10 == hash_string("ab") % 10);
	FACT(hashfn<program_and_version>()(pv) == 0x100005u);
	FACT(hash_rotate(0x80000001u, 1) == 3 && hash_rotate(1, 31) == 0x80000000u);
	FACT(hash_rotate(6, 0) == 6 && hash_rotate(6, 32) == 6 && hash_rotate(6, 33) == 12);
	FACT(str(strbuf() << hash_t(12)) == "12");
	FACTS_END();
}

static void
comparisons()
{
	char text[] = "same";
	compare<int> number;
	compare<const str> string;
	compare<const char *> pointer;

	FACT(number(1, 2) < 0 && number(2, 1) > 0 && number(2, 2) == 0);
	FACT(string("a", "b") < 0 && string("b", "a") > 0 && string("b", "b") == 0);
	FACT(pointer("a", "b") < 0 && pointer("b", "a") > 0 && pointer(text, "same") == 0);
	FACT(equals<int>()(3, 3) && !equals<int>()(3, 4));
	FACT(equals<const str>()("x", "x") && !equals<str>()("x", "y"));
	FACT(equals<char *>()(text, const_cast<char *>("same")));
	FACT(equals<const char *>()(text, "same") && !equals<const char *>()(text, "other"));
	FACTS_END();
}

static void
addresses()
{
	qhash<in_addr, int> hosts;
	in_addr a, b;

	a.s_addr = inet_addr("127.0.0.1");
	b.s_addr = inet_addr("127.0.0.2");
	hosts.insert(a, 1);
	FACT_EQ(*hosts[a], 1);
	FACT(hosts[b] == NULL);
	FACTS_END();
}

/* ---- by members ---- */

static void
by_member()
{
	name_table t;

	FACT(t["a"] == NULL && t.first() == NULL);
	FACT_EQ(t.size(), 0);
	for (int i = 0; i < 100; i++)
		t.insert(New user(strbuf("u%d", i), i));
	FACT_EQ(t.size(), 100);
	FACT_EQ(t["u42"]->serial, 42);
	FACT(t["u100"] == NULL);

	user *u = t["u42"];

	t.remove(u);
	FACT(t["u42"] == NULL);
	FACT_EQ(t.size(), 99);
	delete u;
	t.deleteall();
	FACT_EQ(t.size(), 0);
	FACT_EQ(user::alive, 0);
	t.insert(New user("again", 1));
	FACT(t.first() == t["again"] && t.next(t.first()) == NULL);
	t.deleteall();
	FACTS_END();
}

/* Several elements with one key: all are found, in one order whatever the size of the table. */
static void
equal_keys()
{
	name_table t;

	for (int i = 0; i < 300; i++)
		t.insert(New user(i % 3 == 0 ? str("same") : str(strbuf("u%d", i)), i));

	int n = 0, last = 300;

	for (user *u = t["same"]; u != NULL; u = t.nextkeq(u)) {
		FACT(u->name == "same");
		FACT(u->serial < last);
		last = u->serial;
		n++;
	}
	FACT_EQ(n, 100);
	t.deleteall();
	FACTS_END();
}

static void
by_other_keys()
{
	shash<int, user, based, &based::number, &user::nlink> numbers;
	ishash<int, user, based, &based::number, &user::link> same;
	fhash<str, user, &user::flink> names;
	two_table pairs;
	user a("ann", 1, 10), b("bob", 2, 20), c("ann", 2, 30);
	user *all[] = {&a, &b, &c};

	for (int i = 0; i < 3; i++) {
		numbers.insert(all[i]);
		same.insert(all[i]);
		names.insert(all[i]);
		pairs.insert(all[i]);
	}
	FACT(numbers[10] == &a && numbers[30] == &c && numbers[11] == NULL);
	FACT(same[20] == &b);
	FACT(names["bob"] == &b);
	FACT(names.nextkeq(names["ann"]) != NULL);
	FACT(pairs(1, "ann") == &a && pairs(2, "ann") == &c && pairs(2, "bob") == &b);
	FACT(pairs(1, "bob") == NULL);
	FACT(pairs.nextkeq(&a) == NULL);
	pairs.remove(&a);
	FACT(pairs(1, "ann") == NULL);
	FACT_EQ(pairs.size(), 2);
	FACTS_END();
}

struct no_case_equal {
	no_case_equal() {}
	bool operator()(const str &a, const str &b) const { return strcasecmp(a, b) == 0; }
};

struct no_case_hash {
	no_case_hash() {}
	hash_t operator()(const str &s) const { return hash_t(tolower(s[0])); }
};

static void
other_functions()
{
	ihash<const str, user, &user::name, &user::link, no_case_hash, no_case_equal> t;
	qhash<str, int, no_case_hash, no_case_equal> q;
	user a("Ann", 1), b("arthur", 2);

	t.insert(&a);
	t.insert(&b);
	FACT(t["ANN"] == &a && t["ARTHUR"] == &b && t["andy"] == NULL);
	q.insert("x", 1);
	q.insert("X", 2);
	FACT_EQ(q.size(), 1);
	FACT_EQ(*q["x"], 2);
	FACTS_END();
}

/* ---- walks ---- */

static void
drop_even(name_table *t, user *u)
{
	if (u->serial % 2 == 0) {
		t->remove(u);
		delete u;
	}
}

static void
delete_it(user *u)
{
	delete u;
}

static void
walks()
{
	std::set<int> seen;

	{
		name_table t;

		for (int i = 0; i < 50; i++)
			t.insert(New user(strbuf("u%d", i), i));
		for (user *u = t.first(); u != NULL; u = t.next(u))
			FACT(seen.insert(u->serial).second);
		FACT_EQ(seen.size(), 50);
		t.traverse(wrap(drop_even, &t));
		FACT_EQ(t.size(), 25);
		FACT_EQ(user::alive, 25);
		for (user *u = t.first(), *next; u != NULL; u = next) {
			next = t.next(u);
			FACT(u->serial % 2 == 1);
			t.remove(u);
			delete u;
		}
		FACT_EQ(t.size(), 0);
		for (int i = 0; i < 50; i++)
			t.insert(New user(strbuf("u%d", i), i));
		/* Like a destructor that frees all elements and then drops the table. */
		t.traverse(wrap(delete_it));
		FACT_EQ(user::alive, 0);
	}
	FACTS_END();
}

struct self;
static void forget(self *s);

struct self {
	int key;
	ihash_entry<self> link;

	explicit self(int k) : key(k) {}
	~self() { forget(this); }
};

static ihash<int, self, &self::key, &self::link> selves;

static void
forget(self *s)
{
	selves.remove(s);
}

static void
destructor_removes()
{
	for (int i = 0; i < 50; i++)
		selves.insert(New self(i));
	delete selves[7];
	FACT(selves[7] == NULL);
	FACT_EQ(selves.size(), 49);
	selves.deleteall();
	FACT_EQ(selves.size(), 0);
	FACTS_END();
}

static void
remove_of_no_member()
{
	name_table t;
	user a("a", 1), b("b", 2);

	t.insert(&a);
	t.remove(&b);

	user copy(a);

	t.remove(&copy);
	FACT(t.size() == 1 && t["a"] == &a);
	t.remove(&a);
	t.remove(&a);
	FACT_EQ(t.size(), 0);
	t.insert(&a);
	t.clear();
	FACT(t.size() == 0 && t["a"] == NULL);
	user::alive++; /* for the copy, which no counting constructor created */
	FACTS_END();
}

/* ---- against std ---- */

static void
random_as_multimap()
{
	for (unsigned long seed = 1; seed <= 10; seed++) {
		dice roll(seed);
		name_table t;
		std::multimap<std::string, user *> same;

		for (int i = 0; i < 4000; i++) {
			char text[16];

			sprintf(text, "%u", roll(seed % 2 != 0 ? 50 : 3000));
			FACT_EQ(t.size(), same.size());
			if (roll(i % 2000 < 1000 ? 4 : 2) != 0) {
				user *u = New user(text, i);

				t.insert(u);
				same.insert(std::make_pair(std::string(text), u));
				continue;
			}

			std::multimap<std::string, user *>::iterator at = same.find(text);
			size_t n = 0;

			for (user *u = t[text]; u != NULL; u = t.nextkeq(u))
				n++;
			FACT_EQ(n, same.count(text));
			if (at != same.end()) {
				t.remove(at->second);
				delete at->second;
				same.erase(at);
			}
		}

		std::set<user *> left;

		for (user *u = t.first(); u != NULL; u = t.next(u))
			FACT(left.insert(u).second);
		FACT_EQ(left.size(), same.size());
		t.deleteall();
	}
	FACT_EQ(user::alive, 0);
	FACTS_END();
}

/* The element returned last may leave the table. */
static void
iterators()
{
	name_table t;
	typedef ihash_iterator_t<user, name_table> iterator;
	std::set<str> names;

	FACT(iterator(t).next() == NULL);
	for (int i = 0; i < 20; i++)
		t.insert(new user(strbuf("n%d", i), i));
	iterator it(t);
	while (user *u = it.next()) {
		FACT(names.insert(u->name).second);
		t.remove(u);
		delete u;
	}
	FACT(it.next() == NULL && names.size() == 20 && t.size() == 0);
	FACTS_END();
}

static const struct fact facts[] = {
	CASE_ON(1, hashes),
	CASE_ON(1, hash_values),
	CASE_ON(1, comparisons),
	CASE_ON(1, addresses),
	CASE_ON(1, by_member),
	CASE_ON(1, equal_keys),
	CASE_ON(1, by_other_keys),
	CASE_ON(1, other_functions),
	CASE_ON(1, walks),
	CASE_ON(1, destructor_removes),
	CASE_ON(1, remove_of_no_member),
	CASE_ON(1, random_as_multimap),
	CASE_ON(1, iterators),
};

FACTS_MAIN(facts)
