/* SPDX-License-Identifier: MIT */
/*
 * plain.h: the library's sources, compiled with -fsanitize=thread, call these two functions at
 * every plain access. Each program defines them: a hunt checks the order of the access (order.c), a
 * prediction adds its cost.
 */
#ifndef SIM_PLAIN_H
#define SIM_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* bytes is 1, 2, 4, 8 or 16 if known; then the access does not cross an 8-byte boundary. */
void sim_plain(const void *p, size_t bytes, bool write);
void sim_plain_range(const void *p, size_t bytes, bool write);

#endif
