/* SPDX-License-Identifier: MIT */
/* options.h: numbers on a command line. An invalid one prints an error on stderr. */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* The name of the program, which depends on its library. */
#ifdef MELYINT_LIBASYNC
#define MELY_SIM_NAME "mely-sim-libasync"
#else
#define MELY_SIM_NAME "mely-sim"
#endif

bool option_number(const char *name, const char *text, uint64_t min, uint64_t max,
    uint64_t *value);
/* Any 64-bit number, decimal or 0x. */
bool option_seed(const char *name, const char *text, uint64_t *value);

#endif
