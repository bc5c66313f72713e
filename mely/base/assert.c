/* SPDX-License-Identifier: MIT */
/*
 * assert.c: messages, and the end after an invariant has failed.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mely/base.h>

#include "base/assert.h"

void
melyint_say(const char *format, ...)
{
	char line[512];
	size_t used;
	va_list args;
	int n;

	n = snprintf(line, sizeof line, "mely: ");
	va_start(args, format);
	n += vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
	va_end(args);
	used = (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
	line[used++] = '\n';
	/* One write, so that lines of several threads do not mix; nobody to tell if it fails. */
	if (write(STDERR_FILENO, line, used) < 0)
		return;
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
