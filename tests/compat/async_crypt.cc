/* SPDX-License-Identifier: MIT */
/*
 * async_crypt.cc: the supported parts of cryptography of dialect "async": SHA-1, ARC4, random
 * numbers, wiped strings. Section 1.8 of the facts, and tier 2.
 */
#include "crypt.h"

#include "arc4.h"
#include "bench.h"
#include "facts.h"

/* ---- SHA-1 ---- */

static str
hex(const void *p, size_t n)
{
	return strbuf() << hexdump(p, n);
}

static str
sha1_of(const str &s)
{
	char h[sha1::hashsize];

	sha1_hash(h, s, s.len());
	return hex(h, sizeof h);
}

static void
sha1_vectors()
{
	FACT(sha1_of("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	FACT(sha1_of("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
	FACT(sha1_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
	    "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
	FACT_EQ(sha1::hashsize, 20);
	FACT_EQ(sha1ctx::hashsize, 20);
	FACTS_END();
}

static void
sha1_in_pieces()
{
	sha1ctx c;
	char h[sha1ctx::hashsize];

	for (int i = 0; i < 100000; i++)
		c.update("aaaaaaaaaa", 10);
	c.final(h);
	FACT(hex(h, sizeof h) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
	/* final starts again; so does reset. */
	c.update("abc", 3);
	c.final(h);
	FACT(hex(h, sizeof h) == "a9993e364706816aba3e25717850c26c9cd0d89d");
	c.update("x", 1);
	c.reset();
	c.update("", 0);
	c.final(h);
	FACT(hex(h, sizeof h) == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	/* Input of any length, split anywhere, has the hash of the whole. */
	char text[300];
	memset(text, 'q', sizeof text);
	for (size_t n = 0; n <= sizeof text; n++) {
		size_t first = n * 7 / 11;
		iovec iov[2] = {{text, first}, {text + first, n - first}};
		char whole[sha1::hashsize];

		sha1_hash(whole, text, n);
		sha1_hashv(h, iov, 2);
		FACT(memcmp(whole, h, sizeof h) == 0);
	}
	FACTS_END();
}

static void
sha1_copies()
{
	sha1ctx a;
	char h[sha1::hashsize], g[sha1::hashsize];

	a.update("ab", 2);
	sha1ctx b(a);
	a.update("c", 1);
	b.update("c", 1);
	a.final(h);
	b.final(g);
	FACT(memcmp(h, g, sizeof h) == 0 && hex(h, 4) == "a9993e36");
	FACTS_END();
}

static void
hmac_vectors()
{
	char h[sha1::hashsize];
	char longkey[80];

	sha1_hmac(h, "Jefe", 4, "what do ya want for nothing?", 28);
	FACT(hex(h, sizeof h) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
	str text("Test Using Larger Than Block-Size Key - Hash Key First");
	memset(longkey, 0xaa, sizeof longkey);
	sha1hmac m(longkey, sizeof longkey);
	for (int again = 0; again < 2; again++) {
		m.update(text, 10);
		m.update(text + 10, text.len() - 10);
		m.final(h);
		FACT(hex(h, sizeof h) == "aa4ae5e15272d00e95705637ce8a3b55ed402112");
	}
	FACTS_END();
}

/* ---- ARC4 ---- */

static str
stream(const char *key, size_t len, size_t skip, size_t n)
{
	arc4 a;

	a.setkey(key, len);
	while (skip-- > 0)
		a.getbyte();
	mstr m(n);
	for (size_t i = 0; i < n; i++)
		m[i] = (char)a.getbyte();
	str s(m);
	return hex(s, n);
}

static void
arc4_vectors()
{
	FACT(stream("\1\2\3\4\5", 5, 0, 16) == "b2396305f03dc027ccc3524a0a1118a8");
	FACT(stream("\1\2\3\4\5", 5, 240, 16) == "28cb1132c96ce286421dcaadb8b69eae");
	FACT(stream("Key", 3, 0, 10) == "eb9f7781b734ca72a719");
	FACT(stream("Wiki", 4, 0, 6) == "6044db6d41b7");
	FACTS_END();
}

/* Further keys add up; reset drops them. */
static void
arc4_keys()
{
	arc4 a, b;
	int n = 7;
	u_char x[32], y[32];

	a.setkey(&n, sizeof n);
	a.setkey("hello", 5);
	b.setkey("hello", 5);
	a.getbytes(x, sizeof x);
	b.getbytes(y, sizeof y);
	FACT(memcmp(x, y, sizeof x) != 0);
	a.reset();
	a.setkey("hello", 5);
	a.getbytes(x, sizeof x);
	FACT(memcmp(x, y, sizeof x) == 0);
	size_t length = (size_t)((a.getbyte() << 8 | a.getbyte()) % 0x800);
	FACT(length < 0x800);
	FACTS_END();
}

/* ---- random numbers ---- */

static void
random_numbers()
{
	char a[100], b[100];
	int same = 0, ones = 0;

	random_init();
	random_start();
	random_init_file("/nonexistent/seed");
	random_update();
	rnd.getbytes(a, sizeof a);
	rnd.getbytes(b, sizeof b);
	FACT(memcmp(a, b, sizeof a) != 0);
	for (int i = 0; i < 100; i++) {
		u_int32_t w = rnd.getword();

		same += w == rnd.getword();
		ones += __builtin_popcount(w);
	}
	FACT(same == 0 && ones > 1200 && ones < 2000);
	FACT(rnd.gethyper() != rnd.gethyper());
	rnd.getbytes(a, 0);
	FACTS_END();
}

/* A child does not continue the sequence of its parent. */
static void
random_after_fork()
{
	int fds[2];
	u_int64_t theirs = 0;

	random_update();
	rnd.getword();
	FACT(pipe(fds) == 0);
	if (fork() == 0) {
		u_int64_t mine = rnd.gethyper();
		_exit(write(fds[1], &mine, sizeof mine) == (ssize_t)sizeof mine ? 0 : 1);
	}
	u_int64_t ours = rnd.gethyper();
	FACT(read(fds[0], &theirs, sizeof theirs) == (ssize_t)sizeof theirs && ours != theirs);
	FACTS_END();
}

static sha1ctx pool;
static bool in_noise;

static void
noise_is_there(int bound)
{
	char h[sha1::hashsize];

	FACT(!in_noise && bound == 7);
	pool.final(h);
	FACT(hex(h, 4) != "da39a3ee");
	FACTS_END();
}

static void
noise()
{
	datasink *sink = &rnd_input;

	rnd_input.update("typed", 5);
	getclocknoise(&rnd_input);
	sink->update("more", 4);
	random_update();
	random_update();
	in_noise = true;
	getsysnoise(&pool, wrap(noise_is_there, 7));
	in_noise = false;
	amain();
}

/* ---- wiped strings ---- */

static char wiped[64];
static size_t wiped_bytes;
static const char *watched;

extern "C" void
explicit_bzero(void *p, size_t n) __THROW
{
	if (p == watched && n <= sizeof wiped) {
		memcpy(wiped, p, n);
		wiped_bytes = n;
	}
	memset(p, 0, n);
	__asm__ __volatile__("" : : "r"(p) : "memory");
}

static void
wiped_with_the_last_copy()
{
	wmstr m(6);

	memcpy(m, "secret", 6);
	watched = m.cstr();
	{
		str s = m;
		FACT(!m.cstr() && s == "secret" && s.cstr() == watched);
		str copy(s);
		s = NULL;
		FACT(wiped_bytes == 0 && copy == "secret");
	}
	FACT(wiped_bytes >= 6 && memcmp(wiped, "secret", 6) == 0);
	wiped_bytes = 0;
	{
		wmstr unused(8);
		watched = unused.cstr();
		unused[0] = 'x';
	}
	FACT_EQ(wiped_bytes, 8);
	FACTS_END();
}

static void
wiped_copies()
{
	str file = strbuf() << "/tmp/async_crypt." << (int)getpid();

	{
		str w = str2wstr("hidden");
		FACT(w == "hidden" && !str2wstr(str()));
		watched = w.cstr();
	}
	FACT(wiped_bytes == 6 && memcmp(wiped, "hidden", 6) == 0);
	FACT(str2file(file, "from a file", 0600, false, NULL, true));
	wiped_bytes = 0;
	{
		str w = file2wstr(file);
		FACT(w == "from a file");
		watched = w.cstr();
	}
	FACT(wiped_bytes == 11);
	FACT(unlink(file) == 0 && !file2wstr(file));
	FACTS_END();
}

/* ---- the idioms of programs ---- */

static void
armored_noise()
{
	random_update();
	for (int i = 0; i < 300; i++) {
		size_t len = rnd.getword() % 31;
		wmstr m(len);
		rnd.getbytes(m, len);
		str s = m;
		str a = armor64(s);
		str b = dearmor64(a);
		if (!b || s != b)
			panic << "wanted: " << hexdump(s, s.len()) << "\n armor: " << a << "\n";
	}
	int r = rnd.getword();
	FACT_EQ(armor32((void *)&r, sizeof(int)).len(), 7);
	FACTS_END();
}

static void
benchmarks()
{
	u_int64_t start = get_time();
	int n = 0;

	BENCH(10, n++);
	FACT(n == 10 && get_time() >= start);
	FACTS_END();
}

static const struct fact facts[] = {
	CASE_ON(1, sha1_vectors),
	CASE_ON(1, sha1_in_pieces),
	CASE_ON(1, sha1_copies),
	CASE_ON(1, hmac_vectors),
	CASE_ON(1, arc4_vectors),
	CASE_ON(1, arc4_keys),
	CASE_ON(1, random_numbers),
	CASE_ON(1, random_after_fork),
	CASE(noise),
	CASE_ON(1, wiped_with_the_last_copy),
	CASE_ON(1, wiped_copies),
	CASE_ON(1, armored_noise),
	{"benchmarks", benchmarks, FACTS_PASSED, "10 iterations in", 1},
};

FACTS_MAIN(facts)
