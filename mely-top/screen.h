/* SPDX-License-Identifier: MIT */
/*
 * screen.h: the view in a terminal, with keys.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include "link.h"
#include "options.h"

/* Until q, or the program ends. The exit status. */
int screen_run(struct link *link, const struct top_options *options);

#endif
