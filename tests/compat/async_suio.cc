/* SPDX-License-Identifier: MIT */
/*
 * async_suio.cc: chains of iovecs of dialect "async". Section 1.6 of the facts.
 */
#include "async.h"

#include "facts.h"

static char many[3000];

static void
fill_many()
{
	size_t i;

	for (i = 0; i < sizeof many; i++)
		many[i] = (char)('a' + i % 26);
}

static bool
holds(const suio *uio, const void *p, size_t n)
{
	char *flat = suio_flatten(uio);
	bool same = uio->resid() == n && memcmp(flat, p, n) == 0;

	free(flat);
	return same;
}

/* ---- appending ---- */

static void
copies_and_pointers()
{
	suio uio;
	char text[200];

	memset(text, 'x', sizeof text);
	uio.copy(text, 200);
	uio.print(text, 128);
	uio.print(text, 129);
	FACT_EQ(uio.resid(), 200 + 128 + 129);
	memset(text, 'y', sizeof text);

	const char *kept = (const char *)uio.iovlim()[-1].iov_base;
	char first;

	FACT(kept == text && uio.iovlim()[-1].iov_len == 129);
	FACT(uio.copyout(&first, 1) == 1 && first == 'x');
	uio.rembytes(327);
	FACT(uio.copyout(&first, 1) == 1 && first == 'x'); /* 128 bytes are copied */
	uio.rembytes(1);
	FACT(uio.copyout(&first, 1) == 1 && first == 'y');
	FACTS_END();
}

static void
counts()
{
	suio uio;

	FACT(uio.resid() == 0 && uio.iovcnt() == 0 && uio.byteno() == 0 && uio.iovno() == 0);
	FACT(uio.iov() == uio.iovlim());
	fill_many();
	uio.copy("abc", 3);
	uio.copy("", 0);
	uio.print(many, 1000);
	uio.copy("def", 3);
	FACT(uio.resid() == 1006 && uio.iovcnt() == 3 && uio.iovlim() - uio.iov() == 3);
	FACT(uio.resid() == iovsize(uio.iov(), uio.iovcnt()));
	uio.rembytes(2);
	FACT(uio.byteno() == 2 && uio.iovno() == 0 && uio.iov()->iov_len == 1);
	uio.rembytes(1);
	FACT(uio.byteno() == 3 && uio.iovno() == 1 && uio.iov()->iov_base == many);
	uio.rembytes(999);
	FACT(uio.iov()->iov_base == many + 999 && uio.resid() == 4);
	uio.clear();
	FACT(uio.byteno() == 1006 && uio.iovno() == 3 && uio.resid() == 0 && uio.iovcnt() == 0);
	FACTS_END();
}

static void
copies_of_iovecs()
{
	iovec iov[3] = {{many, 10}, {many + 100, 0}, {many + 10, 20}};
	suio uio, from;

	fill_many();
	uio.copyv(iov, 3);
	FACT(holds(&uio, many, 30));
	uio.clear();
	uio.copyv(iov, 3, 12);
	FACT(holds(&uio, many + 12, 18));
	uio.clear();
	uio.copyv(iov, 3, 30);
	FACT_EQ(uio.resid(), 0);
	from.print(many, 1000);
	from.print(many + 1000, 50);
	uio.copyu(&from);
	uio.copyu(&uio);
	FACT(from.resid() == 1050 && uio.resid() == 2100 && uio.iov()->iov_base != many);
	uio.rembytes(1050);
	FACT(holds(&uio, many, 1050));
	FACTS_END();
}

static void
skips_too_much()
{
	iovec iov = {many, 10};
	suio uio;

	uio.copyv(&iov, 1, 11);
	FACTS_END();
}

static void
filled()
{
	suio uio;
	char expected[10005];

	uio.fill('x', 10000);
	uio.fill('y', 0);
	uio.fill('y', -3);
	uio.fill('z', 5);
	memset(expected, 'x', 10000);
	memset(expected + 10000, 'z', 5);
	FACT(holds(&uio, expected, 10005));
	FACTS_END();
}

static void
space()
{
	suio uio;
	char *p;
	int i;

	for (i = 0; i < 1000; i++) {
		p = uio.getspace(100);
		memset(p, 'a' + i % 26, 100);
		uio.print(p, i % 100);
		if (i % 100 > 0)
			FACT((char *)uio.iovlim()[-1].iov_base + uio.iovlim()[-1].iov_len ==
			    p + i % 100);
	}
	FACT_EQ(uio.resid(), 10 * 4950);
	for (i = 0; i < 1000; i++) {
		char got[100];

		FACT_EQ(uio.copyout(got, i % 100), i % 100);
		FACT(i % 100 == 0 || (got[0] == 'a' + i % 26 && got[i % 100 - 1] == got[0]));
		uio.rembytes(i % 100);
	}
	uio.copy("x", 1);
	p = uio.getspace_aligned(20000);
	FACT_EQ((uintptr_t)p % 8, 0);
	memset(p, 'y', 20000);
	uio.print(p, 20000);
	FACT(uio.resid() == 20001 && uio.iovlim()[-1].iov_base == p);
	FACTS_END();
}

/* Adjacent bytes in memory form one iovec, unless breakiov separates them. */
static void
breaks()
{
	suio uio;

	uio.copy("a", 1);
	uio.copy("b", 1);
	FACT_EQ(uio.iovcnt(), 1);
	uio.breakiov();
	uio.copy("c", 1);
	FACT_EQ(uio.iovcnt(), 2);
	uio.copy("d", 1);
	FACT_EQ(uio.iovcnt(), 2);
	FACT(holds(&uio, "abcd", 4));
	FACTS_END();
}

/* ---- access ---- */

static void
copied_out()
{
	suio uio;
	char buf[3000];

	fill_many();
	uio.copy(many, 100);
	uio.print(many + 100, 1000);
	FACT(uio.copyout(buf, 50) == 50 && memcmp(buf, many, 50) == 0);
	FACT(uio.copyout(buf, 150) == 150 && memcmp(buf, many, 150) == 0);
	FACT(uio.copyout(buf) == 1100 && memcmp(buf, many, 1100) == 0);
	FACT(uio.copyout(buf, 3000) == 1100 && uio.resid() == 1100);
	FACTS_END();
}

static void
lines()
{
	suio uio;
	str line;

	uio.copy("one\ntwo\r\n\n\r\nfour\rx\nrest", 23);
	uio.breakiov();
	FACT_EQ(uio.linelen(), 4);
	FACT(suio_getline(&uio) == "one");
	FACT(suio_getline(&uio) == "two");
	line = suio_getline(&uio);
	FACT(line && line.len() == 0);
	line = suio_getline(&uio);
	FACT(line && line.len() == 0);
	FACT(suio_getline(&uio) == "four\rx");
	FACT_EQ(uio.linelen(), 0);
	FACT(!suio_getline(&uio) && uio.resid() == 4);
	uio.copy("!\nz", 3);
	FACT(uio.iovcnt() == 2 && uio.linelen() == 6);
	FACT(suio_getline(&uio) == "rest!" && uio.resid() == 1);
	FACTS_END();
}

static void
managed()
{
	iovec iov[3] = {{many, 10}, {many, 0}, {many + 10, 20}};
	iovmgr mgr(iov, 3);
	char buf[40];

	fill_many();
	FACT_EQ(iovsize(iov, 3), 30);
	FACT_EQ(iovsize(iov, 0), 0);
	FACT_EQ(mgr.size(), 30);
	FACT(mgr.copyout(buf, 4) == 4 && memcmp(buf, many, 4) == 0 && mgr.size() == 26);
	mgr.skip(8);
	FACT_EQ(mgr.size(), 18);
	FACT(mgr.copyout(buf, 40) == 18 && memcmp(buf, many + 12, 18) == 0 && mgr.size() == 0);
	mgr.skip(0);
	FACT_EQ(iov[0].iov_len, 10);
	mgr.skip(1); /* panics */
	FACTS_END();
}

static void
functions()
{
	suio uio;
	str long_one(many, 500);

	fill_many();
	suio_print(&uio, str("short"));
	suio_print(&uio, many, 300);
	suio_uprintf(&uio, "%d", 17);
	FACT(uio.resid() == 307 && uio.iov()[1].iov_base == many);
	uio.clear();
	suio_print(&uio, long_one);
	FACT(uio.iov()->iov_base == long_one.cstr());
	uio.clear();
	char *flat = suio_flatten(&uio);
	FACT(flat != NULL);
	xfree(flat);
	FACTS_END();
}

/* ---- callbacks ---- */

static strbuf called;

static void
call(int n)
{
	called << n;
}

/* Called in the destructor, where a further callback does not run any more. */
static void
more(suio *uio)
{
	uio->fill('x', 10000);
	uio->fill('x', 10000);
	uio->iovcb(wrap(call, 7));
	called << 6;
}

static void
callbacks()
{
	suio uio;

	uio.iovcb(wrap(call, 0));
	FACT(str(called) == "0"); /* at once: nothing is in it */
	uio.copy("abc", 3);
	uio.iovcb(wrap(call, 1));
	uio.iovcb(wrap(call, 2));
	uio.copy("def", 3); /* of the same iovec */
	uio.iovcb(wrap(call, 3));
	uio.rembytes(2);
	FACT(str(called) == "0");
	uio.rembytes(1);
	FACT(str(called) == "012");
	uio.rembytes(2);
	FACT(str(called) == "012");
	uio.rembytes(1);
	FACT(str(called) == "0123");
	uio.copy("x", 1);
	uio.iovcb(wrap(call, 4));
	uio.clear();
	FACT(str(called) == "01234");
	{
		suio other;
		other.copy("x", 1);
		other.iovcb(wrap(call, 5));
	}
	FACT(str(called) == "012345");
	{
		suio other;
		other.copy("x", 1);
		other.iovcb(wrap(more, &other));
	}
	FACT(str(called) == "0123456");
	FACTS_END();
}

static void
again(suio *uio, int n)
{
	called << n;
	if (n > 1) {
		uio->copy("xy", 2);
		uio->iovcb(wrap(again, uio, n - 1));
		uio->rembytes(1);
	}
}

static void
remove_rest(suio *uio)
{
	called << "r";
	uio->clear();
}

/* Callbacks append bytes, remove bytes, and add callbacks. */
static void
reentrant()
{
	suio uio;

	uio.copy("ab", 2);
	uio.iovcb(wrap(again, &uio, 3));
	uio.rembytes(2);
	FACT(str(called) == "3" && uio.resid() == 1);
	uio.rembytes(1);
	FACT(str(called) == "32" && uio.resid() == 1);
	uio.rembytes(1);
	FACT(str(called) == "321" && uio.resid() == 0);

	uio.copy("a", 1);
	uio.iovcb(wrap(remove_rest, &uio));
	uio.copy("b", 1);
	uio.iovcb(wrap(call, 7));
	uio.rembytes(1);
	FACT(str(called) == "321r7" && uio.resid() == 0);
	FACTS_END();
}

static void
takes_all()
{
	suio from, to;
	char *flat;

	fill_many();
	from.copy("gone", 4);
	from.rembytes(4);
	from.copy(many, 10);
	from.iovcb(wrap(call, 2));
	from.print(many + 10, 1000);
	to.copy("begin", 5);
	to.iovcb(wrap(call, 1));
	to.take(&from);
	FACT(from.resid() == 0 && from.iovcnt() == 0 && to.resid() == 1015);
	from.iovcb(wrap(call, 0));
	FACT(str(called) == "0");
	from.copy("new", 3);
	to.iovcb(wrap(call, 3));
	to.rembytes(5);
	FACT(str(called) == "01" && holds(&to, many, 1010));
	to.rembytes(10);
	FACT(str(called) == "012");
	flat = suio_flatten(&to);
	FACT(memcmp(flat, many + 10, 1000) == 0 && holds(&from, "new", 3));
	free(flat);
	to.clear();
	FACT(str(called) == "0123");
	to.take(&from);
	FACT(holds(&to, "new", 3));
	FACTS_END();
}

static void
take_from(suio *to, suio *from)
{
	to->take(from);
	FACT(str(called) == "4"); /* due, and nothing is before it any more */
}

static void
takes_what_is_due()
{
	suio from, to;

	from.copy("a", 1);
	from.iovcb(wrap(take_from, &to, &from));
	from.iovcb(wrap(call, 4));
	from.rembytes(1);
	FACT(str(called) == "4");
	FACTS_END();
}

/* Small pieces are copied; otherwise each would occupy a separate block. */
static void
takes_bytes_one_by_one()
{
	suio from, to;
	size_t i;

	fill_many();
	for (i = 0; i < sizeof many; i++) {
		from.copy(many + i, 1);
		if (i == 1000)
			from.iovcb(wrap(call, 1));
		to.take(&from);
		FACT_EQ(from.resid(), 0);
	}
	FACT(holds(&to, many, sizeof many));
	FACT(to.iovcnt() <= 4);
	to.rembytes(1000);
	FACT_EQ(called.len(), 0);
	to.rembytes(1);
	FACT(str(called) == "1");
	FACTS_END();
}

static void
removes_too_much()
{
	suio uio;

	uio.copy("abc", 3);
	uio.rembytes(4);
	FACTS_END();
}

/* ---- descriptors ---- */

static void
input_and_output()
{
	suio uio;
	char buf[64];
	int fds[2];

	FACT(pipe(fds) == 0);
	FACT_EQ(uio.output(fds[1]), 0); /* the suio is empty */
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	FACT(uio.input(fds[0]) == -1 && errno == EAGAIN);
	FACT_EQ(uio.resid(), 0);
	FACT_EQ(write(fds[1], "hello there", 11), 11);
	FACT_EQ(uio.input(fds[0], 5), 5);
	FACT_EQ(uio.input(fds[0], 100), 6);
	FACT(holds(&uio, "hello there", 11));

	uio.breakiov();
	uio.copy("second", 6);
	uio.breakiov();
	uio.copy("third", 5);
	FACT_EQ(uio.iovcnt(), 3);
	FACT_EQ(uio.output(fds[1], 1), 1);
	FACT(read(fds[0], buf, sizeof buf) == 11 && uio.iovcnt() == 2);
	FACT_EQ(uio.output(fds[1]), 1);
	FACT(read(fds[0], buf, sizeof buf) == 11 && memcmp(buf, "secondthird", 11) == 0);
	FACT_EQ(uio.resid(), 0);
	close(fds[1]);
	FACT_EQ(uio.input(fds[0]), 0);
	uio.copy("x", 1);
	FACT(uio.output(-1) == -1 && errno == EBADF && uio.resid() == 1);
	FACTS_END();
}

/* The time grows with their number, not with its square. */
static void
copied_out_of_many_iovecs()
{
	suio uio;
	int i;

	for (i = 0; i < 200000; i++) {
		uio.copy("x", 1);
		uio.breakiov();
	}
	clock_t begin = clock();
	FACT_EQ(str(uio).len(), 200000);
	FACT((clock() - begin) / CLOCKS_PER_SEC < 2);
	FACTS_END();
}

static void
output_of_much()
{
	static char sent[300000], got[300000];
	size_t i, n = 0;
	ssize_t r;
	int fds[2];
	suio uio;

	FACT(pipe(fds) == 0);
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	for (i = 0; i < sizeof sent; i++)
		sent[i] = (char)(i * 7 + i / 256);
	for (i = 0; i < sizeof sent; i += 200)
		if (i % 400)
			uio.copy(sent + i, 200);
		else
			uio.print(sent + i, 200);
	uio.iovcb(wrap(call, 1));
	FACT_EQ(uio.output(fds[1]), 1);
	FACT(uio.resid() > 0 && uio.resid() < sizeof sent);
	FACT_EQ(uio.output(fds[1]), 0); /* EAGAIN */
	while (n < sizeof sent) {
		r = read(fds[0], got + n, sizeof got - n);
		FACT(r > 0);
		n += (size_t)r;
		FACT(uio.output(fds[1]) >= 0);
	}
	FACT(memcmp(got, sent, sizeof sent) == 0 && uio.resid() == 0 && str(called) == "1");
	FACTS_END();
}

static const struct fact facts[] = {
	CASE_ON(1, copies_and_pointers),
	CASE_ON(1, counts),
	CASE_ON(1, copies_of_iovecs),
	{"skips_too_much", skips_too_much, 1000 + SIGABRT, "PANIC", 1},
	CASE_ON(1, filled),
	CASE_ON(1, space),
	CASE_ON(1, breaks),
	CASE_ON(1, copied_out),
	CASE_ON(1, lines),
	{"managed", managed, 1000 + SIGABRT, "there are 0", 1},
	CASE_ON(1, functions),
	CASE_ON(1, callbacks),
	CASE_ON(1, reentrant),
	CASE_ON(1, takes_all),
	CASE_ON(1, takes_what_is_due),
	CASE_ON(1, takes_bytes_one_by_one),
	{"removes_too_much", removes_too_much, 1000 + SIGABRT, "there are 3", 1},
	CASE_ON(1, input_and_output),
	CASE_ON(1, copied_out_of_many_iovecs),
	CASE_ON(1, output_of_much)
};

FACTS_MAIN(facts)
