/* SPDX-License-Identifier: MIT */
/*
 * async_text_colors.cc: what of the text of dialect "async" colors may share: strings, and standard
 * error. Sections 0 (5, 6) and 1.11 of the facts.
 */
#include "async.h"

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

/* ---- buffers, each of its color ---- */

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

/* All keep references to one string, which is too long to be copied. */
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

static const struct fact facts[] = {
	CASE(strings_between_colors),
	CASE(buffers_of_colors)
};

FACTS_MAIN(facts)
