/* SPDX-License-Identifier: MIT */
/*
 * async_strbuf.cc: buffers of dialect "async", the types that can be appended to them, and formats.
 * Sections 1.4 and 1.5 of the facts.
 */
#include "async.h"

#include "facts.h"

static char many[400]; /* more than the limit for copying */

static void
fill_many()
{
	memset(many, 'x', sizeof many - 1);
}

/* ---- buffers ---- */

static void
copies_alias()
{
	strbuf a;
	strbuf b(a), c = b;

	a << "one";
	b << " two";
	FACT(str(c) == "one two" && c.len() == 7 && a.tosuio() == b.tosuio());
	c.clear();
	FACT_EQ(a.len(), 0);
	FACT(str(a) == "");
	FACTS_END();
}

static str
of_a_constant(const strbuf &sb)
{
	sb << 1;
	sb.cat("2").fmt("%d", 3).buf("4", 1) << "5";
	return sb;
}

static void
methods_are_const()
{
	strbuf sb;

	FACT(of_a_constant(sb) == "12345" && of_a_constant(strbuf()) == "12345");
	FACT(str(strbuf("<%s>", "x") << "y") == "<x>y");
	FACT(sb.iovcnt() == 1 && sb.iov()->iov_len == 5);
	FACTS_END();
}

static void
from_a_str()
{
	str line("a line\nanother\n");
	strbuf sb = line;
	str made = line << 1 << ' ' << "x";

	FACT(suio_getline(sb.tosuio()) == "a line");
	FACT(made == "a line\nanother\n132x");
	FACT(line == "a line\nanother\n");
	FACTS_END();
}

static void
short_is_copied()
{
	char text[129] = "short";
	str pattern;
	strbuf sb;

	sb << text;
	sb.cat(text);
	sb.buf(text, 5);
	sb.fmt("%s", text);
	memset(text, 'y', 128);
	FACT(str(sb) == "shortshortshortshort");
	sb.clear();
	sb.buf(text, 128); /* exactly the limit for copying */
	pattern = sb;
	memset(text, 'z', 128);
	FACT(str(sb) == pattern);
	FACTS_END();
}

static void
long_is_kept()
{
	strbuf copied, kept, formatted, uncopied;

	fill_many();
	copied << many;
	copied.cat(many);
	kept.buf(many, 129);
	formatted.fmt("%s", many);
	uncopied.cat(many, false);
	many[0] = '!';
	FACT(str(copied).len() == 2 * 399 && str(copied).cstr()[0] == 'x');
	FACT(strchr(str(copied), '!') == NULL);
	FACT(str(kept).cstr()[0] == '!' && kept.iov()->iov_base == many);
	FACT(str(formatted).cstr()[0] == '!' && str(uncopied).cstr()[0] == '!');
	FACTS_END();
}

static void
long_str_by_reference()
{
	static char other[sizeof many];
	strbuf sb, two;
	const char *where;

	fill_many();
	{
		str s(many), t("short");
		where = s.cstr();
		sb << t << s;
		two.cat(s);
	}
	memset(other, 'z', sizeof other - 1);
	str over_it(other), and_over(other); /* allocated where a freed string would have been */
	FACT(sb.iovcnt() == 2 && sb.iov()[1].iov_base == where);
	FACT(str(sb) == str(strbuf("short%s", many)));
	two.clear();
	FACT(str(sb).len() == 5 + 399);
	FACTS_END();
}

static void
takes_and_holds()
{
	strbuf from, to("begin:");
	const char *where;

	fill_many();
	{
		str s(many);
		where = s.cstr();
		from.buf(s.cstr(), s.len());
		from.hold_onto(s);
	}
	from << "end";
	to.take(from);
	FACT(from.len() == 0 && to.len() == 6 + 399 + 3);
	FACT(to.iov()[1].iov_base == where);
	from << "again";
	to.take(from.tosuio());
	FACT(str(to) == str(strbuf("begin:%send", many) << "again"));
	FACTS_END();
}

static void
appends_a_buffer()
{
	strbuf a("a"), b("b");

	a << b << b;
	a.cat(b);
	FACT(str(a) == "abbb" && str(b) == "b");
	FACTS_END();
}

/* ---- appending ---- */

static str
shown(const strbuf &sb)
{
	return sb;
}

static void
numbers_appended()
{
	u_char byte = 200;
	signed char small = -3;
	u_int16_t word = 65535;
	u_int64_t most = UINT64_MAX;
	int64_t least = INT64_MIN;
	float single = 2.5;

	FACT(shown(strbuf() << 'c') == "99");
	FACT(shown(strbuf() << true << false) == "10");
	FACT(shown(strbuf() << byte << small << word) == "200-365535");
	FACT(shown(strbuf() << INT_MIN << " " << UINT_MAX) == "-2147483648 4294967295");
	FACT(shown(strbuf() << most) == "18446744073709551615");
	FACT(shown(strbuf() << least) == "-9223372036854775808");
	FACT(shown(strbuf() << 5L << 6UL << -7LL << 8ULL) == "56-78");
	FACT(shown(strbuf() << 1.5 << " " << single) == "1.500000 2.500000");
	FACT(shown(strbuf() << -1e300).len() == 1 + 301 + 7);
	FACTS_END();
}

#ifdef __clang__ /* it warns about types that C++98 does not accept in templates */
#pragma clang diagnostic ignored "-Wunnamed-type-template-args"
#endif
enum { OF_NO_NAME = 12 };
enum named { NAMED = 13 };

static void
other_things_appended()
{
	int x;
	char expected[40];
	char array[8] = "array";
	const char *pointer = "const";
	char *plain = array;

	sprintf(expected, "%p %p", (void *)&x, (void *)expected);
	FACT(shown(strbuf() << &x << " " << (void *)expected) == expected);
	FACT(shown(strbuf() << (int *)NULL) == "0x0");
	FACT(shown(strbuf() << array << pointer << plain << "literal") == "arrayconstarrayliteral");
	FACT(shown(strbuf() << OF_NO_NAME << NAMED) == "1213");
	FACT(shown(strbuf() << str("a\0b", 3)).len() == 3);
	FACTS_END();
}

struct by_function {
	int x;
};

static const strbuf &
strbuf_cat(const strbuf &sb, const by_function &f)
{
	return sb << "f" << f.x;
}

struct by_operator {
	int x;
};

static const strbuf &
operator<<(const strbuf &sb, const by_operator &o)
{
	return sb << "o" << o.x;
}

struct is_str : str {
	is_str() : str("is") {}
};

static void
programs_extend_it()
{
	by_function f = {1};
	by_operator o = {2};
	str s("s");

	FACT(shown(strbuf() << f << o << is_str() << "!") == "f1o2is!");
	FACT(shown(s << f << o) == "sf1o2");
	FACT(shown(s << o) == "so2");
	FACTS_END();
}

static void
hexadecimal()
{
	FACT(shown(strbuf() << hexdump("\x01\xab\xff\0", 4) << ".") == "01abff00.");
	FACT(shown(strbuf() << hexdump("", 0)) == "");
	FACTS_END();
}

static void
null_c_string()
{
	strbuf() << (const char *)NULL;
	FACTS_END();
}

/* ---- formats ---- */

/* Formats that work as in printf. */
static void
same(const char *format, ...)
{
	char expected[1024];
	va_list ap, again;
	strbuf sb;

	va_start(ap, format);
	va_copy(again, ap);
	vsnprintf(expected, sizeof expected, format, ap);
	sb.vfmt(format, again);
	va_end(again);
	va_end(ap);
	if (str(sb) != expected) {
		fprintf(stderr, "[%s] not [%s]\n", str(sb).cstr(), expected);
		facts_fail(__FILE__, __LINE__, format);
	}
}

static void
formats_of_printf()
{
	same("plain %% text %s %c%c", "str", 'a', 'b');
	same("[%5s] [%-5s] [%.2s] [%5.1s] [%*s] [%-*s] [%.*s]", "abc", "abc", "abc", "abc", 6,
	    "abc", 6, "abc", 1, "abc");
	same("[%*s]", -6, "abc");
	same("%d %i %u %o %x %X", -5, 6, 7U, 8U, 255U, 255U);
	same("[%5d] [%-5d] [%05d] [%+d] [% d] [%+ d]", 42, 42, 42, 42, 42, 42);
	same("[%5d] [%-5d] [%05d] [%+d] [% d]", -42, -42, -42, -42, -42);
	same("[%.3d] [%8.3d] [%-8.3d] [%.0d] [%.d] [%.0u]", 5, 5, 5, 0, 0, 0U);
	same("[%08.3d] [%-08d] [%+.3d]", 5, 5, 5);
	same("%#x %#X %#o %#x %#o %#.4x %#8x %#08x", 255U, 255U, 8U, 0U, 0U, 1U, 2U, 3U);
	same("%ld %lu %lx", LONG_MIN, ULONG_MAX, 255UL);
	same("%lld %llu %llx", LLONG_MIN, ULLONG_MAX, 1ULL << 40);
	same("%zu %zx", (size_t)-1, (size_t)17);
	same("%hd %hu %hhd %hhu", (short)-2, (unsigned short)65535, (signed char)-3, 255);
	same("%jd", (intmax_t)INT64_MIN);
	same("%d", INT_MIN);
	same("%p", (void *)many);
	same("[%20p] [%-20p]", (void *)many, (void *)many);
	same("%200d|%-200s|", 1, "wide");
	FACT(str(strbuf("%c", 0)).len() == 1);
	FACTS_END();
}

static void
formats_of_its_own()
{
	FACT(str(strbuf("%qd %qu", -1LL, ULLONG_MAX)) == "-1 18446744073709551615");
	FACT(str(strbuf("%D %U %O", -2L, ULONG_MAX, 8L)) == "-2 18446744073709551615 10");
	errno = ENOENT;
	FACT(str(strbuf("%m: %s", "x")) == str(strbuf() << strerror(ENOENT) << ": x"));
	FACT_EQ(errno, ENOENT);
	/* There is no floating point, and the argument is not consumed. */
	FACT(str(strbuf("%f %d", 5)) == "f 5");
	FACT(str(strbuf("%g%e%.2f|%5f|%s", "next")) == "gef|    f|next");
	FACT(str(strbuf("%n%d", 7)) == "n7");
	FACT(str(strbuf("100%")) == "100");
	FACT(str(strbuf("%y")) == "y");
	FACT(str(strbuf("%p", (void *)NULL)) == "0x0");
	FACTS_END();
}

static void
forms_of_formats()
{
	suio uio;
	strbuf sb;

	suio_uprintf(&uio, "%d-%s", 1, "a");
	suio_uprintf(&uio, "-%d", 2);
	FACT(str(uio) == "1-a-2");
	sb.fmt("%s", "x").fmt("%d", 5);
	FACT(str(sb) == "x5");
	FACTS_END();
}

static void
format_of_null()
{
	strbuf("%s", (const char *)NULL);
	FACTS_END();
}

static void
input_at_a_time()
{
	static const char text[10000] = "";
	int fds[2];
	strbuf sb;

	FACT(pipe(fds) == 0 && write(fds[1], text, sizeof text) == (ssize_t)sizeof text);
	FACT_EQ(sb.tosuio()->input(fds[0]), 8192);
	FACT_EQ(sb.tosuio()->input(fds[0]), 10000 - 8192);
	FACTS_END();
}

/* ---- a logger: its destructor writes the buffer ---- */

static int logfd;

class logger : public strbuf
{
public:
	explicit logger(const char *module) { cat(module).cat(": "); }
	~logger()
	{
		int saved = errno;

		uio->output(logfd);
		errno = saved;
	}
	const logger &
	operator()(const char *fmt, ...) const
	{
		va_list ap;

		va_start(ap, fmt);
		vfmt(fmt, ap);
		va_end(ap);
		return *this;
	}
};

static void
loggers()
{
	int fds[2];
	suio uio;

	FACT(pipe(fds) == 0);
	logfd = fds[1];
	logger("ring") << 3 << " nodes\n";
	logger("ring")("%d%%\n", 7);
	FACT(uio.input(fds[0]) > 0);
	FACT(suio_getline(&uio) == "ring: 3 nodes");
	FACT(suio_getline(&uio) == "ring: 7%");
	FACTS_END();
}

static const struct fact facts[] = {
	CASE_ON(1, loggers),
	CASE_ON(1, input_at_a_time),
	CASE_ON(1, copies_alias),
	CASE_ON(1, methods_are_const),
	CASE_ON(1, from_a_str),
	CASE_ON(1, short_is_copied),
	CASE_ON(1, long_is_kept),
	CASE_ON(1, long_str_by_reference),
	CASE_ON(1, takes_and_holds),
	CASE_ON(1, appends_a_buffer),
	CASE_ON(1, numbers_appended),
	CASE_ON(1, other_things_appended),
	CASE_ON(1, programs_extend_it),
	CASE_ON(1, hexadecimal),
	{"null_c_string", null_c_string, 1000 + SIGSEGV, "a null str", 1},
	CASE_ON(1, formats_of_printf),
	CASE_ON(1, formats_of_its_own),
	CASE_ON(1, forms_of_formats),
	{"format_of_null", format_of_null, 1000 + SIGABRT, "PANIC", 1}
};

FACTS_MAIN(facts)
