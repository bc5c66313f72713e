/* SPDX-License-Identifier: MIT */
/*
 * async_idioms.cc: rarely used names and unusual spellings of programs of libasync. Each must
 * compile as written here.
 */
#include "async.h"
#include "bitvec.h"
#include "corebench.h"
#include "ihash.h"
#include "itree.h"
#include "list.h"
#include "parseopt.h"
#include "rxx.h"
#include "serial.h"
#include "sfs_const.h"
#include "sfs_profiler.h"
#include "stllike.h"

#include "facts.h"

/* ---- text ---- */

static void
text ()
{
	str name ("world");
	str greeting ("hello " << name << "; " << 3 << " times\n");
	FACT (greeting == "hello world; 3 times\n");

	strbuf b;
	str in_place = b.cat (1).cat (' ' - 30).cat ("x").cat (name).cat ("!", false).cat (4u);
	FACT (in_place == "12xworld!4");
	b.clear ();
	b.copy ("a\0b", 3);
	FACT_EQ (b.len (), 3);
	FACT (str (b)[1] == 0);

	str one ("1"), two;
	one.swap (two);
	FACT (!one && two == "1");

	suio uio;
	suio_fill (&uio, 'z', 2);
	suio_copy (&uio, "abc", 3);
	suio_printcheck (&uio, "d", 1);
	FACT (str (uio) == "zzabcd");
	char secret[] = "secret";
	iovec iov = { iovbase_t (secret), 6 };
	iovscrub (&iov, 1);
	FACT (secret[0] == 0 && secret[5] == 0);

	char lower[4];
	mytolower (lower, "AbC");
	FACT (!strcmp (lower, "abc") && mytolower (str ("X-Y")) == "x-y");
	int digit = -1;
	FACT (hexconv (digit, 'F') && digit == 15 && hexconv (digit, '7') && digit == 7);
	FACT (!hexconv (digit, 'g') && !hexconv (digit, 0) && digit == 7);
	char *end;
	FACT (strtoi64 ("-0x10z", &end) == -16 && *end == 'z' && strtoi64 ("077", NULL, 10) == 77);
	FACTS_END ();
}

/* ---- messages in the style of C ---- */

static void
say (const char *fmt, ...)
{
	va_list ap;

	va_start (ap, fmt);
	vwarnx (fmt, ap);
	va_end (ap);
}

static void
messages ()
{
	int fds[2];
	char got[100];

	setprogname ("/bin/idioms");
	err_init ();
	FACT (pipe (fds) == 0);
	errfd = fds[1];
	sfs_warn ("%d\n", 1);
	sfs_warnx ("%s\n", "two");
	say ("%d%s", 3, "\n");
	errfd = 2;
	ssize_t n = read (fds[0], got, sizeof got);
	FACT (str (got, size_t (n)) == "idioms: 1\ntwo\n3\n");
	FACTS_END ();
}

/* ---- regular expressions ---- */

static void
expressions ()
{
	rxx pair ("(\\w+)=(\\w*)");

	FACT (pair.search ("a b=c")[2] == "c");
	FACT (pair.match ("b=c")[1] == "b");
	FACT (!pair.match ("a b=c") && !pair.search ("a b c"));
	rxx::matchresult found = pair.search ("key=value");
	FACT (found && found[0] == "key=value");
	str whole = found;
	FACT (whole == "key=value");
	bool is = pair.match ("k=");
	FACT (is && pair[2] == "");
	FACT (!pair.study ());

	const char *text = "xx k=v";
	FACT (pair.search_cstr (text, 6) && pair.start (0) == 3 && pair.len (2) == 1);
	FACT (!pair.match_cstr (text, 6) && pair.match_cstr (text + 3, 3));

	FACT (str ("SHOUT") / "shout" / "i");
	FACT (!(str ("SHOUT") / "shout"));
	str part = str ("ab12c") / "\\d+";
	FACT (part == "12" && (str ("ab12c") / "([A-Z])(\\d)" / "i")[2] == "1");
	FACTS_END ();
}

/* ---- containers ---- */

struct item {
	const int key;
	int seen;
	ihash_entry<item> hlink;
	itree_entry<item> tlink;
	list_entry<item> llink;

	item (int k) : key (k), seen (0) {}
	void see () { seen++; }
};

static void
containers ()
{
	item a (1), b (2);
	ihash<const int, item, &item::key, &item::hlink> table;
	itree<const int, item, &item::key, &item::tlink> tree;

	table.insert (&a);
	table.insert (&b);
	tree.insert (&a);
	tree.insert (&b);
	table.traverse (&item::see);
	tree.traverse (&item::see);
	FACT_EQ (a.seen, 2);
	FACT_EQ (b.seen, 2);

	list<item, &item::llink> here, there;
	here.insert_head (&a);
	here.insert_head (&b);
	here.swap (there);
	FACT (!here.first && there.first == &b && there.next (&b) == &a);
	there.remove (&b);
	FACT (there.first == &a);
	here.insert_head (&b);
	here.swap (there);
	FACT (here.first == &a && there.first == &b);

	vec<int> v, w;
	v.push_back (5);
	swap (v, w);
	FACT (v.empty () && w[0] == 5);

	bitvec bits (130), none;
	FACT_EQ (bits.first_unset_bit (), 0);
	bits.setrange (0, 129, true);
	FACT_EQ (bits.first_unset_bit (), 129);
	swap (bits, none);
	FACT (bits.size () == 0 && none.size () == 130 && none[128]);
	FACT_EQ (bits.first_unset_bit (), -1);

	str gone ("x");
	str *place = static_cast<str *> (operator new (sizeof (str)));
	new (static_cast<void *> (place)) str (gone);
	FACT (destroy_return (*place) == "x");
	operator delete (place);
	FACTS_END ();
}

/* ---- options ---- */

static str asked;

static void
ask (str s)
{
	asked = s;
}

static void
options ()
{
	int n = 0;
	bool error = false;
	conftab table;
	vec<str> line, all;

	table.ads ("Ask", wrap (ask)).add ("N", &n, 0, 9);
	line.push_back ("ask");
	FACT (table.match (line, "file", 1, &error) && error && !asked);
	error = false;
	line.push_back ("me");
	FACT (table.match (line, "file", 2, &error) && !error && asked == "me");
	n = 7;
	table.report (&all);
	FACT_EQ (all.size (), 2);
	FACT (all[1] == "N: 7");
	FACTS_END ();
}

/* ---- the system ---- */

struct parts {
	char first;
	int64_t second;
};

static void
the_system ()
{
	FACT (INT64 (5000000000) / 5 == 1000000000);
	FACT (!strcmp (stringify (MALLOCRESV), "16"));
	FACT_EQ (xoffsetof (parts, second), offsetof (parts, second));
	FACT (ntohq (htonq (INT64 (81985529216486895))) == u_int64_t (INT64 (81985529216486895)));
	u_int64_t net = htonq (1);
	FACT_EQ (gethyper (&net), 1);
	char text[30];
	snprintf (text, sizeof text, "%" OTF "d %" U64F "u", off_t (4), u_int64_t (5));
	FACT (!strcmp (text, "4 5"));

	FACT (suidsafe ());
	xputenv ("IDIOM=yes");
	FACT (!strcmp (safegetenv ("IDIOM"), "yes"));
	xfree (txmalloc (10));

	timespec early = { 1, 5 }, late = { 1, 6 };
	FACT (tscmp (early, late) < 0 && tscmp (late, early) > 0 && tscmp (late, late) == 0);

	sockaddr_in a, b;
	memset (&a, 0, sizeof a);
	a.sin_family = AF_INET;
	a.sin_port = htons (80);
	b = a;
	memset (b.sin_zero, 1, sizeof b.sin_zero);
	FACT (addreq ((sockaddr *) &a, (sockaddr *) &b, sizeof a));
	b.sin_port = htons (81);
	FACT (!addreq ((sockaddr *) &a, (sockaddr *) &b, sizeof a));
	sockaddr_un p, q;
	memset (&p, 0, sizeof p);
	memset (&q, 1, sizeof q);
	p.sun_family = q.sun_family = AF_UNIX;
	strcpy (p.sun_path, "/tmp/x");
	strcpy (q.sun_path, "/tmp/x");
	FACT (addreq ((sockaddr *) &p, (sockaddr *) &q, sizeof p));
	q.sun_path[5] = 'y';
	FACT (!addreq ((sockaddr *) &p, (sockaddr *) &q, sizeof p));
	FACT (!addreq ((sockaddr *) &p, (sockaddr *) &a, sizeof a));
	FACTS_END ();
}

/* ---- the loop's functions as callbacks ---- */

static int idle_fds[2];

static void
readable ()
{
	FACTS_END ();
}

static void
wrapped_fdcb ()
{
	FACT (pipe (idle_fds) == 0 && write (idle_fds[1], "x", 1) == 1);
	cbv resume = wrap (fdcb, idle_fds[0], selread, wrap (readable));
	delaycb (0, 1000, resume);
	amain ();
}

/* ---- names of the program's own, which older libraries have, too ---- */

static timespec tsnow;
time_t timenow;

static void
own_clock ()
{
	timenow = sfs_get_timenow (true);
	sfs_get_tsnow (&tsnow, true);
	FACT (timenow > 0 && tsnow.tv_sec >= timenow);
	FACTS_END ();
}

/* ---- switches for what this library does not have ---- */

struct own_core : sfs_profiler::core_t {
	void profile_hook (const void *) {}
	void recharge () {}
	void report () {}
	void reset () {}
};

static void
profilers ()
{
	own_core core;
	char text[3];

	sfs_profiler::init ();
	sfs_profiler::set_core (&core);
	sfs_profiler::set_interval (1000);
	sfs_profiler::set_real_timer (true);
	FACT (!sfs_profiler::enable ());
	sfs_profiler::enter_vomit_lib ();
	FACT (sfs::memcpy_p (text, "ab", 3) == text && !strcmp (text, "ab"));
	sfs_profiler::exit_vomit_lib ();
	sfs_profiler::recharge ();
	sfs_profiler::report ();
	sfs_profiler::reset ();
	sfs_profiler::disable ();
	sfs_const::axprt_suio_clear_interval = 5;

	START_ACHECK_TIMER ();
	STOP_ACHECK_TIMER ();
	FACT (!do_corebench && time_in_acheck == 0 && tia_tmp == 0);
	toggle_corebench (true);
	START_ACHECK_TIMER ();
	usleep (2000);
	STOP_ACHECK_TIMER ();
	FACT (time_in_acheck >= 1999 && !strcmp (BENCH_TICK_TYPE, "usec"));
	FACTS_END ();
}

static const struct fact facts[] = {
	CASE_ON (1, text),
	CASE_ON (1, messages),
	CASE_ON (1, expressions),
	CASE_ON (1, containers),
	CASE_ON (1, options),
	CASE_ON (1, the_system),
	CASE_ON (1, own_clock),
	CASE_ON (1, profilers),
	CASE (wrapped_fdcb),
};

FACTS_MAIN (facts)
