/* SPDX-License-Identifier: MIT */
/*
 * mb_config.h: the named configurations in which the paper's microbenchmarks run: which
 * scheduler, which heuristics, handlers annotated or not. Main thread only, before a runtime is
 * made.
 */
#ifndef MB_CONFIG_H
#define MB_CONFIG_H

#include <stdbool.h>

/* Exit status of a program whose configuration needs a library that is not installed. */
#define MB_CONFIG_MISSING 77

struct mb_config {
	const char *name;
	const char *peer; /* what a report calls the scheduler */
	bool libasync;    /* the scheduler of libmely-libasync instead of libmely's own */
	bool annotated;   /* handlers say their time and penalty */
	bool steal, time_left, penalty, locality, measure, balance;
};

/* For mb_program. */
extern const char *const mb_config_names[];
extern const char mb_config_help[];

/* By name; NULL when there is none. */
const struct mb_config *mb_config_find(const char *name);
/* Set the environment variables of a configuration; the library does not change. */
void mb_config_set(const struct mb_config *config);

/*
 * Put this process into the configuration with this name, one of mb_config_names: its switches
 * go into the environment, where mely_config_init finds them. Does not return when it needs the
 * other library: the program is then run again from its beginning with that one loaded first.
 * Exits with MB_CONFIG_MISSING and a line on stderr where that library is not built.
 */
const struct mb_config *mb_config_enter(const char *name, char **argv);

#endif
