/* SPDX-License-Identifier: MIT */
/*
 * stream_pair.h: for tests of aios.h: a stream on one end of a pair of sockets.
 */
#ifndef MELY_TESTS_STREAM_PAIR_H
#define MELY_TESTS_STREAM_PAIR_H

#include "aios.h"

#include "facts.h"

static int ends[2], calls;
static ptr<aios> stream; /* on ends[0] */

static inline void
pair()
{
	FACT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	stream = aios::alloc(ends[0]);
}

static inline void
give(const char *text)
{
	FACT(write(ends[1], text, strlen(text)) == (ssize_t)strlen(text));
}

static inline void
never(str, int)
{
	facts_fail(__FILE__, __LINE__, "a dropped callback ran");
}

static inline void
has_error(int code, str line, int err)
{
	FACT(!line);
	FACT_EQ(err, code);
	if (++calls == 2)
		FACTS_END();
	stream->readany(wrap(has_error, code)); /* the error is permanent */
}

#endif
