/* SPDX-License-Identifier: MIT */
/*
 * cancel.h: completions of cancels that came too late; the rest is mely_event_cancel.
 */
#ifndef MELYINT_CANCEL_H
#define MELYINT_CANCEL_H

#include "core.h"

/* Owner, no lock held: post the completions that waited for the end of a batch. */
void melyint_cancel_complete(struct mely_event *waiters);

#endif
