/* SPDX-License-Identifier: MIT */
/* show.h: the summary, for people or for programs. */
#ifndef MELY_CHECK_SHOW_H
#define MELY_CHECK_SHOW_H

#include <stdio.h>

#include "child.h"
#include "pairs.h"

/* child and argv are NULL for saved reports. */
void show_text(FILE *out, const struct faults *faults, const struct child *child, char **argv);
void show_json(FILE *out, const struct faults *faults, const struct child *child, char **argv);

#endif
