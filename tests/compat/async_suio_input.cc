/* SPDX-License-Identifier: MIT */
/*
 * async_suio_input.cc: reads into chains of iovecs of dialect "async", and the blocks that they
 * fill. Section 1.6 of the facts.
 */
#include "async.h"

#include "facts.h"

static int fds[2]; /* a pipe */
static suio uio;

/* The expected byte at this offset. */
static char
byte_at(size_t i)
{
	return (char)(i * 7 + i / 256);
}

/* Send these bytes through the pipe and read them in one read of limited length. */
static void
pass(size_t begin, size_t n, size_t most)
{
	static char bytes[60000];

	for (size_t i = 0; i < n; i++)
		bytes[i] = byte_at(begin + i);
	FACT_EQ(write(fds[1], bytes, n), (ssize_t)n);
	FACT_EQ(uio.input(fds[0], most), (int)n);
}

static void
check_bytes(size_t n)
{
	char *flat = suio_flatten(&uio);

	FACT_EQ(uio.resid(), n);
	for (size_t i = 0; i < n; i++)
		FACT_EQ(flat[i], byte_at(i));
	xfree(flat);
}

static void
byte_by_byte()
{
	FACT(pipe(fds) == 0);
	for (size_t i = 0; i < 20000; i++)
		pass(i, 1, suio::blocksize);
	FACT(uio.iovcnt() <= 4);
	check_bytes(20000);
	FACTS_END();
}

static void
over_the_end_of_blocks()
{
	FACT(pipe(fds) == 0);
	for (size_t i = 0; i < 20; i++)
		pass(i * 3000, 3000, i % 2 ? (size_t)suio::blocksize : 100000);
	check_bytes(60000);
	FACTS_END();
}

/* When little data arrives, the requested size does not matter. */
static void
long_reads_of_little()
{
	FACT(pipe(fds) == 0);
	for (size_t i = 0; i < 600; i++)
		pass(i * 100, 100, 60000);
	FACT(uio.iovcnt() <= 2);
	check_bytes(60000);
	FACTS_END();
}

/* Some reads fill the rest of a block and a good part of the next one. */
static void
long_reads_of_much()
{
	size_t n = 0;

	FACT(pipe(fds) == 0);
	for (size_t i = 0; i < 100; i++) {
		size_t next = i % 3 ? 100 : 10000 + 400 * i;

		pass(n, next, 60000);
		n += next;
		if (i % 10 == 9)
			check_bytes(n);
	}
	FACT(uio.iovcnt() <= 2 * (n / 60000 + 1));
	uio.clear();
	FACTS_END();
}

static const struct fact facts[] = {
	CASE_ON(1, byte_by_byte),
	CASE_ON(1, over_the_end_of_blocks),
	CASE_ON(1, long_reads_of_little),
	CASE_ON(1, long_reads_of_much)
};

FACTS_MAIN(facts)
