/* SPDX-License-Identifier: MIT */
/*
 * async_err.cc: messages of dialect "async" before the loop runs, and the ways a program can end.
 * Section 1.4 of the facts.
 */
#define NDEBUG 1 /* must not have an effect */
#include "async.h"

#include "facts.h"

static int fds[2];

/* Messages go to a pipe from now on. */
static void
divert()
{
	FACT(pipe(fds) == 0 && fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0);
	errfd = fds[1];
}

/* The output since then. */
static str
printed()
{
	static char text[4096];
	ssize_t n = read(fds[0], text, sizeof text);

	return str(text, n > 0 ? (size_t)n : 0);
}

/* ---- the prefix of a message ---- */

static void
names()
{
	char lt[] = "/some/where/.libs/lt-prog", plain[] = "plain";

	divert();
	FACT(!progname && !progdir);
	warn("%s %d\n", "formatted", 1);
	FACT(printed() == "formatted 1\n");
	warn << "streamed " << 2 << "\n";
	FACT(printed() == "streamed 2\n");
	setprogname(lt);
	FACT(progname == "prog" && progdir == "/some/where/.libs/");
	warn("a\n");
	FACT(printed() == "prog: a\n");
	warn << "b\n";
	FACT(printed() == "prog: b\n");
	warnx("c%d\n", 1);
	warnx << "d\n";
	FACT(printed() == "c1\nd\n");
	setprogpid(77);
	warn("e\n");
	FACT(printed() == "prog[77]: e\n");
	warnx("f\n");
	FACT(printed() == "f\n");
	setprogname(plain);
	setprogpid(0);
	warn << "g" << "\n";
	FACT(printed() == "plain: g\n" && !progdir);
	FACTS_END();
}

static void
stamps()
{
	long sec = 0, usec = -1;
	char rest[64] = "";
	str got;

	divert();
	setprogname("prog");
	warnt("m%d\n", 1);
	got = printed();
	FACT(sscanf(got, "%ld.%6ld %63[^\n]", &sec, &usec, rest) == 3);
	FACT(labs(sec - (long)time(NULL)) < 100 && usec >= 0 && usec < 1000000);
	FACT(strcmp(rest, "prog: m1") == 0);
	warnt << "streamed\n";
	FACT(strstr(printed(), " prog: streamed\n") != NULL);
	FACTS_END();
}

static int
say_and_return(int value)
{
	warn("inside\n");
	return value;
}

/* Printed at the end of the full expression, whatever it contains. */
static void
when()
{
	divert();
	warn << "outer " << say_and_return(5) << "\n";
	FACT(printed() == "inside\nouter 5\n");
	warn("no "), say_and_return(1); /* it lives longer than the comma */
	FACT(printed() == "inside\nno ");
	if (say_and_return(0))
		warn << "not";
	else
		warn << "else";
	FACT(printed() == "inside\nelse");
	FACTS_END();
}

static void
null_strings()
{
	divert();
	warn << str() << "," << (const char *)NULL << "," << (char *)NULL << "\n";
	FACT(printed() == "(null),(null),(null)\n");
	FACTS_END();
}

struct shape {
	int corners;
};

static const strbuf &
strbuf_cat(const strbuf &sb, const shape &s)
{
	return sb << "shape " << s.corners;
}

struct other_shape {
	int corners;
};

static const strbuf &
operator<<(const strbuf &sb, const other_shape &s)
{
	return sb << "other " << s.corners;
}

#ifdef __clang__ /* it warns about types that C++98 does not accept in templates */
#pragma clang diagnostic ignored "-Wunnamed-type-template-args"
#endif
enum { OF_NO_NAME = 4 };

static void
types()
{
	shape s = {3};
	other_shape o = {5};
	char text[300], expected[400];

	divert();
	warn << s << " " << o << " " << OF_NO_NAME << " " << 'c' << true << "\n";
	FACT(printed() == "shape 3 other 5 4 991\n");
	warn << 1.5 << hexdump("\xff", 1) << str("s") << strbuf("b%d", 1) << "\n";
	FACT(printed() == "1.500000ffsb1\n");
	memset(text, 'x', 299);
	text[299] = '\0';
	warn("<%s>\n", text);
	sprintf(expected, "<%s>\n", text);
	FACT(printed() == expected);
	warn.fmt("fmt %d", 1).cat("\n");
	FACT(printed() == "fmt 1\n");
	FACTS_END();
}

static void
errno_stays()
{
	divert();
	errno = ENOENT;
	warn("%s: %m\n", "file");
	FACT_EQ(errno, ENOENT);
	FACT(printed() == str("file: ") << strerror(ENOENT) << "\n");
	close(fds[0]);
	errno = ERANGE;
	warn << "to a closed pipe\n"; /* EPIPE */
	FACT_EQ(errno, ERANGE);
	errfd = -1;
	warnx("to nothing\n"); /* EBADF */
	FACT_EQ(errno, ERANGE);
	FACTS_END();
}

static void
traces()
{
	int level = 2;

	divert();
#define trace (traceobj(level, "T: "))
	trace(2) << "shown " << 1 << OF_NO_NAME << "\n";
	trace(3) << "not shown\n";
	trace(1, "format %d\n", 2);
	trace(3, "format %d\n", 3);
	trace() << "at 0\n";
	trace << "without a level\n";
	FACT(printed() == "T: shown 14\nT: format 2\nT: at 0\n");
#undef trace
	traceobj(1, "timed ", true)(0) << "\n";
	FACT(strstr(printed(), ".") != NULL);
	traceobj(1, "to a descriptor", false, fds[1])(0) << "\n";
	FACT(printed() == "to a descriptor\n");
	FACTS_END();
}

/* ---- ends of the program ---- */

static struct at_end {
	at_end() : say(NULL) {}
	~at_end()
	{
		if (say != NULL)
			warn("%s\n", say);
	}
	const char *say;
} at_end;

static void
fatal_exits()
{
	setprogname("prog");
	at_end.say = "destructors run";
	fatal << "it is over" << "\n";
}

static void
fatal_says()
{
	setprogname("prog");
	errno = ENOENT;
	fatal("no %s: %m\n", "way");
}

static void
hook()
{
	warnx << "the hook\n";
	fatal << "once\n";
}

static void
fatal_hook()
{
	fatalhook = hook;
	fatal << "first\n";
}

static void
fatal_without_destructors()
{
	at_end.say = "FAIL";
	fatal_no_destruct = true;
	fatal << "no destructors\n";
}

/* There must not be a warning about a missing return value. */
static int
never_returns(int x)
{
	if (x > 0)
		return x;
	fatal << "not " << x << "\n";
}

static void
fatal_has_no_end()
{
	never_returns(-1);
}

static int panic_line;

static void
check_panic()
{
	char expected[200];
	str got;

	sprintf(expected, "prog: PANIC: %s:%d\nthe reason 5\n", __FILE__, panic_line);
	got = printed();
	_exit(got == expected ? FACTS_PASSED : 96);
}

static void
on_abort(int)
{
	check_panic();
}

static void
panic_says()
{
	setprogname("prog");
	divert();
	signal(SIGABRT, on_abort);
	panic_line = __LINE__ + 1;
	panic << "the reason " << 5 << "\n";
}

static void
panic_aborts()
{
	at_end.say = "FAIL";
	panic("reason %d\n", 6);
}

static void
asserts()
{
	str s("s");
	int n = 0;

	assert(++n == 1);
	FACT_EQ(n, 1);
	assert(s);
	assert(s && n);
	if (n > 0)
		assert(n < 2);
	else
		assert(n);
	assert(n == 2);
}

/* In a child of fork, the objects of the program are not destroyed. */
static void
fatal_in_a_child()
{
	int status;
	pid_t pid;

	divert();
	at_end.say = "FAIL";
	pid = fork();
	if (pid == 0)
		fatal << "in the child\n";
	FACT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	FACT_EQ(WEXITSTATUS(status), 1);
	FACT(printed() == "fatal: in the child\n");
	at_end.say = NULL;
	FACTS_END();
}

/* ---- amisc.h ---- */

static timespec
ts(time_t sec, long nsec)
{
	timespec t;

	t.tv_sec = sec;
	t.tv_nsec = nsec;
	return t;
}

static void
times()
{
	timespec a = ts(5, 900000000), b = ts(6, 200000000);

	FACT(a == a && a != b && !(a == b) && !(a != a));
	FACT(a < b && a <= b && a <= a && b > a && b >= a && b >= b && !(a < a) && !(a > b));
	FACT(ts(5, 1) < ts(5, 2) && ts(4, 2) < ts(5, 1));
	FACT(a + b == ts(12, 100000000) && b - a == ts(0, 300000000));
	FACT(a - b == ts(-1, 700000000) && a + ts(0, 0) == a);
	FACT(ts(1, 500000000) + ts(0, 500000000) == ts(2, 0));
	FACTS_END();
}

static void
addresses()
{
	sockaddr_in a, b;

	memset(&a, 0, sizeof a);
	a.sin_family = AF_INET;
	a.sin_port = htons(80);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	b = a;
	b.sin_zero[0] = 1;
	FACT(a == b && !(a != b) && a.sin_addr == b.sin_addr);
	b.sin_port = htons(81);
	FACT(a != b);
	b = a;
	b.sin_addr.s_addr = 0;
	FACT(a != b && a.sin_addr != b.sin_addr);

	hashfn<sockaddr_in> hash;
	hashfn<in_addr> hash_addr;
	equals<sockaddr_in> same;

	b = a;
	b.sin_zero[0] = 1;
	FACT(hash(a) == hash(b) && same(a, b) && equals<in_addr>()(a.sin_addr, b.sin_addr));
	FACT(hash_addr(a.sin_addr) == hash_addr(b.sin_addr));
	b.sin_port = htons(81);
	FACT(hash(a) != hash(b) && !same(a, b));
	FACTS_END();
}

static void
memory()
{
	char *p = (char *)xmalloc(0), *q = xstrdup("copied");

	FACT(p != NULL);
	p = (char *)xrealloc(p, 100);
	memset(p, 'x', 100);
	p = (char *)xrealloc(p, 1000);
	FACT(p[99] == 'x' && strcmp(q, "copied") == 0);
	xfree(p);
	xfree(q);
	xfree(NULL);
	FACTS_END();
}

/* Make sanitizers return NULL, as malloc does. */
extern "C" const char *
__asan_default_options()
{
	return "allocator_may_return_null=1";
}

extern "C" const char *
__tsan_default_options()
{
	return "allocator_may_return_null=1";
}

static void
memory_ends()
{
	xmalloc((size_t)-1 / 2);
	FACTS_END();
}

static void
the_rest()
{
	u_int32_t a = arandom(), b = arandom(), c = arandom();

	FACT(a != b || b != c);
	divert();
	v_write(fds[1], "written", 7);
	FACT(printed() == "written");
	rc_ignore(close(-1));
	rc_ignore(str("x"));
	FACT(strcmp(XSTRINGIFY(PIPE_BUF), STRINGIFY(4096)) == 0);
	FACT(strstr(__FL__, "async_err.cc:") != NULL && isdigit(*(strrchr(__FL__, ':') + 1)));
	FACTS_END();
}

#define ENDS(fn, status, prints) {#fn, fn, status, prints, 1}

static const struct fact facts[] = {
	CASE_ON(1, names),
	CASE_ON(1, stamps),
	CASE_ON(1, when),
	CASE_ON(1, null_strings),
	CASE_ON(1, types),
	CASE_ON(1, errno_stays),
	CASE_ON(1, traces),
	ENDS(fatal_exits, 1, "prog: fatal: it is over\nprog: destructors run\n"),
	ENDS(fatal_says, 1, "prog: fatal: no way: No such file or directory\n"),
	ENDS(fatal_hook, 1, "fatal: first\nthe hook\nfatal: once\n"),
	ENDS(fatal_without_destructors, 1, "fatal: no destructors\n"),
	ENDS(fatal_has_no_end, 1, "fatal: not -1\n"),
	CASE_ON(1, panic_says),
	ENDS(panic_aborts, 1000 + SIGABRT, "async_err.cc:"),
	ENDS(asserts, 1000 + SIGABRT, "assertion failed: n == 2\n"),
	CASE_ON(1, fatal_in_a_child),
	CASE_ON(1, times),
	CASE_ON(1, addresses),
	CASE_ON(1, memory),
	ENDS(memory_ends, 1000 + SIGABRT, "no memory"),
	CASE_ON(1, the_rest)
};

FACTS_MAIN(facts)
