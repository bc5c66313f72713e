/* SPDX-License-Identifier: MIT */
/* advice.h: what a programmer can try against a fault. */
#ifndef MELY_CHECK_ADVICE_H
#define MELY_CHECK_ADVICE_H

#include "pairs.h"

/* A sentence or two for people, never freed. */
const char *advice_for(const struct fault *fault);

#endif
