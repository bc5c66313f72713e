/* SPDX-License-Identifier: MIT */
/*
 * find.h: connect to the program that the command line names.
 */
#ifndef TOP_FIND_H
#define TOP_FIND_H

#include <sys/types.h>

#include "link.h"

enum find_result {
	FIND_ONE,      /* connected */
	FIND_SEVERAL,  /* without a target: listed on stdout */
	FIND_NONE      /* one line was written to stderr */
};

/* target: a PID, a path, or NULL. */
enum find_result find(const char *target, struct link *link);

/* Most places of a process that are tried. */
enum { FIND_PLACES = 64 };

struct place {
	char path[128];
};

/* places.c: find sockets of process pid, or with pid 0 of all processes of the user, by file name.
 * Returns their number. */
int places_named(pid_t pid, uid_t user, struct place *places, int most);
/* Find the sockets on which process pid listens, from /proc. Returns their number, or a negative
 * errno. */
int places_listening(pid_t pid, struct place *places, int most);

#endif
