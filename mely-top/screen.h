/* SPDX-License-Identifier: MIT */
/*
 * screen.h: the view in a terminal, with keys.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include "link.h"
#include "options.h"

/* Run until q, or until the program ends. Returns the exit status. */
int screen_run(struct link *link, const struct top_options *options);

#endif
