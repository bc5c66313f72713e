/* SPDX-License-Identifier: MIT */
/*
 * async_str.cc: counted strings of dialect "async". Section 1.5 of the facts.
 */
#include "async.h"

#include "facts.h"

/* ---- null and empty ---- */

static void
null_is_not_empty()
{
	str null, made = (const char *)NULL, empty("");

	FACT(!null && !made && null.cstr() == NULL && made.cstr() == NULL);
	FACT(empty && empty.cstr() != NULL && *empty.cstr() == '\0');
	FACT_EQ(empty.len(), 0);
	FACT(null == NULL && null == (const char *)NULL && null == made.cstr());
	FACT(null != "" && !(null == "x") && empty != NULL && empty == "");
	FACT(empty == str("", 0));
	FACTS_END();
}

static str
null_str()
{
	return NULL;
}

static void
null_appended()
{
	strbuf sb;

	sb << null_str();
	FACTS_END();
}

static void
null_length()
{
	FACT_EQ(null_str().len(), 0);
	FACTS_END();
}

static void
null_compared()
{
	FACT(str("a") == null_str());
	FACTS_END();
}

static void
one_pointer()
{
	FACT_EQ(sizeof(str), sizeof(void *));
	FACT_EQ(sizeof(bssstr), sizeof(void *));
	FACTS_END();
}

/* ---- construction ---- */

static void
constructors()
{
	char bytes[] = "a\0b";
	iovec iov[2] = {{bytes, 3}, {bytes + 2, 1}};
	strbuf sb("%d!", 5);
	suio uio;
	str a("abc"), b(bytes, 3), c(sb), d(iov, 2), e(a), f = sb, g(bytes, 2);

	uio.copy("xyz", 3);
	str h(uio);
	bytes[0] = 'z';
	FACT(a == "abc" && a.len() == 3);
	FACT(b.len() == 3 && memcmp(b.cstr(), "a\0b", 4) == 0);
	FACT(c == "5!" && f == "5!" && sb.len() == 2);
	FACT(d.len() == 4 && memcmp(d.cstr(), "a\0bb", 5) == 0);
	FACT(e == a && e.cstr() == a.cstr());
	FACT(g.len() == 2 && g.cstr()[2] == '\0');
	FACT(h == "xyz" && uio.resid() == 3);
	FACTS_END();
}

static void
assignments()
{
	strbuf sb("%s", "made");
	str a("abc"), b, &same = b;
	mstr m(1);

	m[0] = 'm';
	b = a;
	b = same;
	FACT(b.cstr() == a.cstr());
	a = "xyz";
	FACT(a == "xyz" && b == "abc");
	a = a.cstr() + 1;
	FACT(a == "yz");
	a = sb;
	FACT(a == "made");
	a = m;
	FACT(a == "m" && m.cstr() == NULL);
	a = NULL;
	FACT(!a);
	a.setbuf("qqq", 2);
	FACT(a == "qq");
	a = str("left") << ", right";
	FACT(a == "left, right");
	FACTS_END();
}

static void
mstr_is_stolen()
{
	mstr m(4);
	char *p = m, *q = m.cstr();

	FACT(p == q && m.len() == 4 && p[4] == '\0');
	memcpy(m, "four", 4);
	m[0] = 'F';

	const mstr &constant = m;

	FACT(constant[0] == 'F' && constant.cstr() == p);
	str s(m);
	FACT(s == "Four" && s.cstr() == p);
	FACT(m.cstr() == NULL && m.len() == 0);
	FACTS_END();
}

static str
from_mstr(const char *text)
{
	mstr m(strlen(text));

	memcpy(m, text, m.len());
	return m;
}

static void
mstr_shrinks()
{
	mstr m(4);

	memcpy(m, "four", 4);
	m.setlen(4);
	m.setlen(2);
	FACT_EQ(m.len(), 2);
	FACT(strcmp(m, "fo") == 0);
	str s = m;
	FACT(s == "fo" && s.len() == 2);
	FACT(from_mstr("returned") == "returned");
	FACTS_END();
}

static void
mstr_does_not_grow()
{
	mstr m(4);

	m.setlen(2);
	m.setlen(3);
	FACTS_END();
}

static char wiped[16];
static size_t wiped_bytes;

static void
note_wipe(char *p, size_t n)
{
	memcpy(wiped + wiped_bytes, p, n);
	wiped_bytes += n;
}

class secret : public mstr
{
public:
	secret(size_t n) : mstr(n, note_wipe) {}
};

/* The wipe function sees the bytes before the last handle frees them. */
static void
wiped_strings()
{
	str s;

	{
		secret m(6);
		memcpy(m, "abcdef", 6);
		m.setlen(4);
		FACT_EQ(wiped_bytes, 2);
		s = m;
	}
	str t = s;
	s = NULL;
	FACT_EQ(wiped_bytes, 2);
	t = "other";
	FACT_EQ(wiped_bytes, 6);
	FACT(memcmp(wiped, "efabcd", 6) == 0);
	FACTS_END();
}

/* ---- use ---- */

static str
perhaps(bool yes)
{
	return yes ? str("yes") : str();
}

static bool
takes_pointer(const char *p)
{
	return p != NULL;
}

static void
idioms()
{
	char buffer[16];
	bool seen = false;

	if (str s = perhaps(true))
		seen = s == "yes";
	FACT(seen);
	if (str s = perhaps(false))
		seen = false;
	FACT(seen);
	strcpy(buffer, perhaps(true));
	FACT(strcmp(buffer, "yes") == 0);
	FACT(perhaps(false) == NULL && !(perhaps(true) == NULL) && perhaps(true) != NULL);
	FACT(takes_pointer(perhaps(true)) && !takes_pointer(perhaps(false)));
	FACT(perhaps(true) && !(perhaps(false) && seen));

	str s = perhaps(true), t = seen ? s : NULL;
	size_t i = 1;
	int k = 2;

	FACT(t == "yes" && "yes" == t && "no" != t);
	FACT(s[0] == 'y' && s[i] == 'e' && s[k] == 's' && *s == 'y');
	FACT(strlen(s) == s.len());
	while (str u = perhaps(seen))
		seen = false;
	FACT(!seen);
	FACTS_END();
}

/* ---- order ---- */

static void
order()
{
	str a("abc"), b("abd"), longer("abcde"), nul("abc\0z", 5), high("\xff");

	FACT(a.cmp(b) < 0 && b.cmp(a) > 0 && a.cmp(str("abc")) == 0);
	FACT_EQ(longer.cmp(a), 2);
	FACT_EQ(a.cmp(longer), -2);
	FACT_EQ(a.cmp("abc"), 0);
	FACT_EQ(a.cmp("ab", 2), 1);
	FACT(longer.cmp(b) < 0);
	FACT(high.cmp(a) > 0); /* bytes compare as unsigned */
	FACT(nul != a && nul.cmp(a) == 2 && nul != "abc");
	FACT(a < b && a <= b && b > a && b >= a && a <= a && a >= a && !(a < a));
	FACT(a < "abd" && a <= "abc" && a > "abb" && a >= "abc");
	FACT(a == str("abc") && a != b && a == "abc" && a != "abd");
	FACTS_END();
}

static void
substrings()
{
	str s("0123456789");

	FACT(substr(s, 2, 3) == "234");
	FACT(substr(s, 7) == "789" && substr(s, 7, 100) == "789");
	FACT(substr(s, 0) == s);
	FACT(substr(s, 10) == "" && substr(s, 11, 2) == "" && substr(s, 11) != NULL);
	FACT(substr(s, 3, (size_t)-2) == "3456789");
	FACT(substr("literal", 1, 2) == "it");
	FACTS_END();
}

/* ---- numbers ---- */

static void
numbers()
{
	int32_t i = 7;
	int64_t l = 7;
	u_int32_t u = 7;
	u_int64_t ul = 7;
	double d = 7;

	FACT(str("-2147483648").to_int32(&i) && i == INT_MIN);
	FACT(str("2147483647").to_int32(&i) && i == INT_MAX);
	i = 7;
	FACT(!str("2147483648").to_int32(&i) && !str("1x").to_int32(&i) && i == 7);
	FACT(!str("").to_int32(&i) && !str("1\0", 2).to_int32(&i) && i == 7);
	FACT(!str("0x10").to_int32(&i) && i == 7);
	FACT(str("010").to_int32(&i) && i == 10);
	FACT(str("0x10").to_int32(&i, 0) && i == 16);
	FACT(str("010").to_int32(&i, 0) && i == 8);
	FACT(str("-zz").to_int64(&l, 36) && l == -1295);
	FACT(str("ff").to_uint32(&u, 16) && u == 255);
	FACT(str("777").to_uint64(&ul, 8) && ul == 511);
	FACT(str("-9223372036854775808").to_int64(&l) && l == INT64_MIN);
	FACT(!str("9223372036854775808").to_int64(&l) && l == INT64_MIN);
	FACT(str("4294967295").to_uint32(&u) && u == UINT_MAX);
	FACT(!str("4294967296").to_uint32(&u) && !str("-1").to_uint32(&u) && u == UINT_MAX);
	FACT(str("18446744073709551615").to_uint64(&ul) && ul == UINT64_MAX);
	FACT(!str("-1").to_uint64(&ul) && !str("18446744073709551616").to_uint64(&ul));
	FACT(str("-1.5e3").to_double(&d) && d == -1500);
	FACT(!str("1.5 ").to_double(&d) && d == -1500);
	errno = 17;
	FACT(!str("99999999999999999999").to_int64(&l) && errno == 17);
	FACTS_END();
}

/* ---- keys ---- */

static void
keys()
{
	str a("key"), b(strbuf("%s", "key")), nul("key\0x", 5);
	hashfn<str> hash;
	equals<str> same;
	compare<str> order;

	FACT(a.cstr() != b.cstr() && hash(a) == hash(b) && same(a, b) && order(a, b) == 0);
	FACT(hash(a) == hash_string("key") && hash(a) == hash_bytes("key", 3));
	FACT(hash(nul) != hash(a) && !same(a, nul) && order(a, nul) < 0 && order(nul, a) > 0);
	FACTS_END();
}

/* ---- globals ---- */

extern bssstr of_bss;

static struct before_and_after {
	before_and_after() { of_bss = "early"; }
	~before_and_after()
	{
		if (of_bss == "late")
			_exit(FACTS_PASSED);
	}
} before_and_after;

bssstr of_bss;

/* Assigned before its constructor runs, and valid after its destructor. */
static void
globals_of_bss()
{
	FACT(of_bss == "early");
	of_bss = "late";
	exit(1);
}

/* ---- parsing a hosts file ---- */

static void
words_of_lines()
{
	char line[] = "  10.1.2.3%25 \t mail";
	char *p = line, *port = strnnsep(&p, " \t");
	char *host = xstrsep(&port, "%");

	FACT(!strcmp(host, "10.1.2.3") && !strcmp(port, "25"));
	FACT(!strcmp(strnnsep(&p, " \t"), "mail"));
	FACT(strnnsep(&p, " \t") == NULL && xstrsep(&p, "%") == NULL);
	p = host;
	FACT(*xstrsep(&p, "1") == 0 && p == host + 1);
	FACT(mempbrk(p, "x.", 2) == p + 1);
	FACT(mempbrk(p, "x.", 1) == NULL && mempbrk(line, "%", sizeof line) == NULL);
	FACTS_END();
}

static const struct fact facts[] = {
	CASE_ON(1, words_of_lines),
	CASE_ON(1, null_is_not_empty),
	{"null_appended", null_appended, 1000 + SIGSEGV, "a null str", 1},
	{"null_length", null_length, 1000 + SIGSEGV, "a null str", 1},
	{"null_compared", null_compared, 1000 + SIGSEGV, "a null str", 1},
	CASE_ON(1, one_pointer),
	CASE_ON(1, constructors),
	CASE_ON(1, assignments),
	CASE_ON(1, mstr_is_stolen),
	CASE_ON(1, mstr_shrinks),
	{"mstr_does_not_grow", mstr_does_not_grow, 1000 + SIGABRT, "PANIC", 1},
	CASE_ON(1, wiped_strings),
	CASE_ON(1, idioms),
	CASE_ON(1, order),
	CASE_ON(1, substrings),
	CASE_ON(1, numbers),
	CASE_ON(1, keys),
	CASE_ON(1, globals_of_bss)
};

FACTS_MAIN(facts)
