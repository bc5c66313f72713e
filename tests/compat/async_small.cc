/* SPDX-License-Identifier: MIT */
/*
 * async_small.cc: the small containers of dialect "async": bits, buddies, arenas, rings; and
 * vatmpl.h. Sections 1.8 and 1.10 of the facts.
 */
#include "bitvec.h"

#include "async.h"
#include "arena.h"
#include "bbuddy.h"
#include "cbuf.h"
#include "msb.h"
#include "vatmpl.h"

#include "async_dice.h"
#include "facts.h"

#include <map>
#include <string>
#include <vector>

/* ---- msb.h ---- */

static void
highest_and_lowest()
{
	FACT_EQ(fls(0), 0);
	FACT_EQ(fls(1), 1);
	FACT_EQ(fls(12), 4);
	FACT_EQ(fls(0x80000000u), 32);
	FACT_EQ(fls(-1), 32);
	FACT_EQ(fls(u_int64_t(1) << 40), 41);
	FACT_EQ(fls(int64_t(-1)), 64);
	FACT_EQ(ffs(0), 0);
	FACT_EQ(ffs(1), 1);
	FACT_EQ(ffs(12), 3);
	FACT_EQ(ffs(u_int64_t(12)), 3);
	FACT_EQ(ffs(u_int64_t(12) << 40), 43);
	FACT_EQ(log2c(0), -1);
	FACT_EQ(log2c(1), 0);
	FACT_EQ(log2c(2), 1);
	FACT_EQ(log2c(3), 2);
	FACT_EQ(log2c(4), 2);
	FACT_EQ(log2c(5), 3);
	FACT_EQ(log2c((u_int64_t(1) << 40) + 1), 41);
#if !defined(fls) || !defined(ffs) || !defined(log2c)
	FACT(!"they are macros");
#endif
	for (int i = 0; i < 256; i++) {
		FACT_EQ(bytemsb[i], fls(i));
		FACT_EQ(bytelsb[i], ffs(i));
	}

	int n = 4;

	FACT_EQ(fls(n++), 3);
	FACT_EQ(n, 5);
	FACTS_END();
}

/* ---- bitvec.h ---- */

static void
bits()
{
	bitvec v(5), w;

	FACT(v.size() == 5 && w.size() == 0);
	v[1] = true;
	v[3] = v[1];
	v.at(4, 1);
	FACT(str(strbuf() << v) == "01011");
	v[1] = v[0];
	FACT(!v.at(1) && v.at(3));

	const bitvec same(v);

	v[3] = 0;
	FACT(same[3] && !v[3]);
	w = same;
	FACT(str(strbuf() << w) == "00011");
	FACT(str(strbuf() << w[3] << w[0]) == "10");
	w.zsetsize(7);
	w.osetsize(9);
	FACT(str(strbuf() << w) == "000110011");
	w.setsize(4);
	w.osetsize(6);
	FACT(str(strbuf() << w) == "000111");
	w.setsize(100);
	FACT_EQ(w.size(), 100);
	FACT(w[3] && w[5] && !w[0]);
	w.zsetsize(0);
	FACT(str(strbuf() << w) == "");
	FACTS_END();
}

static void
random_bits()
{
	for (unsigned long seed = 1; seed <= 20; seed++) {
		dice roll(seed);
		bitvec v;
		std::vector<bool> same;

		for (int i = 0; i < 300; i++) {
			size_t size = same.size(), n = roll(400);
			bool one = roll(2) != 0;

			switch (roll(4)) {
			case 0:
				if (one)
					v.osetsize(n);
				else
					v.zsetsize(n);
				same.resize(n, one);
				break;
			case 1:
				if (size > 0) {
					v[n % size] = one;
					same[n % size] = one;
				}
				break;
			default:
				size_t e = size > 0 ? roll(unsigned(size) + 1) : 0;
				size_t s = roll(unsigned(e) + 1);

				v.setrange(s, e, one);
				for (; s < e; s++)
					same[s] = one;
			}
			FACT_EQ(v.size(), same.size());
			for (size_t j = 0; j < same.size(); j++)
				FACT(v.at(j) == same[j]);
		}
	}
	FACTS_END();
}

static void
bit_past_end()
{
	bitvec v(64);

	v[64] = true;
}

static void
range_past_end()
{
	bitvec v(64);

	v.setrange(3, 65, true);
}

/* ---- bbuddy.h ---- */

static void
buddies()
{
	bbuddy b(0x100000 + 77, 0x800, 0x10000);

	FACT_EQ(b.gettotsize(), 0x100000);
	FACT_EQ(b.space(), 0x100000);
	b._check();

	off_t tiny = b.alloc(1), some = b.alloc(0x801), most = b.alloc(0x10000);

	FACT(tiny % 0x800 == 0 && some % 0x1000 == 0 && most % 0x10000 == 0);
	FACT(tiny >= 0 && some >= 0 && most >= 0);
	FACT_EQ(b.space(), 0x100000 - 0x800 - 0x1000 - 0x10000);
	FACT_EQ(b.alloc(0x10001), -1);
	b._check();
	b.dealloc(some, 0x801);
	b.dealloc(tiny, 1);
	b.dealloc(most, 0x10000);
	b._check();
	FACT_EQ(b.space(), 0x100000);
	for (int i = 0; i < 16; i++)
		FACT(b.alloc(0x10000) >= 0);
	FACT_EQ(b.alloc(1), -1);
	FACT_EQ(b.space(), 0);
	FACTS_END();
}

static void
buddies_grow()
{
	bbuddy b(0, 0x800, 0x10000);
	off_t at;

	FACT_EQ(b.alloc(1), -1);
	b.settotsize(0x7ff);
	FACT_EQ(b.gettotsize(), 0);
	b.settotsize(0x1800);
	FACT_EQ(b.gettotsize(), 0x1800);
	FACT_EQ(b.alloc(0x1001), -1);
	at = b.alloc(0x1000);
	FACT_EQ(at, 0);
	/* A smaller size is ignored. */
	b.settotsize(0x800);
	FACT_EQ(b.gettotsize(), 0x1800);
	b.settotsize(0x3000);
	b._check();
	FACT_EQ(b.space(), 0x2000);
	/* New blocks join with the old ones. */
	b.dealloc(at, 0x1000);
	b._check();
	FACT_EQ(b.alloc(0x2000), 0);
	FACTS_END();
}

typedef std::map<off_t, size_t> blocks;

static void
random_buddies()
{
	for (unsigned long seed = 1; seed <= 10; seed++) {
		dice roll(seed);
		bbuddy b(0x8000, 0x10, 0x1000);
		blocks held;
		off_t used = 0;

		for (int i = 0; i < 1500; i++) {
			if (roll(100) == 0)
				b.settotsize(b.gettotsize() + roll(0x2000));
			if (roll(held.size() > 60 ? 2 : 3) == 0 && !held.empty()) {
				blocks::iterator at = held.lower_bound(roll(0x10000));

				if (at == held.end())
					at = held.begin();
				b.dealloc(at->first, at->second);
				used -= off_t(1) << log2c(at->second < 16 ? 16 : at->second);
				held.erase(at);
			} else {
				size_t n = roll(roll(4) == 0 ? 0x1001 : 0x100);
				off_t size = off_t(1) << log2c(n < 16 ? 16 : n), at = b.alloc(n);

				if (at >= 0) {
					blocks::iterator next = held.lower_bound(at);

					FACT(at % size == 0 && at + size <= b.gettotsize());
					FACT(next == held.end() || next->first >= at + size);
					if (next != held.begin()) {
						--next;
						FACT(next->first + off_t(next->second) <= at);
					}
					held[at] = n;
					used += size;
				} else
					FACT(b.space() < 0x10000);
			}
			FACT_EQ(b.space(), b.gettotsize() - used);
			if (i % 25 == 0) /* it takes long */
				b._check();
		}
		for (; !held.empty(); held.erase(held.begin()))
			b.dealloc(held.begin()->first, held.begin()->second);
		b._check();
		FACT_EQ(b.space(), b.gettotsize());
	}
	FACTS_END();
}

static void
free_twice()
{
	bbuddy b(0x8000, 0x10, 0x1000);
	off_t at = b.alloc(100);

	b.dealloc(at, 100);
	b.dealloc(at, 100);
}

static void
free_too_much()
{
	bbuddy b(0x8000, 0x10, 0x1000);
	off_t at = b.alloc(0x10);

	b.dealloc(at, 0x20);
}

static void
free_past_end()
{
	bbuddy b(0x8000, 0x10, 0x1000);

	b.dealloc(0x8000, 0x10);
}

static void
odd_blocks()
{
	bbuddy b(0x8000, 0x30, 0x1000);
}

/* ---- arena.h ---- */

struct pair_of {
	double a;
	char b;

	pair_of(double x, char y) : a(x), b(y) {}
};

static void
arenas()
{
	arena a;
	std::vector<char *> all;
	char *text = a.strdup("text");

	for (size_t n = 0; n < 3000; n++) {
		size_t align = size_t(1) << n % 6;
		char *p = static_cast<char *>(a.alloc(n, align));

		FACT_EQ(reinterpret_cast<size_t>(p) % align, 0);
		memset(p, int(n % 256), n);
		all.push_back(p);
	}
	for (size_t n = 1; n < 3000; n++)
		FACT(all[n][0] == char(n % 256) && all[n][n - 1] == char(n % 256));
	FACT(strcmp(text, "text") == 0);

	pair_of *p = new (a) pair_of(1.5, 'x');
	int *numbers = new (a) int[1000];

	numbers[999] = 7;
	FACT(p->a == 1.5 && p->b == 'x');
	memset(a.alloc(1 << 20), 1, 1 << 20);
	a.clear();
	FACT(strcmp(a.strdup("more"), "more") == 0);
	FACTS_END();
}

/* ---- cbuf.h ---- */

static void
rings()
{
	for (unsigned long seed = 1; seed <= 10; seed++) {
		dice roll(seed);
		cbuf c(37);
		std::string same;
		char text[64];

		for (int i = 0; i < 3000; i++) {
			size_t n = roll(20);

			for (size_t j = 0; j < n; j++)
				text[j] = char('a' + roll(26));
			if (roll(2) == 0) {
				size_t in = c.copyin(text, n);

				FACT_EQ(in, n < 37 - same.size() ? n : 37 - same.size());
				same.append(text, in);
			} else if (n <= same.size()) {
				c.rembytes(n);
				same.erase(0, n);
			}
			FACT_EQ(c.size(), same.size());
			FACT_EQ(c.space(), 37 - same.size());
			char letter = char('a' + roll(26));
			size_t at = same.find(letter);

			FACT_EQ(c.find(letter), at == std::string::npos ? -1 : int(at));
			FACT_EQ(c.copyout(text, sizeof text), same.size());
			FACT(memcmp(text, same.data(), same.size()) == 0);
		}
	}
	FACTS_END();
}

/* Bytes enter and leave the ring through its pieces of memory. */
static void
ring_pieces()
{
	cbuf c(8);
	const iovec *iov = c.iniov();
	char text[8];

	FACT_EQ(c.outiovcnt(), 0);
	FACT(c.iniovcnt() == 1 && iov[0].iov_len == 8);
	memcpy(iov[0].iov_base, "abcdef", 6);
	c.addbytes(6);
	c.rembytes(4);
	iov = c.iniov();
	FACT(c.iniovcnt() == 2 && iov[0].iov_len == 2 && iov[1].iov_len == 4);
	memcpy(iov[0].iov_base, "gh", 2);
	memcpy(iov[1].iov_base, "ij", 2);
	c.addbytes(4);
	iov = c.outiov();
	FACT(c.outiovcnt() == 2 && iov[0].iov_len == 4 && iov[1].iov_len == 2);
	FACT_EQ(c.copyout(text, 3), 3);
	FACT(memcmp(text, "efg", 3) == 0);
	FACT(c.copyout(text, 8) == 6 && memcmp(text, "efghij", 6) == 0);
	FACT(c[0] == 'e' && c.at(5) == 'j');
	c[5] = 'z';
	FACT(c.find('z') == 5 && c.find('f') == 1 && c.find('a') == -1);
	c.rembytes(5);
	c.unrembytes(2);
	FACT(c.size() == 3 && c[0] == 'h' && c[2] == 'z');
	c.resize(20);
	FACT(c.size() == 3 && c.space() == 17 && c.outiovcnt() == 1);
	FACT(c.copyout(text, 8) == 3 && memcmp(text, "hiz", 3) == 0);
	c.clear();
	FACT(c.size() == 0 && c.space() == 20 && c.find('h') == -1);
	FACTS_END();
}

static void
ring_index()
{
	cbuf c(8);

	c.copyin("abc", 3);
	(void)c[3];
}

static void
ring_past_end()
{
	cbuf c(8);

	c.copyin("abc", 3);
	c.rembytes(4);
}

/* ---- vatmpl.h ---- */

struct plain {
	int sum;

	plain() : sum(0) {}
	plain(int a) : sum(a) {}
	plain(int a, int b) : sum(a + b) {}
	plain(const char *p, int a, int b, int c, int d, int e, int f, int g, int h)
	    : sum(int(strlen(p)) + a + b + c + d + e + f + g + h)
	{
	}
};

template <class T> struct counted_from : T {
	int extra;

	VA_TEMPLATE(explicit counted_from, : T, { extra = 100; })
};

static void
constructors()
{
	counted_from<plain> a, b(1), c(1, 2), d("four", 1, 2, 3, 4, 5, 6, 7, 8);
	counted_from<plain> e(c);

	FACT(a.sum == 0 && b.sum == 1 && c.sum == 3 && d.sum == 40);
	FACT(a.extra == 100 && d.extra == 100 && e.sum == 3);
	FACTS_END();
}

#define ABORTS(fn, prints) {#fn, fn, 1000 + SIGABRT, prints, 1}

static const struct fact facts[] = {
	CASE_ON(1, highest_and_lowest),
	CASE_ON(1, bits),
	CASE_ON(1, random_bits),
	ABORTS(bit_past_end, "index out of range"),
	ABORTS(range_past_end, "range out of range"),
	CASE_ON(1, buddies),
	CASE_ON(1, buddies_grow),
	CASE_ON(1, random_buddies),
	ABORTS(free_twice, "free already"),
	ABORTS(free_too_much, "free already"),
	ABORTS(free_past_end, "no such block"),
	ABORTS(odd_blocks, "not a power of two"),
	CASE_ON(1, arenas),
	CASE_ON(1, rings),
	CASE_ON(1, ring_pieces),
	ABORTS(ring_index, "index out of range"),
	ABORTS(ring_past_end, "more bytes than there are"),
	CASE_ON(1, constructors),
};

FACTS_MAIN(facts)
