/* SPDX-License-Identifier: MIT */
/*
 * once.h: a sample on standard output.
 */
#ifndef TOP_ONCE_H
#define TOP_ONCE_H

#include "sample.h"

void once_text(const struct sample *sample);
/* False: no memory. */
bool once_json(const struct sample *sample);

#endif
