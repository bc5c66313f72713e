/* SPDX-License-Identifier: MIT */
/*
 * async_parseopt.cc: files of options, tables of options and numbers of dialect "async". Section
 * 1.8 of the facts.
 */
#include "parseopt.h"

#include "facts.h"

#include <limits.h>

/* A descriptor from which the text can be read. */
static int
text_fd(const str &text)
{
	int fds[2];

	FACT(pipe(fds) == 0 && write(fds[1], text.cstr(), text.len()) == (ssize_t)text.len());
	close(fds[1]);
	return fds[0];
}

/* ---- parseargs ---- */

static void
words()
{
	parseargs pa("conf", text_fd("one two\n\n  three\t four  \nlast"));
	vec<str> av;
	int line = 0;

	FACT(pa.getline(&av, &line) && line == 1);
	FACT(av.size() == 2 && av[0] == "one" && av[1] == "two");
	FACT(pa.getline(&av, &line) && line == 3);
	FACT(av.size() == 2 && av[0] == "three" && av[1] == "four");
	FACT(pa.getline(&av) && av.size() == 1 && av[0] == "last");
	FACT(!pa.getline(&av, &line) && av.size() == 0);
	FACT(!pa.getline(&av, &line));
	FACTS_END();
}

/* A # is a comment only at the start of a line. */
static void
comments()
{
	parseargs pa("conf", text_fd("# all of this\n  # x\na #b c#d\n#\n\n\\\n# y\nz\n#"));
	vec<str> av;
	int line;

	FACT(pa.getline(&av, &line) && line == 2);
	FACT(av.size() == 2 && av[0] == "#" && av[1] == "x");
	FACT(pa.getline(&av, &line) && line == 3);
	FACT(av.size() == 3 && av[0] == "a" && av[1] == "#b" && av[2] == "c#d");
	FACT(pa.getline(&av, &line) && line == 7 && av.size() == 2 && av[1] == "y");
	FACT(pa.getline(&av, &line) && line == 8 && av[0] == "z" && !pa.getline(&av, &line));
	FACT_EQ(line, 9);
	FACTS_END();
}

static void
quotes()
{
	parseargs pa("conf", text_fd("a \"b c\" d\"e f\"g \"\"\n"
				     "\"#no\" \"q\\\"q\" \\\"r \\\\ \\ s\n"));
	vec<str> av;

	FACT(pa.getline(&av) && av.size() == 4);
	FACT(av[1] == "b c" && av[2] == "de fg" && av[3] == "" && av[3] != NULL);
	FACT(pa.getline(&av) && av.size() == 5);
	FACT(av[0] == "#no" && av[1] == "q\"q" && av[2] == "\"r" && av[3] == "\\" && av[4] == " s");
	FACTS_END();
}

static void
continued_lines()
{
	parseargs pa("conf", text_fd("a \\\n  b\nlo\\\nng \"x\\\n \ty\"\n"
				     "o\\\n  ne\\\n\\\n  two\\\n \nlast"));
	vec<str> av;
	int line;

	FACT(pa.getline(&av, &line) && line == 1 && av.size() == 2 && av[1] == "b");
	FACT(pa.getline(&av, &line) && line == 3 && av.size() == 2);
	/* A word goes on behind the blanks of the next line. */
	FACT(av[0] == "long" && av[1] == "xy");
	FACT(pa.getline(&av, &line) && line == 6 && av.size() == 1 && av[0] == "onetwo");
	FACT(pa.getline(&av, &line) && line == 11 && av[0] == "last" && !pa.getline(&av));
	FACTS_END();
}

static void
quoted_lines()
{
	parseargs pa("conf", text_fd("\"x\n # y\n\" z\nnext\n"));
	vec<str> av;
	int line;

	FACT(pa.getline(&av, &line) && line == 1 && av.size() == 2);
	FACT(av[0] == "x\n # y\n" && av[1] == "z");
	FACT(pa.getline(&av, &line) && line == 4 && av[0] == "next");
	FACTS_END();
}

static void
no_line_to_continue()
{
	parseargs pa("my.conf", text_fd("fine\nend\\"));
	vec<str> av;

	while (pa.getline(&av))
		;
}

static void
any_bytes()
{
	parseargs pa("conf", text_fd(str("a\0b \xff\r\n", 7)));
	vec<str> av;

	FACT(pa.getline(&av) && av.size() == 2 && av[0] == str("a\0b", 3) && av[1] == "\xff");
	FACT(!parseargs("empty", text_fd("")).getline(&av));
	FACTS_END();
}

static void
an_open_quote_is_fatal()
{
	parseargs pa("my.conf", text_fd("fine\n\n\"open\n"));
	vec<str> av;

	while (pa.getline(&av))
		;
}

static void
no_file_is_fatal()
{
	parseargs pa("/nonexistent/conf");
}

class lenient : public parseargs
{
public:
	int errors;

	lenient(int fd) : parseargs("conf", fd), errors(0) {}

protected:
	void error(str message)
	{
		errors += message.len() > 0 && lineno == 2 && filename == "conf";
	}
};

/* A program's own error may return; then the file ends there. */
static void
errors_of_ones_own()
{
	lenient pa(text_fd("one\n\"two\nthree\n"));
	vec<str> av;

	FACT(pa.getline(&av) && av[0] == "one");
	FACT(!pa.getline(&av) && av.size() == 0 && pa.errors == 1);
	FACT(!pa.getline(&av));
	FACTS_END();
}

/* ---- convertint ---- */

static void
whole_numbers()
{
	int i = 5;

	FACT(convertint("42", &i) && i == 42 && convertint("-7", &i) && i == -7);
	FACT(convertint("+3", &i) && i == 3 && convertint(str("0"), &i) && i == 0);
	FACT(convertint("0x1F", &i) && i == 31 && convertint("010", &i) && i == 8);
	FACT(convertint("10", &i, 16) && i == 16 && convertint("zz", &i, 36) && i == 35 * 37);
	i = 5;
	FACT(!convertint("", &i) && !convertint(" ", &i) && !convertint("1 ", &i));
	FACT(!convertint("1x", &i) && !convertint("x", &i) && !convertint("-", &i));
	FACT(!convertint("--1", &i) && !convertint("- 1", &i) && !convertint("+-1", &i));
	FACT(!convertint("0x", &i) && !convertint(str(), &i) && !convertint("1.5", &i));
	FACT_EQ(i, 5);
	FACT(convertint(" \t1", &i) && i == 1 && convertint(str("\n -2"), &i) && i == -2);
	/* It is a C string. */
	FACT(convertint(str("7\0x", 3), &i) && i == 7);
	FACTS_END();
}

template <class T> static bool
takes(const char *s, T expected)
{
	T x = (T)(expected ^ 1);

	return convertint(s, &x) && x == expected;
}

/* A small type gets the low bits of the number; 64 bits are its limits. */
static void
numbers_of_each_type()
{
	double d = 0;
	bool yes = false;

	FACT(takes<int>("2147483647", INT_MAX) && takes<int>("-2147483648", INT_MIN));
	FACT(takes<int>("2147483648", INT_MIN) && takes<int>("4294967301", 5));
	FACT(takes<u_int>("4294967295", UINT_MAX) && takes<u_int>("-1", UINT_MAX));
	FACT(takes<u_int16_t>("65535", 65535) && takes<u_int16_t>("65537", 1));
	FACT(takes<u_int16_t>("-1", 65535) && takes<int16_t>("-32768", -32768));
	FACT(takes<u_int8_t>("255", 255) && takes<u_int8_t>("300", 44) && takes<char>("65", 'A'));
	FACT(takes<int64_t>("9223372036854775807", INT64_MAX));
	FACT(takes<int64_t>("-9223372036854775808", INT64_MIN));
	FACT(takes<int64_t>("9223372036854775808", INT64_MAX));
	FACT(takes<int64_t>("-9223372036854775809", INT64_MIN));
	FACT(takes<u_int64_t>("18446744073709551615", UINT64_MAX));
	FACT(takes<u_int64_t>("18446744073709551616", UINT64_MAX));
	FACT(takes<u_int64_t>("-1", UINT64_MAX) && takes<time_t>("-1", -1));
	FACT(convertint("-5", &d) && d == -5 && convertint("2", &yes) && yes);
	FACTS_END();
}

/* ---- conftab ---- */

static int calls;
static str seen_where;

static void
got_line(int bound, vec<str> words, str where, bool *error)
{
	calls += bound;
	seen_where = where;
	if (words.size() != 2)
		*error = true;
}

struct server {
	int lines;

	server() : lines(0) {}
	void got(vec<str> words, str, bool *) { lines += (int)words.size(); }
};

static void
each_kind()
{
	str s;
	int i = 0;
	u_int16_t port = 0;
	bool b = false;
	double d = 0, bounded = 0;
	server srv;
	conftab ct;

	ct.add("String", &s)
	    .add("Int", &i, -10, 10)
	    .add("Port", &port, 1, 65535)
	    .add("Bool", &b)
	    .add("Double", &d)
	    .add("Bounded", &bounded, 0.5, 1.5)
	    .add("Call", wrap(got_line, 3))
	    .add("Method", wrap(&srv, &server::got))
	    .ignore("Nothing");
	FACT(ct.run("conf", 0, text_fd("string text\nINT -5\nport 0xffff # high\nbool On #\n"
				       "Double 2.5e1\nbounded 1\ncall x\nMethod a b\n"
				       "nothing at all\n")));
	FACT(s == "text" && i == -5 && port == 65535 && b && d == 25 && bounded == 1);
	FACT(calls == 3 && seen_where == "conf:7" && srv.lines == 3);
	FACTS_END();
}

static void
truths()
{
	static const char *const yes[] = {"1", "true", "TRUE", "yes", "on", "t", "y"};
	static const char *const no[] = {"0", "false", "no", "OFF", "f", "n"};
	bool b = false, bad = false;
	conftab ct;
	vec<str> av;

	ct.add("b", &b);
	av.push_back("b");
	av.push_back("");
	for (int i = 0; i < 7; i++) {
		b = false;
		av[1] = yes[i];
		FACT(ct.match(av, "f", 1, &bad) && b && !bad);
	}
	for (int i = 0; i < 6; i++) {
		b = true;
		av[1] = no[i];
		FACT(ct.match(av, "f", 1, &bad) && !b && !bad);
	}
	av[1] = "perhaps";
	FACT(ct.match(av, "f", 1, &bad) && bad);
	FACTS_END();
}

/* For a program that reads the lines itself. */
static void
matching()
{
	int n = 1;
	bool errors = false;
	conftab ct;
	parseargs pa("conf", text_fd("n 2\nunknown 3\n"));
	vec<str> av;
	int line, others = 0;

	ct.add("N", &n, 0, 100);
	while (pa.getline(&av, &line))
		if (!ct.match(av, "conf", line, &errors))
			others++;
	FACT(n == 2 && others == 1 && !errors);
	FACT(!ct.match(vec<str>(), "conf", 1, &errors));
	FACTS_END();
}

static void
values_that_are_wrong()
{
	static const char *const bad[] = {
		"n 101", "n -1", "n x", "n", "n 1 2", "s", "s a b", "d x", "d 2", "d nan", "d 1x",
		"b 2",
	};
	int n = 7;
	double d = 0.25;
	bool b = false;
	str s("kept");
	conftab ct;

	ct.add("n", &n, 0, 100).add("s", &s).add("d", &d, 0, 1).add("b", &b);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		conftab::status_t status = conftab::OK;
		FACT(!ct.run("conf", 0, text_fd(bad[i]), &status) && status == conftab::ERROR);
	}
	FACT(n == 7 && d == 0.25 && !b && s == "kept");
	FACTS_END();
}

static void
status_of_a_run()
{
	int n = 0;
	conftab ct;
	conftab::status_t status;

	ct.add("n", &n, 0, 9);
	FACT(ct.run("conf", 0, text_fd("n 1\n"), &status) && status == conftab::OK);
	FACT(!ct.run("conf", 0, text_fd("m 1\nn 2\n"), &status) && status == conftab::UNKNOWN);
	FACT_EQ(n, 2);
	FACT(!ct.run("conf", 0, text_fd("m 1\nn 99\n"), &status) && status == conftab::ERROR);
	FACTS_END();
}

static void
defaults()
{
	str s1, s2("kept"), s3("text");
	int i1 = -1, i2 = -2;
	bool b1 = false, b2 = true;
	double d = 0;
	conftab ct;

	ct.add("StringTest", &s1, "default")
	    .add("IntTest", &i1, 0, 1000, 200)
	    .add("BoolTest", &b1, true)
	    .add("StringTest2", &s2)
	    .add("StringTest3", &s3, NULL)
	    .add("IntTest2", &i2, 30, 100)
	    .add("BoolTest2", &b2)
	    .add("D", &d, 0.0, 9.0, 4.5);
	FACT(ct.run(NULL, CONFTAB_APPLY_DEFAULTS));
	FACT(s1 == "default" && i1 == 200 && b1 && d == 4.5 && !s3);
	FACT(s2 == "kept" && i2 == -2 && b2);
	FACT(ct.run("conf", CONFTAB_APPLY_DEFAULTS, text_fd("IntTest 5\nIntTest2 31\n")));
	FACT(i1 == 5 && i2 == 31);
	FACT(ct.run("conf", 0, text_fd("BoolTest 0\n")) && !b1 && i1 == 5);
	ct.apply_defaults();
	FACT(!b1 && i1 == 200);
	ct.reset();
	ct.apply_defaults();
	FACT(b1);
	FACTS_END();
}

static void
verbose()
{
	int n = 4;
	conftab ct;

	ct.add("Number", &n, 0, 9);
	FACT(ct.run("conf", CONFTAB_VERBOSE, text_fd("number 8\n")));
	FACTS_END();
}

static void
says_where()
{
	int n = 4;
	conftab ct;

	ct.add("Number", &n, 0, 9);
	FACT(!ct.run("my.conf", 0, text_fd("\nnumber 10\n")));
	FACTS_END();
}

static const struct fact facts[] = {
	CASE_ON(1, words),
	CASE_ON(1, comments),
	CASE_ON(1, quotes),
	CASE_ON(1, continued_lines),
	CASE_ON(1, quoted_lines),
	{"no_line_to_continue", no_line_to_continue, 1, "fatal: my.conf:2: a \\", 1},
	CASE_ON(1, any_bytes),
	{"an_open_quote_is_fatal", an_open_quote_is_fatal, 1, "fatal: my.conf:3: ", 1},
	{"no_file_is_fatal", no_file_is_fatal, 1, "/nonexistent/conf: No such file", 1},
	CASE_ON(1, errors_of_ones_own),
	CASE_ON(1, whole_numbers),
	CASE_ON(1, numbers_of_each_type),
	CASE_ON(1, each_kind),
	CASE_ON(1, truths),
	CASE_ON(1, matching),
	CASE_ON(1, values_that_are_wrong),
	CASE_ON(1, status_of_a_run),
	CASE_ON(1, defaults),
	{"verbose", verbose, FACTS_PASSED, "Number: 8", 1},
	{"says_where", says_where, FACTS_PASSED,
	    "my.conf:2: usage: Number <number from 0 to 9>", 1},
};

FACTS_MAIN(facts)
