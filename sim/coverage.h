/* SPDX-License-Identifier: MIT */
/* coverage.h: which places of the library that touch shared words were reached. */
#ifndef SIM_COVERAGE_H
#define SIM_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* hits: of each record in sim_sites. list: name those that were never reached. */
void coverage_print(const uint64_t *hits, bool list, FILE *out);

#endif
