/* SPDX-License-Identifier: MIT */
/*
 * say.cc: messages; each is a single write, so messages of two threads do not mix.
 */
#include "say.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace melycompat {

static void
write_line(const char *format, va_list args)
{
	char text[400];

	std::vsnprintf(text, sizeof text, format, args);
	std::fprintf(stderr, "mely: %s\n", text);
}

void
say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_line(format, args);
	va_end(args);
}

void
die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_line(format, args);
	va_end(args);
	std::exit(1);
}

}
