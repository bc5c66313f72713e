/* SPDX-License-Identifier: MIT */
/*
 * async_rxx.cc: regular expressions of dialect "async". Section 1.8 of the facts.
 */
#include "rxx.h"

#include "facts.h"

/* ---- searching ---- */

static void
groups()
{
	str s("key = value;");
	rxx x("(\\w+) = (\\w+)(!)?(;)");

	FACT(x.search(s));
	FACT(x[0] == "key = value;" && x[1] == "key" && x.at(2) == "value" && x[4] == ";");
	FACT(!x[3] && x[3] == NULL && !x.at(5) && !x[-1]);
	FACT_EQ(x.start(2), 6);
	FACT_EQ(x.end(2), 11);
	FACT_EQ(x.len(2), 5);
	FACT_EQ(x.start(3), -1);
	FACT_EQ(x.end(3), -1);
	FACT_EQ(x.len(3), -1);
	FACT_EQ(x.len(5), -1);
	FACT(x.success() && x.success(2) && !x.success(3) && !x.success(5));
	FACTS_END();
}

static bool
finds(str s, rxx &x)
{
	return s / x;
}

static void
slash()
{
	str s("foobar");
	rxx x("o(.)a");

	FACT(s / x);
	FACT(x[1] == "b");
	FACT(!("foo" / x) && !x.success() && !x[0] && !x[1]);
	bool yes = s / x;
	FACT(yes && finds(s, x) && !finds("", x));
	if (s / x && x[1] == "b")
		FACTS_END();
}

static void
slash_literal()
{
	str s("foobar");

	FACT(s / "o+b");
	FACT(!(s / "^bar"));
	FACT((s / "o(.)a")[1] == "b");
	rxx found = s / "b(.*)";
	FACT(found[1] == "ar" && found.start(0) == 3);
	rrxx general = s / rxx("f(.)");
	FACT(general[1] == "o");
	FACTS_END();
}

static void
match_spans()
{
	rxx x("[a-c]+");

	FACT(x.match("abc") && x[0] == "abc");
	FACT(!x.match("abcd") && !x.match("dabc") && !x.match("abc\n"));
	FACT(x.search("dabcd") && x[0] == "abc");
	/* The first match of the expression decides. */
	rxx either("a|ab"), lazy("(.*?)(b?)");
	FACT(!either.match("ab") && !either.success() && !either[0] && either.match("a"));
	FACT(!either.match_cstr("ab", 2) && either.match_cstr("ab", 1));
	FACT(rxx("ab|a").match("ab") && rxx("(?:a|ab)$").match("ab"));
	FACT(!lazy.match("ab") && lazy.match("b") && lazy[2] == "b");
	rxx dollar("abc$");
	FACT(!dollar.match("abc\n") && dollar.search("abc\n"));
	FACTS_END();
}

static void
as_programs_write_it()
{
	static rxx trim("[ \t]*(.*?)[ \t]*$");
	static rxx address("(\\d+(?:\\.\\d+){3})(/\\d+)?");
	static rxx member("(\\A|;)wheel(\\Z|;)");

	FACT(trim.match("  x y ") && trim[1] == "x y");
	FACT(address.match("10.0.0.1/8") && address[1] == "10.0.0.1");
	FACT(address[2] == "/8");
	FACT(address.match("10.0.0.1") && !address[2]);
	FACT(member.search("users;wheel") && !member.search("wheels"));
	/* Walk through a list by offsets. */
	static rxx item("^(\\d+),");
	const char *list = "1,22,333,";
	int items = 0, digits = 0;
	for (; item.search(str(list)); list += item.len(0)) {
		items++;
		digits += item.len(1);
	}
	FACT_EQ(items, 3);
	FACT_EQ(digits, 6);
	FACTS_END();
}

static void
option_letters()
{
	FACT(rxx("abc", "i").search("xABC"));
	FACT(!rxx("abc").search("xABC"));
	FACT(!rxx("b", "^").search("ab") && rxx("a", "^").search("ab"));
	FACT(rxx("a.b", "s").search("a\nb") && !rxx("a.b").search("a\nb"));
	FACT(rxx("^b$", "m").search("a\nb\nc") && !rxx("^b$").search("a\nb\nc"));
	FACT(rxx("a b # c", "x").match("ab") && !rxx("a b").match("ab"));
	rxx few("a+", "U"), many("a+");
	FACT(few.search("aaa") && few.len(0) == 1 && many.search("aaa") && many.len(0) == 3);
	FACT(rxx("a", "S").search("ab"));
	FACT(rxx("A.B", "sim").search("xxa\nb"));
	FACTS_END();
}

/* An unknown escape is the letter itself, unless X. */
static void
option_x()
{
	rrxx x;

	FACT(rxx("\\j").match("j"));
	FACT(!x.compile("\\j", "X") && x.geterr());
	FACT(x.compile("\\d", "X") && x.match("7"));
	FACTS_END();
}

static void
option_utf8()
{
	str dog("\xE7\x8B\x97");
	rxx bytes("."), chars(".", "8");

	FACT(!bytes.match(dog) && bytes.search(dog) && bytes.len(0) == 1);
	FACT(chars.match(dog));
	FACT_EQ(chars.len(0), 3);
	str two(strbuf() << "a" << dog << "b");
	rxx pair("(.)b", "8");
	FACT(two / pair && pair[1] == dog && pair.start(1) == 1 && pair.end(1) == 4);
	/* Invalid UTF-8 does not match, and geterr reports it. */
	FACT(!chars.search("\xff") && chars.geterr());
	FACT(chars.search("a") && !chars.geterr());
	FACTS_END();
}

static void
bytes_of_any_value()
{
	str s("a\0b\0c", 5);
	rxx x("b(.)c");

	FACT(x.search(s) && x.start(0) == 2 && x.len(1) == 1 && x[1].len() == 1);
	FACT(rxx(".....").match(s));
	FACT(!rxx("a").search(str()));
	FACT(rxx("").match(""));
	FACTS_END();
}

/* Results are stored in the object: the next search overwrites them. */
static void
results_are_of_the_last_search()
{
	static rxx x("(\\d+)");
	str one("a1"), two("b22");

	x.search(one);
	str first = x[1];
	x.search(two);
	FACT(first == "1" && x[1] == "22");
	x.search("none");
	FACT(!x[1] && !x.success());
	x.search(two);
	x.clear();
	FACT(!x.success() && !x[0]);
	FACTS_END();
}

static void
copies()
{
	rxx a("(\\d+)");

	FACT(a.search("x42"));
	rxx b(a);
	FACT(b[1] == "42" && b.start(1) == 1);
	FACT(b.search("7") && a[1] == "42" && b[1] == "7");
	rrxx c;
	c = a;
	a = b;
	FACT(a[1] == "7" && c[1] == "42");
	rxx self("s");
	rxx &same = self;
	self = same;
	FACT(self.search("s"));
	FACTS_END();
}

static rxx shared("(\\w+)-(\\w+)");

static void *
use_copies(void *)
{
	for (int i = 0; i < 2000; i++) {
		rxx mine(shared);
		FACT(mine.search("left-right") && mine[2] == "right");
	}
	return NULL;
}

/* Copies of one expression in several threads share the compiled form. */
static void
copies_in_threads()
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, use_copies, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	FACT(shared.search("a-b"));
	FACTS_END();
}

static void
exec_of_bytes()
{
	rxx x("b+");
	const char *p = "aabbb";

	FACT(x._exec(p, 5, 0) && x.success() && x.start(0) == 2 && x.end(0) == 5);
	FACT(x._exec(p, 2, 0) && !x.success());
	FACT(!x[0]);
	FACTS_END();
}

/* ---- errors ---- */

static void
bad_pattern_panics()
{
	rxx x("(unclosed");
}

static void
bad_option_panics()
{
	rxx x("a", "q");
}

static void
rrxx_reports()
{
	rrxx x;

	FACT(!x.search("a"));
	FACT(!x.compile("a(b") && x.geterr() && strstr(x.geterr(), "offset 3") != NULL);
	FACT(!x.search("a") && !x.success() && x.geterr());
	FACT(!x.compile("a", "?") && x.geterr());
	FACT(x.compile("a(b)", "i") && !x.geterr());
	FACT(x.search("xAB") && x[1] == "B");
	FACTS_END();
}

/* An expression that would take forever fails. */
static void
limits()
{
	rxx x("(a+)+$");
	char text[64];

	memset(text, 'a', sizeof text);
	text[sizeof text - 1] = 'b';
	FACT(!x.search(str(text, sizeof text)));
	FACT(x.geterr());
	FACTS_END();
}

/* ---- split and join ---- */

static void
split_fields()
{
	static rxx colon(":");
	vec<str> v;

	FACT_EQ(split(&v, colon, "a:b:c"), 3);
	FACT(v.size() == 3 && v[0] == "a" && v[1] == "b" && v[2] == "c");
	FACT_EQ(split(&v, rxx(":"), "one"), 1);
	FACT(v.size() == 1 && v[0] == "one");
	FACT_EQ(split(&v, rxx("[:._|-]"), "1:2.3"), 3);
	FACT_EQ(split(&v, "\\s*,\\s*", "a , b,c"), 3);
	FACT(v[0] == "a" && v[1] == "b" && v[2] == "c");
	FACT_EQ(split(NULL, colon, "a:b"), 2);
	FACT_EQ(split(&v, colon, ""), 0);
	FACT_EQ(v.size(), 0);
	FACTS_END();
}

static void
split_empty_fields()
{
	vec<str> v;

	FACT_EQ(split(&v, ":", ":a::b:"), 4);
	FACT(v[0] == "" && v[1] == "a" && v[2] == "" && v[3] == "b");
	FACT_EQ(split(&v, ":", "a:", (size_t)-1, true), 2);
	FACT(v[0] == "a" && v[1] == "" && v[1] != NULL);
	FACT_EQ(split(&v, ":", "a", (size_t)-1, true), 1);
	FACT_EQ(split(&v, ":", "", (size_t)-1, true), 1);
	FACTS_END();
}

static void
split_limit()
{
	vec<str> v;

	FACT_EQ(split(&v, ":", "a:b:c:d", 2), 2);
	FACT(v[0] == "a" && v[1] == "b:c:d");
	FACT_EQ(split(&v, ":", "a:b", 5), 2);
	FACT_EQ(split(&v, ":", "a:b", 1), 1);
	FACT(v[0] == "a:b");
	FACT_EQ(split(&v, ":", "a:b", 0), 0);
	FACTS_END();
}

/* An empty match is an empty field, and drops a byte. */
static void
split_between()
{
	vec<str> v;

	FACT_EQ(split(&v, "", "abc"), 3);
	FACT(v.size() == 3 && v[0] == "" && v[0] != NULL && v[1] == "" && v[2] == "");
	FACT_EQ(split(&v, "-?", "a-bc"), 4);
	FACT(v.size() == 4 && v[0] == "" && v[1] == "" && v[2] == "" && v[3] == "");
	FACT_EQ(split(&v, "-?", "a-bc", 2), 2);
	FACT(v[0] == "" && v[1] == "-bc");
	FACT_EQ(split(&v, "b*", "abbcd", 3), 3);
	FACT(v[0] == "" && v[1] == "" && v[2] == "cd");
	FACT_EQ(split(&v, "x?", ""), 0);
	FACT_EQ(split(&v, "", "ab", (size_t)-1, true), 3);
	FACTS_END();
}

static void
joined()
{
	vec<str> v;

	FACT(join(",", v) == "");
	v.push_back("a");
	FACT(join(",", v) == "a");
	v.push_back("b");
	v.push_back("");
	FACT(join(", ", v) == "a, b, ");
	FACTS_END();
}

static const struct fact facts[] = {
	CASE_ON(1, groups),
	CASE_ON(1, slash),
	CASE_ON(1, slash_literal),
	CASE_ON(1, match_spans),
	CASE_ON(1, as_programs_write_it),
	CASE_ON(1, option_letters),
	CASE_ON(1, option_x),
	CASE_ON(1, option_utf8),
	CASE_ON(1, bytes_of_any_value),
	CASE_ON(1, results_are_of_the_last_search),
	CASE_ON(1, copies),
	CASE_ON(1, copies_in_threads),
	CASE_ON(1, exec_of_bytes),
	{"bad_pattern_panics", bad_pattern_panics, 1000 + SIGABRT, "offset 9", 1},
	{"bad_option_panics", bad_option_panics, 1000 + SIGABRT, "PANIC", 1},
	CASE_ON(1, rrxx_reports),
	CASE_ON(1, limits),
	CASE_ON(1, split_fields),
	CASE_ON(1, split_empty_fields),
	CASE_ON(1, split_limit),
	CASE_ON(1, split_between),
	CASE_ON(1, joined),
};

FACTS_MAIN(facts)
