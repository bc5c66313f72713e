/* SPDX-License-Identifier: MIT */
/* child.h: run the program under the checker, with its reports in separate files. */
#ifndef MELY_CHECK_CHILD_H
#define MELY_CHECK_CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "report.h"

struct child {
	const char *directory; /* of the reports; child_clean removes it */
	const char *preload;   /* library to load first, or NULL */
	bool every;            /* a report each time, not for each pair of stacks */
	bool io;               /* a write to a descriptor orders what follows a read from it */
	int status;            /* of waitpid */
};

/* Make the directory for its reports, below *where. 0 or a negative errno code. */
int child_place(struct child *child, const char **where);

/* After child_place. 0, or a negative errno code: the program could not be started. */
int child_run(struct child *child, const char *path, char **argv);
/* Read its reports, and copy them to raw unless that is NULL. Returns the number of files. */
unsigned child_reports(const struct child *child, struct reports *reports, FILE *raw);
void child_clean(const struct child *child);
/* "ended with status 3", "was ended by signal 11 (Segmentation fault)" */
const char *child_words(const struct child *child);
/* Like a shell: 128 plus the signal, if one ended it. */
int child_status(const struct child *child);

#endif
