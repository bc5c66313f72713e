/* SPDX-License-Identifier: MIT */
/*
 * answer.h: what a client of the live socket is told.
 */
#ifndef MELYINT_LOOK_LIVE_ANSWER_H
#define MELYINT_LOOK_LIVE_ANSWER_H

#include <mely/mely.h>

#include "look/live/request.h"
#include "base/text.h"

enum { MELYINT_ANSWER_MOST = 8 << 20 }; /* bytes */

/* Append the answer to text. Any thread, without the lock of a core. 0 or a negative error. */
int melyint_answer(struct mely_runtime *rt, const struct melyint_request *request,
    struct melyint_text *text);

#endif
