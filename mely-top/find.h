/* SPDX-License-Identifier: MIT */
/*
 * find.h: from what the command line says to a connection with the program.
 */
#ifndef TOP_FIND_H
#define TOP_FIND_H

#include <sys/types.h>

#include "link.h"

enum find_result {
	FIND_ONE,      /* connected */
	FIND_SEVERAL,  /* without a target: they have been listed on stdout */
	FIND_NONE      /* one line was written to stderr */
};

/* target: a PID, a path, or NULL. */
enum find_result find(const char *target, struct link *link);

/* Most places of a process that are looked at. */
enum { FIND_PLACES = 64 };

struct place {
	char path[128];
};

/* places.c: where the sockets of process pid, or of all of the user's when it is 0, may be by their
 * name. How many. */
int places_named(pid_t pid, uid_t user, struct place *places, int most);
/* Where process pid listens, as the kernel tells. How many, or a negative errno. */
int places_listening(pid_t pid, struct place *places, int most);

#endif
