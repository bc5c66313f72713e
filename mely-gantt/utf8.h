/* SPDX-License-Identifier: MIT */
/*
 * utf8.h: names that programs choose, made fit for JSON and SVG.
 */
#ifndef GANTT_UTF8_H
#define GANTT_UTF8_H

#include <stddef.h>

/** A copy of a text of at most size bytes (a 0 ends it earlier), with each byte that is not part
 * of valid UTF-8 replaced by U+FFFD. Free it. NULL: no memory. */
char *utf8_clean(const char *text, size_t size);

#endif
