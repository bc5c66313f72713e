/* SPDX-License-Identifier: MIT */
/*
 * names.h: strings by number. Each different string is kept once; numbers count up from 0, so
 * that what is known of a string goes into an array.
 *
 * One thread.
 */
#ifndef GANTT_NAMES_H
#define GANTT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define GANTT_NO_NAME UINT32_MAX

struct gantt_names {
	char **text;    /**< by number */
	uint32_t count;
	uint32_t room;
	uint32_t *slot; /**< hash table of numbers + 1; 0: free */
	uint32_t slots; /**< a power of two, or 0 */
};

/** The number of a string; GANTT_NO_NAME without memory. */
uint32_t gantt_names_number(struct gantt_names *names, const char *text);

void gantt_names_free(struct gantt_names *names);

#endif
