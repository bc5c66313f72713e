/* SPDX-License-Identifier: MIT */
/*
 * assertion.c: the end of a process in which an invariant does not hold.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/assertion.h"

_Noreturn __attribute__((cold)) void
sws_assertion_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "sws: %s:%d: assertion failed: %s\n", file, line, what);
	abort();
}
