/* SPDX-License-Identifier: MIT */
/*
 * say.h: messages of the library. Any thread.
 */
#ifndef MELYCOMPAT_SAY_H
#define MELYCOMPAT_SAY_H

namespace melycompat {

/** A line on standard error. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Print a line about a fatal error of the program, and end it with status 1. */
[[noreturn]] void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

}

#endif
