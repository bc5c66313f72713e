/* SPDX-License-Identifier: MIT */
/*
 * say.h: what the library has to tell people. Any thread.
 */
#ifndef MELYCOMPAT_SAY_H
#define MELYCOMPAT_SAY_H

namespace melycompat {

/** A line on standard error. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The same for an error of the program that it can not go on after; ends it with status 1. */
[[noreturn]] void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

}

#endif
