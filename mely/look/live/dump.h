/* SPDX-License-Identifier: MIT */
/*
 * dump.h: a text for people about every core and every color with events.
 */
#ifndef MELYINT_LOOK_LIVE_DUMP_H
#define MELYINT_LOOK_LIVE_DUMP_H

#include <mely/mely.h>

#include "base/text.h"

enum { MELYINT_DUMP_COLORS = 1000 }; /* most that are listed */

/* Append it to text. Any thread, without the lock of a core. 0 or a negative error. */
int melyint_dump_text(struct mely_runtime *rt, struct melyint_text *text);
/* Write it to fd; -ETIMEDOUT when that takes longer. As mely_dump else. */
int melyint_dump(struct mely_runtime *rt, int fd, uint64_t patience_ns);

#endif
