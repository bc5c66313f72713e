/* SPDX-License-Identifier: MIT */
/* child.h: running the program under the checker, with its reports in files of their own. */
#ifndef MELY_CHECK_CHILD_H
#define MELY_CHECK_CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "report.h"

struct child {
	const char *directory; /* where the reports are; goes with child_clean */
	const char *preload;   /* library to load first, or NULL */
	bool every;            /* a report for every time, not for every pair of stacks */
	bool io;               /* a write to a descriptor orders what comes before a read */
	int status;            /* as waitpid gives it */
};

/* Make the directory for its reports, below *where. 0 or a negative errno code. */
int child_place(struct child *child, const char **where);

/* After child_place. 0, or a negative errno code: the program could not be started. */
int child_run(struct child *child, const char *path, char **argv);
/* Reads what it has reported, and copies it to raw unless that is NULL. Returns the files read. */
unsigned child_reports(const struct child *child, struct reports *reports, FILE *raw);
void child_clean(const struct child *child);
/* "ended with status 3", "was ended by signal 11 (Segmentation fault)" */
const char *child_words(const struct child *child);
/* As a shell has it: 128 and the signal where one ended it. */
int child_status(const struct child *child);

#endif
