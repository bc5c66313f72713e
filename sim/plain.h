/* SPDX-License-Identifier: MIT */
/*
 * plain.h: every plain access of the library, when its sources are compiled with
 * -fsanitize=thread, comes to these two, which each program defines: hunting looks whether it is
 * ordered (order.c), predicting what it costs.
 */
#ifndef SIM_PLAIN_H
#define SIM_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes is 1, 2, 4, 8 or 16 where that is known, and the access does not cross 8 bytes then. */
void sim_plain(const void *p, size_t bytes, bool write);
void sim_plain_range(const void *p, size_t bytes, bool write);

#endif
