/* SPDX-License-Identifier: MIT */
/*
 * async_text_colors.cc: the parts of dialect "async" that colors may share: strings, callbacks,
 * stateless functions. Sections 0 (5, 6) and 1.11 of the facts.
 */
#include "async.h"
#include "msb.h"
#include "parseopt.h"
#include "serial.h"

#include "facts.h"

enum { COLORS = 64, ROUNDS = 200 };

static int chains_done;

/* ---- strings ---- */

static str *common;

static void
pass_on(str s, int left)
{
	str copy = s, other;
	int i;

	for (i = 0; i < 8; i++) {
		other = *common;
		FACT(copy == s && other == "for all of them");
		copy = other;
		copy = s;
	}
	FACT(s == "passed on");
	if (left > 0)
		cpucb_tail(cwrap(pass_on, s, left - 1, (get_current_color() + 1) % COLORS));
	else if (facts_add(&chains_done, 1) == COLORS)
		FACTS_END();
}

static void
strings_between_colors()
{
	int i;

	common = New str("for all of them");
	str s("passed on");
	for (i = 0; i < COLORS; i++)
		cpucb_tail(cwrap(pass_on, s, int(ROUNDS), i));
	s = NULL;
	amain();
}

/* ---- buffers, one per color ---- */

static void
build(int n)
{
	strbuf sb;
	str s;
	int i;

	for (i = 0; i < 50; i++)
		sb << *common << i << ";";
	s = sb;
	sb.clear();
	FACT(s.len() == 50 * common->len() + 50 + 90);
	if (n > 0)
		cpucb_tail(cwrap(build, n - 1, (get_current_color() + 1) % COLORS));
	else if (facts_add(&chains_done, 1) == COLORS)
		FACTS_END();
}

/* All buffers keep references to one string, which is too long to be copied. */
static void
buffers_of_colors()
{
	strbuf text;
	int i;

	text.tosuio()->fill('x', 1000);
	common = New str(text);
	for (i = 0; i < COLORS; i++)
		cpucb_tail(cwrap(build, 20, i));
	amain();
}

/* ---- callbacks ---- */

static cbi::ptr for_all;

static void
add_length(str s, int *to, int n)
{
	*to += (int)s.len() + n;
}

static void
call_on(cbi cb, int left)
{
	cbi::ptr copy = cb;
	int i;

	for (i = 0; i < 8; i++) {
		copy = for_all;
		FACT(copy != cb);
		copy = cb;
	}
	copy(left);
	if (left > 0)
		cpucb_tail(cwrap(call_on, cb, left - 1, (get_current_color() + 1) % COLORS));
	else if (facts_add(&chains_done, 1) == COLORS)
		FACTS_END();
}

/* Each callback passes from color to color, with its bound string. */
static void
callbacks_between_colors()
{
	static int sums[COLORS + 1];
	str s("bound");
	int i;

	for_all = wrap(add_length, s, &sums[COLORS]);
	for (i = 0; i < COLORS; i++)
		cpucb_tail(cwrap(call_on, cbi(wrap(add_length, s, &sums[i])), int(ROUNDS), i));
	s = NULL;
	amain();
}

/* ---- functions for any color, several at a time ---- */

static void
convert(int n)
{
	char buf[16];
	int i, number, ends[2], passed;

	for (i = 0; i < 20; i++) {
		str bytes = strbuf("%d and %d", n, i);
		str digits = strbuf("%d", n * i);

		FACT(dearmor64(armor64(bytes)) == bytes && dearmor32(armor32(bytes)) == bytes);
		FACT(hex2bytes(strbuf() << hexdump(bytes, bytes.len())) == bytes);
		FACT(convertint(digits, &number) && number == n * i);
		FACT_EQ(fls(1 << n % 31), n % 31 + 1);
		FACT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
		FACT_EQ(writefd(ends[0], "x", 1, ends[1]), 1);
		FACT_EQ(readfd(ends[1], buf, sizeof buf, &passed), 1);
		FACT(passed > 2 && close(passed) == 0 && close(ends[0]) == 0);
		FACT_EQ(close(ends[1]), 0);
	}
	if (facts_add(&chains_done, 1) == COLORS)
		FACTS_END();
}

static void
functions_of_colors()
{
	int i;

	for (i = 0; i < COLORS; i++)
		cpucb_tail(cwrap(convert, i, i));
	amain();
}

static const struct fact facts[] = {
	CASE(strings_between_colors),
	CASE(buffers_of_colors),
	CASE(callbacks_between_colors),
	CASE(functions_of_colors)
};

FACTS_MAIN(facts)
