/* SPDX-License-Identifier: MIT */
/*
 * assert.c: lines on stderr, and the abort after a fault; the version of the library. Any thread,
 * also with locks held: nothing here allocates or locks.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mely/base.h>

#include "base/assert.h"

static void
print(const char *prefix, const char *format, va_list args)
{
	char line[512];
	size_t used;
	int n;

	n = snprintf(line, sizeof line, "mely: %s", prefix);
	n += vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
	used = (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
	line[used++] = '\n';
	/* One write, so that lines of several threads do not mix. A failed write has no reader. */
	if (write(STDERR_FILENO, line, used) < 0)
		return;
}

void
melyint_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print("", format, args);
	va_end(args);
}

_Noreturn void
melyint_misuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print("misuse: ", format, args);
	va_end(args);
	abort();
}

_Noreturn void
melyint_bug(const char *file, int line, const char *what)
{
	const char *base = strrchr(file, '/');

	melyint_say("bug: %s:%d: %s", base != NULL ? base + 1 : file, line, what);
	abort();
}

const char *
mely_version(void)
{
	return MELY_VERSION_STRING;
}
