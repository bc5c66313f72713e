/* SPDX-License-Identifier: MIT */
/* coverage.h: the reached places of the library that touch shared words. */
#ifndef SIM_COVERAGE_H
#define SIM_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* hits: of each record in sim_sites. list: name the places never reached. */
void coverage_print(const uint64_t *hits, bool list, FILE *out);

#endif
