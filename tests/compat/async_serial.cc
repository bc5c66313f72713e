/* SPDX-License-Identifier: MIT */
/*
 * async_serial.cc: bytes, text and files of dialect "async"; characters, bundles, named values,
 * the time. Section 1.8 of the facts.
 */
#include "dynenum.h"
#include "litetime.h"
#include "rxx.h"
#include "serial.h"
#include "sfs_bundle.h"
#include "wide_str.h"

#include "facts.h"

#include <errno.h>
#include <sys/stat.h>

/* ---- numbers as bytes ---- */

static void
big_endian()
{
	const u_int64_t hyper = (u_int64_t)0xfedcba98 << 32 | 0x76543210;
	u_char b[9];

	putshort(b + 1, 0x1234);
	FACT(b[1] == 0x12 && b[2] == 0x34 && getshort(b + 1) == 0x1234);
	putint(b + 1, 0x89abcdef);
	FACT(b[1] == 0x89 && b[4] == 0xef && getint(b + 1) == 0x89abcdef);
	puthyper(b + 1, hyper);
	FACT(b[1] == 0xfe && b[8] == 0x10 && gethyper(b + 1) == hyper);
	FACTS_END();
}

static void
hexadecimal()
{
	FACT(hex2bytes("00ffAb") == str("\0\xff\xab", 3));
	FACT(hex2bytes("") == "" && hex2bytes("") != NULL);
	FACT(!hex2bytes("0") && !hex2bytes("0g") && !hex2bytes("0x") && !hex2bytes(str()));
	FACTS_END();
}

/* ---- armor ---- */

static void
armor64_vectors()
{
	static const char *const text[][2] = {
		{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"},
	};

	for (int i = 0; i < 7; i++) {
		str bin(text[i][0]), asc(text[i][1]);

		FACT(armor64(bin) == asc && armor64(bin.cstr(), bin.len()) == asc);
		FACT(dearmor64(asc) == bin && dearmor64(asc.cstr()) == bin);
	}
	FACT(armor64("\xff") == "/w==" && armor64("\xfb") == "+w==");
	FACTS_END();
}

/* The other base 64 alphabets: A is not padded, X is; both are valid in file names. */
static void
armor64_others()
{
	FACT(armor64A("\xff") == "-w" && armor64A("\xfb") == "+w" && armor64A("foo") == "Zm9v");
	FACT(armor64X("\xff") == "_w==" && armor64X("\xfb") == "@w==");
	FACT(dearmor64A("-w") == str("\xff") && dearmor64X("_w==") == str("\xff"));
	FACT(!dearmor64A(str("-w==")) && !dearmor64X(str("_w")) && !dearmor64(str("_w==")));
	FACT(!dearmor64A(str("/w")) && !dearmor64X(str("/w==")));
	FACTS_END();
}

static void
armor32_alphabets()
{
	u_char all[20];
	unsigned held = 0;

	/* All 32 symbols in order. */
	for (int i = 0, bits = 0, n = 0; i < 32; i++) {
		held = held << 5 | (unsigned)i;
		bits += 5;
		if (bits >= 8) {
			bits -= 8;
			all[n++] = (u_char)(held >> bits);
		}
	}
	FACT(armor32(all, sizeof all) == "abcdefghijkmnpqrstuvwxyz23456789");
	FACT(armor32_rfc(all, sizeof all) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
	FACT(armor32("f") == "n2" && dearmor32("n2") == "f");
	FACT(!dearmor32(str("l2")) && !dearmor32(str("o2")) && !dearmor32(str("12")));
	FACT(!dearmor32(str("n")) && !dearmor32(str("nnn")) && !dearmor32(str("N2")));
	static const char *const rfc[][2] = {
		{"", ""}, {"f", "MY======"}, {"fo", "MZXQ===="}, {"foo", "MZXW6==="},
		{"foob", "MZXW6YQ="}, {"fooba", "MZXW6YTB"}, {"foobar", "MZXW6YTBOI======"},
	};
	for (int i = 0; i < 7; i++)
		FACT(armor32_rfc(rfc[i][0]) == rfc[i][1] &&
		    dearmor32_rfc(str(rfc[i][1])) == rfc[i][0]);
	FACT(!dearmor32_rfc(str("MY")) && !dearmor32_rfc(str("MY=====")));
	FACTS_END();
}

/* A str must be armor as a whole; of a C string only the armored prefix counts. */
static void
whole_or_part()
{
	static const char *const bad[] = {
		"!!", "Zg", "Zg=", "Zg===", "Zm9v=", "Z", "Zm9v!", "Zg==x", "=", "Zm9vZ===",
		"Zg= =",
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		FACT(!dearmor64(str(bad[i])));
	FACT(!dearmor64(str("Zm9v\0", 5)) && !dearmor64(str()));
	FACT(dearmor64("!!") == "" && dearmor64("!!") != NULL);
	FACT(dearmor64("Zm9v!xyz") == "foo" && dearmor64("Zg==x") == "f");
	FACT(dearmor64("Zm9vYmFy", 4) == "foo" && dearmor32("n2 ") == "f");
	/* But a prefix that armor cannot be is wrong. */
	FACT(!dearmor64("Zg") && !dearmor64("Zg= ") && !dearmor64("Zm9v==") && !dearmor64("Zm9vZ"));
	FACT(!dearmor64("Zm9vYmFy", 3) && !dearmor64X("Zg") && dearmor64X("Zg==") == "f");
	FACT(!dearmor32("n") && !dearmor32("nnn!") && !dearmor32("n2 ", 3) && dearmor32("") == "");
	FACT(dearmor64A("Zg") == "f" && !dearmor32_rfc("MY") && dearmor32_rfc("MY======") == "f");
	const u_char *p = (const u_char *)"Zm8= and more";
	FACT_EQ(armor64len(p), 4);
	FACT_EQ(armor64len((const u_char *)"Zm9v=="), 6);
	FACT_EQ(armor64Alen((const u_char *)"Zm8="), 3);
	FACT_EQ(armor64Xlen((const u_char *)"Zg== "), 4);
	FACT_EQ(armor32len((const u_char *)"n2l"), 2);
	FACT_EQ(armor32len_rfc((const u_char *)"MY======A"), 8);
	FACTS_END();
}

static void
there_and_back()
{
	for (size_t len = 0; len < 70; len++) {
		mstr m(len);
		for (size_t i = 0; i < len; i++)
			m[i] = (char)(i * 37 + len * 101);
		str s(m);
		FACT(dearmor64(armor64(s)) == s && dearmor64A(armor64A(s)) == s);
		FACT(dearmor64X(armor64X(s)) == s && dearmor32(armor32(s)) == s);
		FACT(dearmor32_rfc(armor32_rfc(s)) == s);
	}
	FACTS_END();
}

/* ---- files ---- */

static str
scratch()
{
	static char dir[256];

	const char *tmp = getenv("TMPDIR");
	snprintf(dir, sizeof dir, "%s/async_serial.XXXXXX", tmp != NULL ? tmp : "/tmp");
	FACT(mkdtemp(dir) != NULL);
	return dir;
}

static void
files()
{
	str dir = scratch(), file = strbuf() << dir << "/f";
	struct stat sb, now;
	char old[8] = "";
	int fd;

	umask(022);
	FACT(str2file(file, "text"));
	FACT(file2str(file) == "text\n");
	fd = open(file, O_RDONLY);
	FACT(str2file(file, "line\n", 0444, false, &sb) && file2str(file) == "line\n");
	FACT(stat(file, &now) == 0 && (now.st_mode & 0777) == 0444);
	FACT(sb.st_ino == now.st_ino && sb.st_size == 5);
	/* The name refers to a new file: readers of the old one still see the old content. */
	FACT(read(fd, old, sizeof old) == 5 && strcmp(old, "text\n") == 0 && close(fd) == 0);
	FACT(str2file(file, strbuf("%d", 12), 0666, false, NULL, true));
	FACT(file2str(file) == "12" && stat(file, &now) == 0 && (now.st_mode & 0777) == 0644);
	FACT(!str2file(file, "x", 0666, true) && errno == EEXIST && file2str(file) == "12");
	FACT(str2file(strbuf() << dir << "/g", "", 0666, true, &sb));
	FACT(sb.st_nlink == 1 && sb.st_size == 1);
	FACT(str2file(file, str("a\0b", 3), 0666, false, NULL, true) && file2str(file).len() == 3);
	/* The directory does not contain anything else. */
	FACT(unlink(file) == 0 && unlink(str(strbuf() << dir << "/g")) == 0 && rmdir(dir) == 0);
	FACTS_END();
}

static void
files_that_fail()
{
	FACT(!file2str("/nonexistent/file") && errno == ENOENT);
	FACT(!file2str("/") && errno == EISDIR);
	FACT(!str2file("/nonexistent/file", "x") && errno == ENOENT);
	FACT(!file2str(str()) && !str2file(str(), "x") && !str2file("/tmp/x", str()));
	FACTS_END();
}

/* ---- characters ---- */

#define DOG "\xE7\x8B\x97"

static void
wide()
{
	wide_str_t w("a" DOG "\xF0\x9F\x90\x95\xC3\xA9");
	size_t n;

	FACT(wide_str_t::init() && w && !w.err() && w.len() == 4);
	const wchar_t *p = w.buf(&n);
	FACT(n == 4 && p[0] == 'a' && p[1] == 0x72d7 && p[2] == 0x1f415 && p[3] == 0xe9);
	FACT(p[4] == 0 && w[1] == 0x72d7);
	FACT(w.to_utf8() == "a" DOG "\xF0\x9F\x90\x95\xC3\xA9");
	FACT(w.substr(1, 1).to_utf8() == DOG && w.to_utf8(3, 99) == "\xC3\xA9");
	FACT(w.to_utf8(4, 1) == "" && w.substr(9, 9).len() == 0);
	FACT(wide_str_t("").len() == 0 && wide_str_t(str()).err());
	w.chop(1, 2);
	FACT(w.len() == 2 && w.to_utf8() == DOG "\xF0\x9F\x90\x95" && w.buf()[2] == 0);
	w.chop(1);
	FACT(w.len() == 1 && w[0] == 0x1f415);
	*w.buf() = 'x';
	FACT(str(strbuf() << "<" << w << ">") == "<x>" && !w.error());
	w.chop(5);
	FACT(w.len() == 0 && wide_str_t(L"ab").substr(1).to_utf8() == "b");
	const wchar_t half[] = {0xd800};
	FACT(!wide_str_t(half, 1).to_utf8());
	FACTS_END();
}

static void
utf8()
{
	static const char *const bad[] = {
		"\xff", "\x80", "a\xC3", DOG "\xE7\x8B", "\xC0\x80", "\xE0\x80\x80",
		"\xF0\x80\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
		"\xF8\x88\x80\x80\x80", "\xC3(",
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		FACT(!is_utf8(bad[i]) && wide_str_t(bad[i]).err() && !utf8_substr(bad[i], 0, 9));
		FACT(is_utf8(utf8_fix(bad[i])));
	}
	FACT(is_utf8("") && is_utf8(DOG) && !is_utf8(str()));
	FACT(is_utf8("\xED\x9F\xBF") && is_utf8("\xEE\x80\x80") && is_utf8("\xF4\x8F\xBF\xBF"));
	FACT(utf8_substr("a" DOG "bc", 1, 2) == DOG "b" && !utf8_substr(str(), 0, 1));
	FACT(utf8_fix("a\xff" DOG "\xE7", "?") == "a?" DOG "?" && utf8_fix("ok") == "ok");
	FACT(!utf8_fix(str()));
	FACTS_END();
}

/* ---- small things ---- */

static int
sum(sfs::bundle_t<int, str, char, short> b)
{
	return b.obj1() + (int)b.obj2().len() + b.obj3() + b.obj4();
}

static void
bundles()
{
	FACT_EQ(sum(sfs::bundle_t<int, str, char, short>(1, "ab", 3, 4)), 10);
	sfs::bundle_t<int, str> two(1, "x");
	sfs::bundle_t<int, str> copy(two);
	FACT(copy.obj1() == 1 && copy.obj2() == "x");
	FACT_EQ((sfs::bundle_t<int, int, int>(1, 2, 3).obj3()), 3);
	FACT_EQ((sfs::bundle_t<int>(7).obj1()), 7);
	sfs::bundle_t<int, str, sfs::nil_t> nil(1, "x", sfs::g_nil);
	nil.obj1() = 5;
	copy = nil;
	FACT_EQ(copy.obj1(), 5);
	FACTS_END();
}

class colors_t : public dynamic_enum_t
{
public:
	enum { NONE = 0, RED = 1, BLUE = 2 };

	colors_t() : dynamic_enum_t(NONE)
	{
		static pair_t pairs[] = {{"none", NONE}, {"red", RED}, {"blue", BLUE}, {NULL, 0}};

		init(pairs, true);
	}

protected:
	str enum_name() const { return "colors"; }
};

static void
named_values()
{
	const colors_t c;
	int v = -1;

	FACT_EQ(c["red"], colors_t::RED);
	FACT_EQ(c.lookup("blue"), colors_t::BLUE);
	FACT(c.lookup("red", &v) && v == colors_t::RED);
	FACT(!c.lookup("green", &v) && v == colors_t::NONE && !c.lookup(str(), &v));
	FACT_EQ(c.lookup("green", false), colors_t::NONE);
	FACTS_END();
}

static void
a_name_that_is_not_there()
{
	colors_t c;

	FACT_EQ(c["green"], colors_t::NONE);
	FACTS_END();
}

class wrong_default_t : public dynenum_t
{
public:
	wrong_default_t() : dynenum_t(9)
	{
		static pair_t pairs[] = {{"one", 1}, {NULL, 0}};

		init(pairs, true);
	}
};

static void
a_default_that_is_none_panics()
{
	wrong_default_t w;
}

static void
the_time()
{
	time_t before = time(NULL);
	struct timespec ts = sfs_get_tsnow(true), again;

	sfs_set_clock(SFS_CLOCK_TIMER);
	sfs_set_clock(SFS_CLOCK_MMAP, "/var/run/clock", true);
	sfs_set_global_timestamp();
	sfs_get_tsnow(&again, true);
	sfs_leave_sel_loop();
	FACT(ts.tv_sec >= before && again.tv_sec >= ts.tv_sec);
	sfs_get_tsnow(&ts);
	/* time(NULL) may be a tick behind the other clock. */
	FACT(ts.tv_sec >= before && sfs_get_timenow(true) <= time(NULL) + 1);
	FACTS_END();
}

static const struct fact facts[] = {
	CASE_ON(1, big_endian),
	CASE_ON(1, hexadecimal),
	CASE_ON(1, armor64_vectors),
	CASE_ON(1, armor64_others),
	CASE_ON(1, armor32_alphabets),
	CASE_ON(1, whole_or_part),
	CASE_ON(1, there_and_back),
	CASE_ON(1, files),
	CASE_ON(1, files_that_fail),
	CASE_ON(1, wide),
	CASE_ON(1, utf8),
	CASE_ON(1, bundles),
	CASE_ON(1, named_values),
	{"a_name_that_is_not_there", a_name_that_is_not_there, FACTS_PASSED,
	    "enum colors: no value \"green\"", 1},
	{"a_default_that_is_none_panics", a_default_that_is_none_panics, 1000 + SIGABRT,
	    "the default 9", 1},
	CASE_ON(1, the_time),
};

FACTS_MAIN(facts)
